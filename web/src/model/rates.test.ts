import { expect, it } from 'vitest';
import rates from '../../../schema/api/examples/getRates.json';
import type { Rates } from '../api/types';
import { times } from './change';
import { byVersion, daily, digits, direction, goalWay, linesOf, pairOf } from './rates';

const known = rates as unknown as Rates;

it('a newest version with enough sessions speaks, against the one below it', () => {
  const version = (name: string, sessions: number) => ({ ...known.versions[0]!, version: name, sessions });
  const of = (...versions: Rates['versions']) => pairOf({ ...known, versions });
  const pair = of(version('8.0.9', 5000), version('8.0.10', 2000), version('8.0.11', 999));
  expect([pair.version, pair.before?.version]).toEqual(['8.0.10', '8.0.9']);
  expect(of(version('8.0.9', 5000)).version).toBeNull();
  expect(['1.10', '1.9', '1.9-b'].sort(byVersion)).toEqual(['1.9', '1.9-b', '1.10']);
});

it('only intervals that part are better or worse', () => {
  const rate = (low: number, high: number) => ({ value: (low + high) / 2, low, high });
  expect(direction(rate(3, 4), rate(1, 2))).toBe('worse');
  expect(direction(rate(1, 2), rate(3, 4))).toBe('better');
  expect(direction(rate(1, 3), rate(2, 4))).toBe('same');
  expect(direction(null, rate(2, 4))).toBe('unknown');
});

it('a rate has the digits that its interval leaves', () => {
  expect(digits({ low: 2.051, high: 2.099 })).toBe(3);
  expect(digits({ low: 2.16, high: 2.28 })).toBe(2);
  expect(digits({ low: 1, high: 9 })).toBe(0);
  expect(digits({ low: 2500, high: 2500 })).toBe(2);
});

it('the newest versions in use have a line, and the newest of all, however few sessions it has', () => {
  const sessions = { '1.1': 9000, '1.2': 5000, '1.3': 90, '1.4': 2000, '1.5': 3000, '1.6': 1 };
  const versions = Object.entries(sessions).map(([version, n]) => ({ ...known.versions[0]!, version, sessions: n }));
  expect(linesOf({ ...known, versions }, 'lag_percent').rows.map((row) => row.version)).toEqual([
    '1.6',
    '1.5',
    '1.4',
    '1.2',
  ]);
});

it('a day with next to no sessions of a version has no point', () => {
  const rate = { value: 50, low: 10, high: 90 };
  const day = (date: string, n: number) => ({
    ...known.versions[0]!.days[0]!,
    day: date,
    sessions: n,
    lag_percent: rate,
  });
  const days = [day('2026-11-01', 100), day('2026-11-02', 5), day('2026-11-03', 4)];
  const versions = [{ ...known.versions[0]!, days }];
  expect(linesOf({ ...known, versions }, 'lag_percent').rows[0]!.value).toEqual([50, 50, null]);
});

it('lines have a gap where a version had no sessions', () => {
  const days = known.versions[0]!.days;
  const lines = linesOf(known, 'lag_percent');
  expect(lines.rows.length).toBe(Math.min(4, known.versions.length));
  expect(lines.at.length).toBeGreaterThanOrEqual(days.length);
  for (const row of lines.rows) expect(row.value.length).toBe(lines.at.length);
  expect(daily(known, 'lag_percent').every((value) => value >= 0)).toBe(true);
});

it('a goal is met or missed only where the whole interval is', () => {
  const rate = { value: 2, low: 1.5, high: 2.5 };
  expect(goalWay(rate, 2.5)).toBe('better');
  expect(goalWay(rate, 1.4)).toBe('worse');
  expect(goalWay(rate, 2.4)).toBe('');
  expect(goalWay(rate, 1.5)).toBe('');
  expect(goalWay(null as never, 1)).toBe('');
});

it('a change is told as a factor, a percentage or a word', () => {
  const ratio = (value: number | null) => ({ verdict: 'worse' as const, ratio: { value, low: 0, high: null } });
  expect(times(ratio(6.21), 'en')).toBe('×6.2');
  expect(times(ratio(28.1), 'en')).toBe('×28');
  expect(times(ratio(0.05), 'en')).toBe('−95\u00a0%');
  expect(times({ ...ratio(null), verdict: 'new' }, 'en')).toBe('new');
});
