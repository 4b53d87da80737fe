/* Rates by version over days: the drawing, what is under the pointer, and the same numbers as a table. */

import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { say } from '../lib/i18n';
import { theme } from '../lib/theme';
import { day } from '../model/format';
import type { Lines } from '../model/rates';
import type { Mark } from '../model/source';
import { ChartTable } from './table';
import type { Timeline } from './timeline';

interface RateLinesProps {
  lines: Lines;
  unit: (value: number) => string;
  what: string;
  lang: string;
  marks: readonly Mark[];
  /** The goal of the app; null: none. */
  goal: number | null;
  /** A colour a line, from 1. */
  colours: readonly number[];
}

const HEIGHT = 180;

export function RateLines({ lines, unit, what, lang, marks, goal, colours }: RateLinesProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const chart = useRef<Timeline | null>(null);
  const [under, setUnder] = useState<number | null>(null);
  const shape = JSON.stringify([lines, what, marks, goal, colours]);
  useEffect(() => {
    let gone = false;
    setUnder(null);
    void import('./lines').then(({ drawLines }) => {
      if (gone || !box.current) return;
      chart.current = drawLines(box.current, lines, HEIGHT, {
        when: (at) => day(at, 'utc', lang),
        unit,
        marks,
        goal,
        colours,
        onHover: setUnder,
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

  const at = under ?? lines.at.length - 1;
  const when = lines.at[at] === undefined ? '' : day(new Date(lines.at[at] * 1000), 'utc', lang);
  return (
    <div class="trend">
      <div
        class="plot"
        ref={box}
        role="img"
        aria-label={say('{what} by day and version; the table has the numbers', { what })}
        data-height={HEIGHT}
      />
      <div class="legend">
        <span class="dim">{when}</span>
        {lines.rows.map((row, i) => (
          <span key={row.version} class={`key s${colours[i]}`}>
            {row.version} <b>{cell(row.value[at], unit)}</b>
          </span>
        ))}
      </div>
      {goal === null ? null : (
        <p class="dim small">{say('Goal, the dashed level line: {goal}', { goal: unit(goal) })}</p>
      )}
      {marks.length === 0 ? null : (
        <p class="dim small">
          {say('Released:')}{' '}
          {marks.map((mark) => `${mark.label} ${day(new Date(mark.at * 1000), 'utc', lang)}`).join(' · ')}
        </p>
      )}
      <ChartTable
        first={say('Day')}
        columns={lines.rows.map((row) => row.version)}
        rows={lines.at.map((s, i) => ({
          key: s,
          head: day(new Date(s * 1000), 'utc', lang),
          cells: lines.rows.map((row) => (
            <>
              {cell(row.value[i], unit)}
              {row.low[i] == null ? null : (
                <span class="dim small">{` ${unit(row.low[i]!)} – ${unit(row.high[i]!)}`}</span>
              )}
            </>
          )),
        }))}
      />
    </div>
  );
}

function cell(value: number | null | undefined, unit: (value: number) => string): string {
  return value == null ? '–' : unit(value);
}
