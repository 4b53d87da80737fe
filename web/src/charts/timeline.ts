/*
 * Stacked bars over time, drawn by uPlot; loaded when a page first needs it. Colours are read from the page's tokens at
 * each draw, so a change of theme needs redraw() only.
 */
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { type Bars, stacked, wholeSteps } from '../model/charts';

export interface Timeline {
  redraw(): void;
  destroy(): void;
}

export interface TimelineOptions {
  utc: boolean;
  /* A mark of the time axis; `step` is the distance to the next one, seconds. */
  when: (at: Date, step: number) => string;
  unit: (value: number) => string;
  /* The marks of the value axis are whole numbers. */
  whole: boolean;
  onRange: (from: Date, to: Date) => void;
  /* A colour a row, from 1. */
  colours: readonly number[];
  /* The bucket under the pointer; null: none. */
  onHover: (i: number | null) => void;
}

export function drawTimeline(box: HTMLElement, bars: Bars, height: number, options: TimelineOptions): Timeline {
  const token = (name: string) => getComputedStyle(box).getPropertyValue(name).trim();
  const layers = stacked(bars.rows);
  const usual = bars.usual ? [bars.usual] : [];
  const width = bars.at.length > 1 ? bars.at[1]! - bars.at[0]! : 3600;
  const paths = uPlot.paths.bars!({ size: [0.78, 40], align: 1 });
  const axis = { stroke: () => token('--c-muted'), grid: { stroke: () => token('--c-line'), width: 1 } };
  const plot = new uPlot(
    {
      width: Math.max(box.clientWidth, 200),
      height,
      padding: [8, 28, 0, 0],
      legend: { show: false },
      cursor: { y: false, points: { show: false }, drag: { x: true, y: false, setScale: false } },
      ...(options.utc ? { tzDate: (s: number) => uPlot.tzDate(new Date(s * 1000), 'UTC') } : {}),
      scales: {
        x: { range: () => [bars.at[0] ?? 0, (bars.at.at(-1) ?? 0) + width] },
        y: { range: (_, __, max) => [0, max > 0 ? max * 1.08 : 1] },
      },
      axes: [
        {
          ...axis,
          grid: { show: false },
          ticks: { show: false },
          size: 26,
          space: 64,
          values: (_, splits, __, ___, increment) => splits.map((s) => options.when(new Date(s * 1000), increment)),
        },
        {
          ...axis,
          ...(options.whole ? { incrs: wholeSteps() } : {}),
          ticks: { show: false },
          size: 46,
          values: (_, splits) => splits.map(options.unit),
          space: 36,
        },
      ],
      series: [
        {},
        ...usual.map(() => ({
          label: '',
          paths,
          points: { show: false },
          fill: () => token('--c-line'),
          stroke: () => token('--c-line'),
          width: 0,
        })),
        ...layers
          .map((_, i) => ({
            label: bars.rows[i]!.key,
            paths,
            points: { show: false },
            fill: () => token(`--s-${options.colours[i]}`),
            stroke: () => token(`--s-${options.colours[i]}`),
            width: 0,
          }))
          .reverse(),
      ],
      hooks: {
        setCursor: [
          (u) => options.onHover(u.cursor.left !== undefined && u.cursor.left >= 0 ? (u.cursor.idx ?? null) : null),
        ],
        setSelect: [
          (u) => {
            if (u.select.width < 4) return;
            const at = (x: number) => new Date(u.posToVal(x, 'x') * 1000);
            options.onRange(at(u.select.left), at(u.select.left + u.select.width));
            u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          },
        ],
      },
    },
    [bars.at, ...usual, ...layers.reverse()] as uPlot.AlignedData,
    box,
  );
  const watch = new ResizeObserver(() => {
    if (box.clientWidth > 0 && box.clientWidth !== plot.width) plot.setSize({ width: box.clientWidth, height });
  });
  watch.observe(box);
  return {
    redraw: () => plot.redraw(false, true),
    destroy: () => {
      watch.disconnect();
      plot.destroy();
    },
  };
}
