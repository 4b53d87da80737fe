/* Two stacks side by side: what they have in common on one line, the rest where it stands. */
import type { Suggestion } from '../api/types';

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
