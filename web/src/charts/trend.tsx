/* The timeline with what a chart owes its readers: a sentence, a legend, and the same numbers as a table. */

import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { say } from '../lib/i18n';
import { patch, query } from '../lib/location';
import { theme } from '../lib/theme';
import { type Bars, peak } from '../model/charts';
import { clock, day, moment } from '../model/format';
import { absolute } from '../model/range';
import { ChartTable } from './table';
import type { Timeline } from './timeline';

interface TrendProps {
  bars: Bars;
  unit: (value: number) => string;
  /** The counted things come in ones: no mark lies between them. */
  whole?: boolean;
  what: string;
  lang: string;
  height?: number;
  /** A colour a row, from 1. */
  colours: readonly number[];
}

export function Trend({ bars, unit, whole = false, what, lang, colours, height = 180 }: TrendProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const chart = useRef<Timeline | null>(null);
  const [under, setUnder] = useState<number | null>(null);
  const tz = query.value.tz;
  const when = (i: number) => moment(new Date(bars.at[i]! * 1000), tz, lang);

  const shape = JSON.stringify([bars, tz, what, whole, colours]);
  useEffect(() => {
    let gone = false;
    setUnder(null);
    void import('./timeline').then(({ drawTimeline }) => {
      if (gone || !box.current) return;
      chart.current = drawTimeline(box.current, bars, height, {
        utc: tz === 'utc',
        when: (at, step) => (step >= 86_400 ? day(at, tz, lang) : clock(at, tz, lang)),
        unit,
        whole,
        colours,
        onHover: setUnder,
        onRange: (from, to) => patch({ t: absolute({ from, to }) }, true),
      });
    });
    return () => {
      gone = true;
      chart.current?.destroy();
      chart.current = null;
    };
  }, [shape]);

  const ink = theme.value;
  useEffect(() => chart.current?.redraw(), [ink]);

  const at = under !== null && under < bars.at.length ? under : null;
  const top = peak(bars.total);
  const sentence =
    top < 0
      ? say('No {what} in this range', { what })
      : say('{what} over time; most, {n}, from {when}', { what, n: unit(bars.total[top]!), when: when(top) });
  const filled = bars.at.map((_, i) => i).filter((i) => bars.total[i]! > 0);
  return (
    <div class="trend">
      <div class="plot" ref={box} role="img" aria-label={sentence} data-height={height} />
      <div class="legend">
        {bars.at.length > 1 ? <span class="dim">{at === null ? say('All') : when(at)}</span> : null}
        {bars.rows.map((row, i) => (
          <span key={row.key} class={`key s${colours[i]}`}>
            {row.key} <b>{unit(at === null ? row.sum : row.values[at]!)}</b>
          </span>
        ))}
        {bars.usual ? <span class="key late">{say('usually still to arrive')}</span> : null}
      </div>
      <ChartTable
        first={say('From')}
        columns={bars.rows.map((row) => row.key)}
        rows={filled.map((i) => ({ key: i, head: when(i), cells: bars.rows.map((row) => unit(row.values[i]!)) }))}
      />
    </div>
  );
}
