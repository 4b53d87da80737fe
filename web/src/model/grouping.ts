/* Two stacks side by side: what they have in common on one line, the rest where it stands; and what a merge changes. */
import type { IssueSummary, Regrouped, Suggestion } from '../api/types';

type Frame = Suggestion['ours']['frames'][number];

export interface Row {
  ours: Frame | null;
  theirs: Frame | null;
  oursIsCaller1: boolean;
  theirsIsCaller1: boolean;
  /** What a frame in common adds to the likeness; null of one that only one stack has. */
  weight: number | null;
}

/* Pairs that cross one another cannot both stand on one line: of these the first that fits stays, the other is apart. */
export function rows({ ours, theirs, aligned }: Pick<Suggestion, 'ours' | 'theirs' | 'aligned'>): Row[] {
  const made: Row[] = [];
  let left = 0;
  let right = 0;
  const put = (a: number | null, b: number | null, weight: number | null) =>
    made.push({
      ours: a === null ? null : (ours.frames[a] ?? null),
      theirs: b === null ? null : (theirs.frames[b] ?? null),
      oursIsCaller1: a !== null && a === ours.caller1,
      theirsIsCaller1: b !== null && b === theirs.caller1,
      weight,
    });
  const apart = (toLeft: number, toRight: number) => {
    while (left < toLeft || right < toRight) put(left < toLeft ? left++ : null, right < toRight ? right++ : null, null);
  };
  for (const pair of [...aligned].sort((a, b) => a.theirs - b.theirs)) {
    if (pair.ours < left || pair.theirs < right) continue;
    apart(pair.ours, pair.theirs);
    put(left++, right++, pair.weight);
  }
  apart(ours.frames.length, theirs.frames.length);
  return made;
}

export interface Change {
  /** As it would be shown; as it is, of an issue that would be no longer. */
  issue: IssueSummary;
  before: IssueSummary | null;
  after: IssueSummary | null;
}

/* The issues that a merge, a split or an undoing is about: what stays or comes first, then what goes. */
export function changes({ before, after }: Pick<Regrouped, 'before' | 'after'>): Change[] {
  const was = new Map(before.map((one) => [one.id, one]));
  const stays = new Set(after.map((one) => one.id));
  return [
    ...after.map((one) => ({ issue: one, before: was.get(one.id) ?? null, after: one })),
    ...before.filter((one) => !stays.has(one.id)).map((one) => ({ issue: one, before: one, after: null })),
  ];
}
