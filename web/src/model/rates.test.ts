import { expect, it } from 'vitest';
import rates from '../../../schema/api/examples/getRates.json';
import type { Rates } from '../api/types';
import { times } from './change';
import { byVersion, daily, digits, direction, linesOf, pairOf } from './rates';

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

it('the newest version has a line, however few sessions it has', () => {
  const versions = ['1.1', '1.2', '1.3', '1.4', '1.5'].map((version, i) => ({
    ...known.versions[0]!,
    version,
    sessions: 100 - i,
  }));
  expect(linesOf({ ...known, versions }, 'lag_percent').rows.map((row) => row.version)).toEqual([
    '1.5',
    '1.3',
    '1.2',
    '1.1',
  ]);
});

it('lines have a gap where a version had no sessions', () => {
  const days = known.versions[0]!.days;
  const lines = linesOf(known, 'lag_percent');
  expect(lines.rows.length).toBe(Math.min(4, known.versions.length));
  expect(lines.at.length).toBeGreaterThanOrEqual(days.length);
  for (const row of lines.rows) expect(row.value.length).toBe(lines.at.length);
  expect(daily(known, 'lag_percent').every((value) => value >= 0)).toBe(true);
});

it('a change is told as a factor, a percentage or a word', () => {
  const ratio = (value: number | null) => ({ verdict: 'worse' as const, ratio: { value, low: 0, high: null } });
  expect(times(ratio(6.21), 'en')).toBe('×6.2');
  expect(times(ratio(28.1), 'en')).toBe('×28');
  expect(times(ratio(0.05), 'en')).toBe('−95%');
  expect(times({ ...ratio(null), verdict: 'new' }, 'en')).toBe('new');
});
