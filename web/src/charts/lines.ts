/* A line a version over days with the band of its interval, drawn by uPlot; loaded when a page first needs it. */
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { Lines } from '../model/rates';
import type { Mark } from '../model/source';
import type { Timeline } from './timeline';

export interface LinesOptions {
  when: (at: Date) => string;
  unit: (value: number) => string;
  /* Releases, drawn as dashed lines. */
  marks: readonly Mark[];
  /* The goal, a level line; null: none. */
  goal: number | null;
  /* A colour a row, from 1. */
  colours: readonly number[];
  /* The day under the pointer; null: none. */
  onHover: (i: number | null) => void;
}

export function drawLines(box: HTMLElement, lines: Lines, height: number, options: LinesOptions): Timeline {
  const token = (name: string) => getComputedStyle(box).getPropertyValue(name).trim();
  const axis = {
    stroke: () => token('--c-muted'),
    grid: { stroke: () => token('--c-line'), width: 1 },
    ticks: { show: false },
  };
  const series: uPlot.Series[] = [{}];
  const bands: uPlot.Band[] = [];
  const data: (number | null)[][] = [lines.at];
  lines.rows.forEach((row, i) => {
    const ink = () => token(`--s-${options.colours[i]}`);
    bands.push({ series: [data.length, data.length + 1], fill: () => `${ink()}33` });
    series.push(
      { stroke: 'transparent', width: 0, points: { show: false } },
      { stroke: 'transparent', width: 0, points: { show: false } },
    );
    series.push({
      label: row.version,
      stroke: ink,
      width: 2,
      points: { show: row.value.filter((v) => v !== null).length < 2, fill: ink },
    });
    data.push(row.high, row.low, row.value);
  });
  const plot = new uPlot(
    {
      width: Math.max(box.clientWidth, 200),
      height,
      padding: [8, 28, 0, 0],
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false } },
      tzDate: (s: number) => uPlot.tzDate(new Date(s * 1000), 'UTC'), // the days are those of UTC
      scales: {
        x: { range: (_, low, high) => (low === high ? [low - 43_200, high + 43_200] : [low, high]) },
        y: { range: (_, __, max) => [0, Math.max(max, options.goal ?? 0) * 1.08 || 1] },
      },
      axes: [
        {
          ...axis,
          grid: { show: false },
          size: 26,
          space: 64,
          incrs: [86_400, 2 * 86_400, 7 * 86_400, 14 * 86_400, 28 * 86_400],
          values: (_, splits) => splits.map((s) => options.when(new Date(s * 1000))),
        },
        { ...axis, size: 52, space: 36, values: (_, splits) => splits.map(options.unit) },
      ],
      series,
      bands,
      hooks: {
        draw: [
          (u) => drawMarks(u, options.marks, token('--c-muted')),
          (u) => drawGoal(u, options.goal, token('--c-ink')),
        ],
        setCursor: [
          (u) => options.onHover(u.cursor.left !== undefined && u.cursor.left >= 0 ? (u.cursor.idx ?? null) : null),
        ],
      },
    },
    data as uPlot.AlignedData,
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

function drawGoal(u: uPlot, goal: number | null, ink: string): void {
  if (goal === null) return;
  const { ctx, bbox } = u;
  const y = Math.round(u.valToPos(goal, 'y', true));
  ctx.save();
  ctx.strokeStyle = ink;
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([8 * devicePixelRatio, 4 * devicePixelRatio]);
  ctx.beginPath();
  ctx.moveTo(bbox.left, y);
  ctx.lineTo(bbox.left + bbox.width, y);
  ctx.stroke();
  ctx.restore();
}

function drawMarks(u: uPlot, marks: readonly Mark[], ink: string): void {
  const { ctx, bbox } = u;
  const ratio = devicePixelRatio;
  ctx.save();
  ctx.strokeStyle = ctx.fillStyle = ink;
  ctx.lineWidth = ratio;
  ctx.setLineDash([3 * ratio, 3 * ratio]);
  ctx.font = `${11 * ratio}px sans-serif`;
  ctx.textBaseline = 'top';
  for (const mark of marks) {
    const x = Math.round(u.valToPos(mark.at, 'x', true));
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    const right = x > bbox.left + bbox.width / 2;
    ctx.textAlign = right ? 'right' : 'left';
    ctx.fillText(mark.label, x + (right ? -4 : 4) * ratio, bbox.top);
  }
  ctx.restore();
}
