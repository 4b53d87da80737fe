/*
 * The call tree as typed arrays, with the functions of all its views: rows to paint, the frame under a point,
 * neighbours for the keyboard, search coverage, the function table.
 *
 *     row 0   |            root                |      x0, x1: place of a frame, 0..1 of the root's value
 *     row 1   |     main             | other   |      children stand left-heavy, biggest first
 *     row 2   | poll |   work   |              |      what is left over on the right is the parent's own time
 */
import type { Flame } from '../api/types';

export interface Tree {
  size: number;
  flame: Flame;
  /** The time for shares: of the whole graph, even if the tree is only a part of it. */
  all: number;
  depth: Int32Array;
  x0: Float64Array;
  x1: Float64Array;
  /** Frames of each depth, left to right. */
  rows: Int32Array[];
  /** Children of each frame, biggest first: order.subarray(first[i], first[i] + fan[i]). */
  first: Int32Array;
  fan: Int32Array;
  order: Int32Array;
  /** Of a folded tree: how many system frames each one stands for, and the frame that has those with a hash in it. */
  counts?: Int32Array;
  inside?: ReadonlyMap<string, number>;
}

export function build(flame: Flame, all = flame.value[0] ?? 0): Tree {
  const { parent, value } = flame;
  const size = parent.length;
  const depth = new Int32Array(size);
  const fan = new Int32Array(size);
  for (let i = 1; i < size; i++) {
    const up = parent[i]!;
    depth[i] = depth[up]! + 1;
    fan[up]!++;
  }
  const first = new Int32Array(size);
  for (let i = 1; i < size; i++) first[i] = first[i - 1]! + fan[i - 1]!;
  const order = new Int32Array(Math.max(0, size - 1));
  const fill = first.slice();
  for (let i = 1; i < size; i++) order[fill[parent[i]!]!++] = i;

  const x0 = new Float64Array(size);
  const x1 = new Float64Array(size);
  const scale = size > 0 && value[0]! > 0 ? 1 / value[0]! : 0;
  if (size > 0) x1[0] = 1;
  const rows: Int32Array[] = size > 0 ? [Int32Array.of(0)] : [];
  while (rows.length > 0) {
    const below: number[] = [];
    for (const i of rows.at(-1)!) {
      const kids = order.subarray(first[i]!, first[i]! + fan[i]!).sort((a, b) => value[b]! - value[a]! || a - b);
      let x = x0[i]!;
      for (const kid of kids) {
        x0[kid] = x;
        x += value[kid]! * scale;
        x1[kid] = x;
        below.push(kid);
      }
    }
    if (below.length === 0) break;
    rows.push(Int32Array.from(below));
  }
  return { size, flame, all, depth, x0, x1, rows, first, fan, order };
}

export function children(tree: Tree, i: number): Int32Array {
  return tree.order.subarray(tree.first[i]!, tree.first[i]! + tree.fan[i]!);
}

export function nameOf(tree: Tree, i: number): string {
  return tree.flame.names[tree.flame.name[i]!] ?? '';
}

export function imageOf(tree: Tree, i: number): string {
  return tree.flame.images[tree.flame.image[i]!] ?? '';
}

export function roleOf(tree: Tree, i: number): string {
  return tree.flame.roles?.[tree.flame.role[i]!] ?? 'unknown';
}

export function shareOf(tree: Tree, i: number): number {
  return tree.all > 0 ? tree.flame.value[i]! / tree.all : 0;
}

/* Place in a row of the first frame that ends right of x. */
export function seek(tree: Tree, row: Int32Array, x: number): number {
  let low = 0;
  let high = row.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (tree.x1[row[middle]!]! > x) high = middle;
    else low = middle + 1;
  }
  return low;
}

/* The frame at depth and x, or -1. */
export function hit(tree: Tree, depth: number, x: number): number {
  const row = tree.rows[depth];
  if (!row) return -1;
  const i = row[seek(tree, row, x)];
  return i !== undefined && tree.x0[i]! <= x ? i : -1;
}

/* Where an arrow key leads: to the biggest callee, the caller, or the neighbour on the same row. */
export function step(tree: Tree, i: number, way: 'in' | 'out' | 'left' | 'right'): number {
  if (way === 'in') return tree.fan[i]! > 0 ? tree.order[tree.first[i]!]! : i;
  if (way === 'out') return Math.max(0, tree.flame.parent[i]!);
  const row = tree.rows[tree.depth[i]!]!;
  const at = seek(tree, row, (tree.x0[i]! + tree.x1[i]!) / 2) + (way === 'left' ? -1 : 1);
  return row[at] ?? i;
}

