/* The footprint of one run as a small drawing: the way it grew, and the limit above it. */
import type { JSX } from 'preact';
import type { Memory } from '../api/types';
import { say } from '../lib/i18n';
import { duration } from '../lib/units';
import { bytes } from '../model/format';

const WIDTH = 300;
const HEIGHT = 56;

export function Footprint({ trail, limit }: { trail: Memory['trail']; limit: number | null }): JSX.Element {
  const first = trail[0]!;
  const last = trail.at(-1)!;
  const peak = trail.reduce((a, b) => (b.footprint_bytes > a.footprint_bytes ? b : a));
  const top = Math.max(peak.footprint_bytes, limit && limit < peak.footprint_bytes * 4 ? limit : 0, 1) * 1.06;
  const span = Math.max(last.at_ms - first.at_ms, 1);
  const x = (at: number) => ((at - first.at_ms) / span) * WIDTH;
  const y = (value: number) => HEIGHT - (value / top) * HEIGHT;
  const line = trail.map((point) => `${x(point.at_ms).toFixed(1)} ${y(point.footprint_bytes).toFixed(1)}`).join('L');
  const sentence = say('Footprint over {time}: from {from} to {to}, at most {peak}', {
    time: duration(span),
    from: bytes(first.footprint_bytes),
    to: bytes(last.footprint_bytes),
    peak: bytes(peak.footprint_bytes),
  });
  return (
    <figure class="footprint">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={sentence} preserveAspectRatio="none">
        <path class="area" d={`M0 ${HEIGHT}L${line}L${WIDTH} ${HEIGHT}Z`} />
        <path class="line" d={`M${line}`} />
        {limit && limit <= top ? <path class="limit" d={`M0 ${y(limit).toFixed(1)}H${WIDTH}`} /> : null}
      </svg>
      <figcaption class="dim small">{sentence}</figcaption>
    </figure>
  );
}
