import { expect, it } from 'vitest';
import list from '../../../schema/api/examples/listIssues.json';
import type { IssueSummary } from '../api/types';
import { kindsOf } from './issues';

it('a kind stands once in a row, with the events of all its issues', () => {
  const [first] = list.groups[0]!.issues as unknown as IssueSummary[];
  const of = (id: string, category: string, events: number): IssueSummary =>
    ({ ...first!, id, category, totals: { ...first!.totals, events } }) as IssueSummary;
  const issues = [of('I-1', 'hang', 4), of('I-2', 'killed', 2), of('I-3', 'hang', 1)];
  expect(kindsOf(issues)).toEqual([
    { kind: 'hang', events: 5, ids: ['I-1', 'I-3'] },
    { kind: 'killed', events: 2, ids: ['I-2'] },
  ]);
  expect(kindsOf([])).toEqual([]);
});
