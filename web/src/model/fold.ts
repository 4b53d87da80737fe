/*
 * A call tree with fewer frames: of frames on which nobody acts, and of functions that call themselves.
 *
 *     system      start > main loop > dispatch > onClick      3 frames of libfoo.so > onClick
 *     recursion   walk > walk > walk > read                   walk > read
 *
 * Values stay: a run of system frames is folded only where all of its time goes on to the next one; calls of a function
 * by itself are added to the outermost one.
 */
import type { Flame } from '../api/types';
import type { Folding } from './view';

export interface Folded {
  flame: Flame;
  /** How many system frames each one stands for. */
  counts: Int32Array;
  /** The frame that one of the tree before is now, or is part of. */
  now: Int32Array;
}

/* Code that leads from one frame of the app to another; what it waits for or allocates in the end stays. */
const SYSTEM: readonly string[] = ['system', 'runtime', 'dispatch'];

/** A run is folded from so many frames on. */
export const LEAST_RUN = 3;

export function toggled(folding: Folding, part: 'system' | 'recursion'): Folding {
  const other = part === 'system' ? 'recursion' : 'system';
  const [on, off] = [folding === part || folding === 'both', folding === other || folding === 'both'];
  if (on) return off ? other : 'none';
  return off ? 'both' : part;
}

export function folds(folding: Folding, part: 'system' | 'recursion'): boolean {
  return folding === part || folding === 'both';
}

export function fold(flame: Flame, folding: Folding): Folded {
  const size = flame.parent.length;
  const same: Folded = { flame, counts: new Int32Array(size).fill(1), now: Int32Array.from(flame.parent.keys()) };
  const once = folds(folding, 'recursion') ? foldRecursion(same) : same;
  return folds(folding, 'system') ? foldSystem(once) : once;
}

const COLUMNS = ['name', 'image', 'role', 'parent', 'self', 'value', 'hash'] as const;

/* The rows of a tree that stay, in their order. */
function picked(of: Folded, stays: (i: number) => boolean, into: Int32Array, parent: readonly number[]): Folded {
  const { flame } = of;
  const kept = [...flame.parent.keys()].filter(stays);
  const place = new Int32Array(flame.parent.length);
  kept.forEach((i, at) => {
    place[i] = at;
  });
  const columns = Object.fromEntries(COLUMNS.map((key) => [key, kept.map((i) => flame[key][i]!)]));
  return {
    flame: {
      ...flame,
      ...columns,
      parent: kept.map((i) => (parent[i]! < 0 ? -1 : place[into[parent[i]!]!]!)),
    } as Flame,
    counts: Int32Array.from(kept, (i) => of.counts[i]!),
    now: of.now.map((i) => place[into[i]!]!),
  };
}

/* Parents stand before their children. */
function foldRecursion(of: Folded): Folded {
  const { name, image, parent, self, value } = of.flame;
  const into = Int32Array.from(parent.keys());
  const known = new Map<string, number>(); // by caller, name and image: the first such frame
  const flame = { ...of.flame, self: [...self], value: [...value] };
  for (let i = 1; i < parent.length; i++) {
    const caller = into[parent[i]!]!;
    const own = name[caller] === name[i] && image[caller] === image[i] && caller > 0;
    const key = `${caller} ${name[i]} ${image[i]}`;
    const twin = own ? caller : known.get(key);
    if (twin === undefined) {
      known.set(key, i);
      continue;
    }
    into[i] = twin;
    flame.self[twin]! += self[i]!;
    if (!own) flame.value[twin]! += value[i]!;
  }
  return picked({ ...of, flame }, (i) => into[i] === i, into, parent);
}

/* A run ends in the frame that has its hash, so that callees and zooms find it. */
function foldSystem(of: Folded): Folded {
  const { parent, value, role } = of.flame;
  const size = parent.length;
  const isSystem = (i: number) => i > 0 && SYSTEM.includes(of.flame.roles?.[role[i]!] ?? '');
  const fan = new Int32Array(size);
  for (let i = 1; i < size; i++) fan[parent[i]!]!++;
  const length = new Int32Array(size).fill(1); // of the run that ends here
  const goesOn = new Uint8Array(size);
  for (let i = 1; i < size; i++) {
    const caller = parent[i]!;
    if (!isSystem(i) || !isSystem(caller) || fan[caller] !== 1 || value[caller] !== value[i]) continue;
    length[i] = length[caller]! + 1;
    goesOn[caller] = 1;
  }
  const into = Int32Array.from(parent.keys()); // a frame of a run: its last one
  const callers = [...parent];
  const counts = of.counts.slice();
  for (let i = size - 1; i > 0; i--) {
    if (goesOn[i] || length[i]! < LEAST_RUN) continue;
    counts[i] = length[i]!;
    let at = i;
    for (let left = length[i]! - 1; left > 0; left--) {
      at = parent[at]!;
      into[at] = i;
    }
    callers[i] = parent[at]!;
  }
  return picked({ ...of, counts }, (i) => into[i] === i, into, callers);
}
