/* The issues of one place, as a row of the list tells them. */
import type { IssueSummary } from '../api/types';

export interface KindCount {
  kind: string;
  events: number;
  /** Most events first. */
  ids: string[];
}

/* Each kind once, with the events of all its issues; in the order in which the kinds come. */
export function kindsOf(issues: readonly IssueSummary[]): KindCount[] {
  const kinds = new Map<string, KindCount>();
  for (const one of issues) {
    const had = kinds.get(one.category);
    if (had) {
      had.events += one.totals.events;
      had.ids.push(one.id);
    } else kinds.set(one.category, { kind: one.category, events: one.totals.events, ids: [one.id] });
  }
  return [...kinds.values()];
}
