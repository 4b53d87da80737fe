import { expect, it } from 'vitest';
import example from '../../../schema/api/examples/getFlame.json';
import type { Flame } from '../api/types';
import {
  build,
  byHash,
  children,
  functions,
  hit,
  lacks,
  nameOf,
  path,
  search,
  shareOf,
  step,
  type Tree,
} from './flame';

type Row = [name: string, parent: number, self: number];

/* A tree from (name, parent, self); values are summed up. */
function flame(rows: Row[]): Flame {
  const names = [...new Set(rows.map(([name]) => name))];
  const value = rows.map(([, , self]) => self);
  for (let i = rows.length - 1; i > 0; i--) value[rows[i]![1]]! += value[i]!;
  return {
    unit: 'ms',
    reports: 1,
    reports_total: 1,
    names,
    images: [''],
    roles: ['app'],
    name: rows.map(([name]) => names.indexOf(name)),
    image: rows.map(() => 0),
    role: rows.map(() => 0),
    parent: rows.map(([, parent]) => parent),
    self: rows.map(([, , self]) => self),
    value,
    hash: rows.map((_, i) => i.toString(16).padStart(16, '0')),
  };
}

const small = build(
  flame([
    ['all', -1, 0],
    ['main', 0, 1],
    ['idle', 0, 2],
    ['work', 1, 3],
    ['read', 1, 4],
    ['work', 3, 5],
  ]),
);

function sound(tree: Tree): void {
  for (const row of tree.rows) {
    for (let k = 1; k < row.length; k++) {
      expect(tree.x0[row[k]!]!).toBeGreaterThanOrEqual(tree.x1[row[k - 1]!]! - 1e-9);
    }
  }
  for (let i = 0; i < tree.size; i++) {
    const kids = [...children(tree, i)];
    const below = kids.reduce((sum, kid) => sum + tree.flame.value[kid]!, 0);
    expect(below + tree.flame.self[i]!).toBeCloseTo(tree.flame.value[i]!, 6);
    for (const kid of kids) {
      expect(tree.x0[kid]!).toBeGreaterThanOrEqual(tree.x0[i]! - 1e-9);
      expect(tree.x1[kid]!).toBeLessThanOrEqual(tree.x1[i]! + 1e-9);
    }
  }
}

it('frames lie within their callers, side by side, and add up', () => {
  sound(small);
  sound(build(example as Flame));
});

it('the biggest callee stands first', () => {
  expect([...children(small, 1)].map((i) => nameOf(small, i))).toEqual(['work', 'read']);
});

it('every frame is found under its own middle', () => {
  const tree = build(example as Flame);
  for (let i = 0; i < tree.size; i++) expect(hit(tree, tree.depth[i]!, (tree.x0[i]! + tree.x1[i]!) / 2)).toBe(i);
  expect(hit(tree, 99, 0.5)).toBe(-1);
});

it('arrow keys lead to callee, caller and neighbours, and stop at the edges', () => {
  expect(step(small, 0, 'in')).toBe(1);
  expect(step(small, 5, 'in')).toBe(5);
  expect(step(small, 0, 'out')).toBe(0);
  expect(step(small, 3, 'right')).toBe(4);
  expect(step(small, 4, 'right')).toBe(4);
  expect(step(small, 1, 'left')).toBe(1);
});

it('search counts a stack once, however often it matches', () => {
  const found = search(small, 'WORK');
  expect(found.hits.map((i) => small.depth[i])).toEqual([2, 3]);
  expect(found.share).toBeCloseTo(8 / 15);
  expect(search(small, '').hits).toEqual([]);
});

it('a function that calls itself counts its time once', () => {
  const work = functions(small).find((row) => row.name === 'work')!;
  expect([work.self, work.total, work.widest]).toEqual([8, 8, 3]);
  const sum = functions(small).reduce((all, row) => all + row.self, 0);
  expect(sum).toBe(15);
});

it('stacks of ten thousand frames, one frame and none are trees too', () => {
  const deep = build(flame(Array.from({ length: 10_000 }, (_, i): Row => [`f${i % 7}`, i - 1, i === 9999 ? 1 : 0])));
  expect(deep.rows).toHaveLength(10_000);
  expect(path(deep, 9999)).toHaveLength(10_000);
  expect(functions(deep)).toHaveLength(7);
  expect(build(flame([['all', -1, 0]])).rows).toHaveLength(1);
  expect(build(flame([])).rows).toHaveLength(0);
});

it('a frame is found again by its path hash', () => {
  expect(byHash(small, '0000000000000003')).toBe(3);
  expect(byHash(small, '')).toBe(-1);
});

it('callees left out are known where they are, and a part keeps its share of the whole', () => {
  const tree = build(
    flame([
      ['all', -1, 0],
      ['a', 0, 4],
      ['b', 0, 4],
      ['other', 2, 2],
    ]),
  );
  expect([0, 1, 2].map((i) => lacks(tree, i))).toEqual([true, false, true]);
  expect(shareOf(build(flame([['a', -1, 4]]), 10), 0)).toBe(0.4);
});
