/* Two drawings of a row of numbers, as SVG: small bars in a table's cell, and a histogram. */
import type { JSX } from 'preact';
import type { Bin } from '../api/types';
import { say } from '../lib/i18n';
import { duration } from '../lib/units';
import { count } from '../model/format';

const WIDTH = 96;
const HEIGHT = 20;

export function Spark({ values, lang, what }: { values: readonly number[]; lang: string; what: string }): JSX.Element {
  const top = Math.max(...values, 0);
  const step = WIDTH / Math.max(values.length, 1);
  const sum = values.reduce((a, b) => a + b, 0);
  const last = values.findLastIndex((value) => value > 0);
  /* One path for all bars: a list has a drawing in each row, and each node of a page costs. */
  const bar = (value: number, i: number) => {
    if (value <= 0) return '';
    const height = Math.max(2, (value / top) * (HEIGHT - 2));
    const width = Math.max(step - 1, 1);
    return `M${(i * step + 0.5).toFixed(2)} ${HEIGHT}v${-height.toFixed(2)}h${width.toFixed(2)}v${height.toFixed(2)}z`;
  };
  const when = last < 0 ? '' : last >= values.length * 0.75 ? say(', latest in the last quarter') : '';
  return (
    <svg class="spark" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`${count(sum, lang)} ${what}${when}`}>
      <path class="base" d={`M0 ${HEIGHT - 0.5}H${WIDTH}`} />
      <path d={values.map(bar).join('')} />
    </svg>
  );
}

export function Histogram({ bins, lang }: { bins: readonly Bin[]; lang: string }): JSX.Element {
  const top = Math.max(...bins.map((bin) => bin.reports), 0);
  const mode = bins.find((bin) => bin.reports === top);
  const step = 300 / Math.max(bins.length, 1);
  const width = Math.min(Math.max(step - 2, 1), 64);
  const label =
    mode && top > 0
      ? say('Most events lasted {from} to {to}: {n|report|reports}', {
          from: duration(mode.from_ms),
          to: duration(mode.to_ms),
          n: count(top, lang),
        })
      : say('No events');
  return (
    <figure class="histogram">
      <svg viewBox="0 0 300 72" role="img" aria-label={label} preserveAspectRatio="none">
        <path class="base" d="M0 71.5H300" />
        {bins.map((bin, i) => {
          if (bin.reports === 0) return null;
          const height = Math.max(2, (bin.reports / top) * 66);
          return (
            <rect key={bin.from_ms} x={(i + 0.5) * step - width / 2} y={71 - height} width={width} height={height}>
              <title>{`${duration(bin.from_ms)} – ${duration(bin.to_ms)}: ${bin.reports}`}</title>
            </rect>
          );
        })}
      </svg>
      <figcaption>
        <span>{bins[0] ? duration(bins[0].from_ms) : ''}</span>
        <span>{bins.length > 0 ? duration(bins.at(-1)!.to_ms) : ''}</span>
      </figcaption>
    </figure>
  );
}
