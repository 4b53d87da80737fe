/* The query of a list of issues. It is apart from the list, whose code is loaded with the first such page. */

import type { IssueQuery } from '../../api/client';
import { facetsOf, type Query } from '../../model/view';

/* Groups a page: few, because any of them may be unfolded. */
const PAGE_GROUPS = 40;

/* The states of a list: those that ask for work, unless others are chosen. */
function statesOf(chosen: readonly string[]): string[] {
  if (chosen.length === 0) return ['open', 'regressed'];
  return chosen.includes('all') ? [] : [...chosen];
}

/* Kinds of the list of memory; the other list has all else, unless it is asked for one of them. */
const OF_MEMORY = ['foom', 'memory'];

/* Nobody waits for memory: its issues stand in the order of bytes above healthy processes. */
export function listQuery(query: Query, memory: boolean): IssueQuery {
  const { t, v, q, by, after } = query;
  const sort = memory && query.sort === '-impact' ? '-above' : query.sort;
  const state = statesOf(query.state);
  const chosen = query.kind.filter((one) => !memory || OF_MEMORY.includes(one.replace('!', '')));
  const wanted = chosen.some((one) => !one.startsWith('!'));
  const kind = wanted ? chosen : [...chosen, ...OF_MEMORY.map((one) => (memory ? one : `!${one}`))];
  return { t, v, kind, state, ...facetsOf((key) => query[key]), q, by, sort, cursor: after, limit: PAGE_GROUPS };
}
