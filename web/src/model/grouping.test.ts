import { expect, it } from 'vitest';
import type { IssueSummary } from '../api/types';
import { changes, rows } from './grouping';

const stack = (letters: string, caller1: number | null) => ({
  issue: 'I-1',
  tree: 'I-1.00000001',
  frames: [...letters].map((one) => ({ function: one, image: 'x', role: 'app' })),
  caller1,
});

const drawn = (ours: string, theirs: string, pairs: [number, number][]) =>
  rows({
    ours: stack(ours, 0),
    theirs: stack(theirs, null),
    aligned: pairs.map(([a, b]) => ({ ours: a, theirs: b, weight: 0.1 })),
  }).map((row) => `${row.ours?.function ?? '.'}${row.weight === null ? ' ' : '='}${row.theirs?.function ?? '.'}`);

it('puts frames in common on one line and keeps both orders', () => {
  expect(
    drawn('abcd', 'xbcd', [
      [1, 1],
      [2, 2],
      [3, 3],
    ]),
  ).toEqual(['a x', 'b=b', 'c=c', 'd=d']);
  expect(
    drawn('abd', 'abcd', [
      [0, 0],
      [1, 1],
      [2, 3],
    ]),
  ).toEqual(['a=a', 'b=b', '. c', 'd=d']);
});

it('shows every frame of both once, also where pairs cross', () => {
  const crossed = drawn('ab', 'ba', [
    [1, 0],
    [0, 1],
  ]);
  expect(crossed.map((row) => row[0]).filter((one) => one !== '.')).toEqual(['a', 'b']);
  expect(crossed.map((row) => row[2]).filter((one) => one !== '.')).toEqual(['b', 'a']);
  expect(drawn('', 'a', [])).toEqual(['. a']);
});

it('marks Caller1', () => {
  const [first] = rows({ ours: stack('a', 0), theirs: stack('b', null), aligned: [] });
  expect([first?.oursIsCaller1, first?.theirsIsCaller1]).toEqual([true, false]);
});

it('tells what comes, what stays and what goes', () => {
  const issue = (id: string, reports: number) => ({ id, totals: { reports } }) as IssueSummary;
  const told = (before: IssueSummary[], after: IssueSummary[]) =>
    changes({ before, after }).map(
      (one) => `${one.issue.id} ${one.before?.totals.reports ?? '-'} ${one.after?.totals.reports ?? '-'}`,
    );
  expect(told([issue('I-1', 2), issue('I-2', 1)], [issue('I-1', 3)])).toEqual(['I-1 2 3', 'I-2 1 -']);
  expect(told([issue('I-1', 3)], [issue('I-1', 2), issue('I-9', 1)])).toEqual(['I-1 3 2', 'I-9 - 1']);
});
