/* Two stacks side by side, common frames on one line; and the changes of a merge. */
import type { IssueSummary, Regrouped, Suggestion } from '../api/types';

type Frame = Suggestion['ours']['frames'][number];

export interface Row {
  ours: Frame | null;
  theirs: Frame | null;
  oursIsCaller1: boolean;
  theirsIsCaller1: boolean;
  /** The part of the likeness from a common frame; null for a frame of one stack. */
  weight: number | null;
}

/* Pairs that cross each other cannot both be on one line: the first pair stays, and the frames of the other are
 * apart. */
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
  /** The issue after the change; before it, for an issue that would disappear. */
  issue: IssueSummary;
  before: IssueSummary | null;
  after: IssueSummary | null;
}

/* The issues of a merge, a split or an undo: first those that stay or come, then those that go. */
export function changes({ before, after }: Pick<Regrouped, 'before' | 'after'>): Change[] {
  const was = new Map(before.map((one) => [one.id, one]));
  const stays = new Set(after.map((one) => one.id));
  return [
    ...after.map((one) => ({ issue: one, before: was.get(one.id) ?? null, after: one })),
    ...before.filter((one) => !stays.has(one.id)).map((one) => ({ issue: one, before: one, after: null })),
  ];
}