/* Frames from the root to i. */
export function path(tree: Tree, i: number): number[] {
  const out: number[] = [];
  for (let at = i; at >= 0; at = tree.flame.parent[at]!) out.push(at);
  return out.reverse();
}

/* Whether frame i is the root above every thread's outermost frame; the root of a part is a frame like others. */
export function isAll(tree: Tree, i: number): boolean {
  return i === 0 && nameOf(tree, i) === 'all' && imageOf(tree, i) === '';
}

/* Does frame i stand for callees that the server left out because there were too many? */
export function isOther(tree: Tree, i: number): boolean {
  return i > 0 && nameOf(tree, i) === 'other' && imageOf(tree, i) === '';
}

/* Whether the server left callees out somewhere under frame i. Parents stand before their children. */
export function lacks(tree: Tree, i: number): boolean {
  const inside = new Uint8Array(tree.size);
  inside[i] = 1;
  for (let k = i + 1; k < tree.size; k++) {
    inside[k] = inside[tree.flame.parent[k]!]!;
    if (inside[k] === 1 && isOther(tree, k)) return true;
  }
  return false;
}

export function byHash(tree: Tree, hash: string): number {
  const at = hash === '' ? -1 : tree.flame.hash.indexOf(hash);
  return at < 0 ? (tree.inside?.get(hash) ?? -1) : at;
}

export interface Found {
  /** 1 for a matching frame. */
  mark: Uint8Array;
  /** Matching frames in reading order: by row, left to right. */
  hits: number[];
  /** Share of the time spent in or under a matching frame, each stack counted once. */
  share: number;
}

export function search(tree: Tree, text: string): Found {
  const mark = new Uint8Array(tree.size);
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return { mark, hits: [], share: 0 };
  const { names, images } = tree.flame;
  const lower = names.map((name) => name.toLowerCase());
  const where = images.map((image) => image.toLowerCase());
  const under = new Uint8Array(tree.size);
  const hits: number[] = [];
  let sum = 0;
  for (const row of tree.rows) {
    for (const i of row) {
      const name = lower[tree.flame.name[i]!] ?? '';
      const image = where[tree.flame.image[i]!] ?? '';
      if (words.every((word) => name.includes(word) || image.includes(word))) {
        mark[i] = 1;
        hits.push(i);
      }
      const up = tree.flame.parent[i]!;
      const inside = up >= 0 && under[up] === 1;
      if (mark[i] === 1 && !inside) sum += tree.flame.value[i]!;
      under[i] = mark[i] === 1 || inside ? 1 : 0;
    }
  }
  return { mark, hits, share: tree.all > 0 ? sum / tree.all : 0 };
}

export interface FunctionRow {
  name: string;
  image: string;
  role: string;
  self: number;
  total: number;
  /** The widest frame of this function. */
  widest: number;
}

/* One row a function. The time of a function that calls itself counts once. */
export function functions(tree: Tree): FunctionRow[] {
  const rows: FunctionRow[] = [];
  const known = new Map<number, number>(); // by name and image: its row
  const { name, image, self, value } = tree.flame;
  const open: number[] = []; // rows, from the root's child on
  const onPath: number[] = []; // how often each row is among them
  const todo: number[] = [];
  const push = (of: number) => {
    for (let k = tree.fan[of]!; k-- > 0; ) todo.push(tree.order[tree.first[of]! + k]!);
  };
  if (tree.size > 0) push(0);
  while (todo.length > 0) {
    const i = todo.pop()!;
    while (open.length >= tree.depth[i]!) onPath[open.pop()!]!--;
    const key = name[i]! * (tree.flame.images.length + 1) + image[i]!;
    let at = known.get(key);
    if (at === undefined) {
      at = rows.length;
      known.set(key, at);
      onPath.push(0);
      rows.push({
        name: nameOf(tree, i),
        image: imageOf(tree, i),
        role: roleOf(tree, i),
        self: 0,
        total: 0,
        widest: i,
      });
    }
    const row = rows[at]!;
    row.self += self[i]!;
    if (onPath[at] === 0) row.total += value[i]!;
    if (value[i]! > value[row.widest]!) row.widest = i;
    onPath[at]!++;
    open.push(at);
    push(i);
  }
  return rows;
}
