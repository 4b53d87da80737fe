/* Rates by version and day, made ready to be shown: which version speaks, what it is held against, lines by day. */
import type { Issue, Rate, Rates, RatesTotal, RatesVersion } from '../api/types';

export const RATES = ['lag_percent', 'foom_percent', 'watchdog_percent', 'crash_percent', 'hang_s_per_hour'] as const;
export type RateName = (typeof RATES)[number];

const natural = new Intl.Collator('en', { numeric: true });

/* 7.0.10 after 7.0.9. */
export function byVersion(a: string, b: string): number {
  return natural.compare(a, b) || (a < b ? -1 : a > b ? 1 : 0);
}

/* Sessions below which a version does not speak for the app. */
export const LEAST_SESSIONS = 1000;

export interface Pair {
  now: RatesTotal;
  /** null: all versions together */
  version: string | null;
  before: RatesVersion | null;
}

/* The newest version with enough sessions, and the newest such below it; all together if there are not two. */
export function pairOf(data: Rates): Pair {
  const enough = data.versions.filter((row) => row.sessions >= LEAST_SESSIONS);
  enough.sort((a, b) => byVersion(b.version, a.version));
  const [now, before] = enough;
  if (!now || !before) return { now: data.total, version: null, before: null };
  return { now, version: now.version, before };
}

export type Direction = 'better' | 'worse' | 'same' | 'unknown';

/* All rates are of trouble: less is better. Same where the intervals meet. */
export function direction(now: Rate, before: Rate | undefined): Direction {
  if (!now || !before) return 'unknown';
  if (now.low > before.high) return 'worse';
  return now.high < before.low ? 'better' : 'same';
}

export interface Lines {
  /** Beginning of each day, seconds. */
  at: number[];
  rows: { version: string; value: (number | null)[]; low: (number | null)[]; high: (number | null)[] }[];
}

/* Share of all sessions that a version has a line for, and share of a version's busiest day that a day has a point for. */
const LINE_SHARE = 0.01;
const POINT_SHARE = 0.05;

/*
 * A line a version, the newest `most` that are in use, and the newest of all, which has few sessions at first. Days with
 * next to no sessions of the version are gaps: of five sessions a rate says nothing.
 */
export function linesOf(data: Rates, name: RateName, most = 4): Lines {
  const newest = [...data.versions].sort((a, b) => byVersion(b.version, a.version));
  const all = newest.reduce((sum, one) => sum + one.sessions, 0);
  const rows = newest.filter((one, i) => i === 0 || one.sessions >= LINE_SHARE * all).slice(0, most);
  const days = [...new Set(rows.flatMap((row) => row.days.map((one) => Date.parse(one.day) / 1000)))].sort(
    (a, b) => a - b,
  );
  return {
    at: days,
    rows: rows.map((row) => {
      const least = POINT_SHARE * Math.max(...row.days.map((one) => one.sessions));
      const known = row.days.filter((one) => one.sessions >= least);
      const of = new Map(known.map((one) => [Date.parse(one.day) / 1000, one[name]]));
      const pick = (part: 'value' | 'low' | 'high') => days.map((day) => of.get(day)?.[part] ?? null);
      return { version: row.version, value: pick('value'), low: pick('low'), high: pick('high') };
    }),
  };
}

/* Is the goal met: does the whole interval lie at or below it (better), or above it (worse)? Otherwise ''. */
export function goalWay(rate: Rate, goal: number): '' | 'better' | 'worse' {
  if (!rate) return '';
  return rate.high <= goal ? 'better' : rate.low > goal ? 'worse' : '';
}

/* All versions together by day: the mean of their rates, weighted by sessions. */
export function daily(data: Rates, name: RateName): number[] {
  const sums = new Map<string, { part: number; whole: number }>();
  for (const version of data.versions)
    for (const one of version.days) {
      const rate = one[name];
      if (!rate) continue;
      const sum = sums.get(one.day) ?? { part: 0, whole: 0 };
      sum.part += rate.value * one.sessions;
      sum.whole += one.sessions;
      sums.set(one.day, sum);
    }
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => (sum.whole > 0 ? sum.part / sum.whole : 0));
}

/*
 * A rate with as many digits as its interval leaves: 2.22 with 2.16 to 2.28, 0.20 with 0.18 to 0.22. Trailing zeros stay.
 */
export function digits(rate: { low: number; high: number }): number {
  const half = (rate.high - rate.low) / 2;
  if (!(half > 0)) return 2;
  return Math.min(
    4,
    Math.max(0, 1 - Math.floor(Math.log10(half)) - (half / 10 ** Math.floor(Math.log10(half)) >= 3 ? 1 : 0)),
  );
}

export interface VersionRate {
  version: string;
  /** Events in 1,000 sessions. */
  value: number;
}

/* How often an issue happens in 1,000 sessions of each version that has enough of them, oldest first. */
export function perThousand(issue: Pick<Issue, 'series'>, rates: Rates): VersionRate[] {
  const events = new Map(
    issue.series.map((one) => [one.key, one.points.reduce((sum, point) => sum + point.events, 0)]),
  );
  const rows = rates.versions.filter((row) => row.sessions >= LEAST_SESSIONS);
  rows.sort((a, b) => byVersion(a.version, b.version));
  return rows.map((row) => ({ version: row.version, value: (1000 * (events.get(row.version) ?? 0)) / row.sessions }));
}
