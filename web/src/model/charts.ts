/* Series of the server made ready to be drawn. */
import type { Completeness, Series } from '../api/types';
import { byVersion } from './rates';

export interface Bars {
  /** Beginning of each bucket, seconds. */
  at: number[];
  /** One row per key, the newest version first; values per bucket. */
  rows: { key: string; values: number[]; sum: number }[];
  total: number[];
  /** Of buckets of which a part has usually not arrived: the total once it has. 0 of all others. */
  usual?: number[];
}

const DAY_S = 86_400;
const LEAST = 0.1; /* a smaller share says too little of the whole */

/* Bars by the day, with what recent days usually come to once everything has arrived. */
export function completed(made: Bars, bucket_s: number, days: readonly Completeness[]): Bars {
  if (bucket_s !== DAY_S || days.length === 0) return made;
  const shares = new Map(days.map((one) => [Date.parse(one.day) / 1000, one.share]));
  const usual = made.at.map((at, i) => {
    const share = shares.get(at) ?? 1;
    return share < 1 && share >= LEAST ? made.total[i]! / share : 0;
  });
  return { ...made, usual };
}

/*
 * Buckets between from and to, zero where the server sent none. Those with most events are shown, the newest version first;
 * keys past `most` are added up under `other`.
 */
export function bars(
  series: readonly Series[],
  bucket_s: number,
  from: Date,
  to: Date,
  pick: 'events' | 'waited_ms',
  other: string,
  most = 5,
): Bars {
  const first = Math.floor(from.getTime() / 1000 / bucket_s);
  const last = Math.max(first, Math.ceil(to.getTime() / 1000 / bucket_s) - 1);
  const size = Math.min(last - first + 1, 4000);
  const rows = series.map((one) => {
    const values = new Array<number>(size).fill(0);
    for (const point of one.points) {
      const i = Math.floor(Date.parse(point.at) / 1000 / bucket_s) - first;
      if (i >= 0 && i < size) values[i]! += point[pick];
    }
    return { key: one.key, values, sum: values.reduce((a, b) => a + b, 0) };
  });
  rows.sort((a, b) => b.sum - a.sum);
  const shown = rows.slice(0, rows.length > most ? most - 1 : most);
  shown.sort((a, b) => byVersion(b.key, a.key)); // a version keeps its colour however many events it has
  const folded = rows.slice(rows.length > most ? most - 1 : most);
  if (folded.length > 0) {
    const values = add(
      folded.map((row) => row.values),
      size,
    );
    shown.push({ key: other, values, sum: values.reduce((a, b) => a + b, 0) });
  }
  const at = Array.from({ length: size }, (_, i) => (first + i) * bucket_s);
  return {
    at,
    rows: shown,
    total: add(
      shown.map((row) => row.values),
      size,
    ),
  };
}

function add(rows: number[][], size: number): number[] {
  return Array.from({ length: size }, (_, i) => rows.reduce((sum, row) => sum + (row[i] ?? 0), 0));
}

/* Running sums, so that drawing row n last-to-first stacks the bars. */
export function stacked(rows: readonly { values: number[] }[]): number[][] {
  const out: number[][] = [];
  for (const row of rows) {
    const below = out.at(-1);
    out.push(row.values.map((value, i) => value + (below?.[i] ?? 0)));
  }
  return out;
}

/* Where the biggest bucket is, or -1 when all are empty. */
export function peak(values: readonly number[]): number {
  let best = -1;
  for (let i = 0; i < values.length; i++) if (values[i]! > (values[best] ?? 0)) best = i;
  return best;
}

/* 1, 2, 5, 10 and so on: the steps of an axis on which things are counted. */
export function wholeSteps(): number[] {
  return Array.from({ length: 46 }, (_, i) => [1, 2, 5][i % 3]! * 10 ** Math.floor(i / 3));
}
