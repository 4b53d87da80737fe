import { expect, it } from 'vitest';
import type { Flame } from '../api/types';
import { build, children, nameOf } from './flame';
import { fold, toggled } from './fold';
import { FOLDINGS } from './view';

type Row = [name: string, parent: number, self: number, role?: string];
const ROLES = ['app', 'system', 'runtime', 'unknown'];

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
    roles: ROLES,
    name: rows.map(([name]) => names.indexOf(name)),
    image: rows.map(() => 0),
    role: rows.map(([, , , role]) => ROLES.indexOf(role ?? 'app')),
    parent: rows.map(([, parent]) => parent),
    self: rows.map(([, , self]) => self),
    value,
    hash: rows.map((_, i) => i.toString(16).padStart(16, '0')),
  };
}

/* As text: name:value[children]. */
function told(of: Flame): string {
  const tree = build(of);
  const one = (i: number): string => {
    const kids = [...children(tree, i)].map(one);
    return `${nameOf(tree, i)}:${of.value[i]}${kids.length > 0 ? `[${kids.join(' ')}]` : ''}`;
  };
  return one(0);
}

const start = flame([
  ['all', -1, 0],
  ['start', 0, 0, 'system'],
  ['loop', 1, 0, 'system'],
  ['dispatch', 2, 0, 'runtime'],
  ['click', 3, 1],
  ['poll', 4, 2, 'system'],
  ['wait', 5, 0, 'system'],
]);

it('a run of system frames is one frame, which has the hash of its last', () => {
  const { flame: made, counts, now } = fold(start, 'system');
  expect(told(made)).toBe('all:3[dispatch:3[click:3[poll:2[wait:0]]]]');
  expect([...counts]).toEqual([1, 3, 1, 1, 1]);
  expect(made.hash[1]).toBe(start.hash[3]);
  expect([...now]).toEqual([0, 1, 1, 1, 2, 3, 4]);
});

it('a run ends where time is left over or ways part, and the app is never in it', () => {
  const rows: Row[] = [
    ['all', -1, 0],
    ['a', 0, 0, 'system'],
    ['b', 1, 0, 'system'],
    ['c', 2, 0, 'system'],
    ['d', 3, 1, 'system'],
    ['left', 3, 1, 'system'],
    ['e', 4, 0, 'unknown'],
  ];
  expect(told(fold(flame(rows), 'system').flame)).toBe('all:2[c:2[d:1[e:0] left:1]]');
  expect(told(fold(flame(rows), 'none').flame)).toBe(told(flame(rows)));
});

it('a function that calls itself is one frame, and its callees are added up', () => {
  const rows: Row[] = [
    ['all', -1, 0],
    ['walk', 0, 1],
    ['walk', 1, 2],
    ['read', 1, 3],
    ['walk', 2, 4],
    ['read', 2, 5],
    ['read', 5, 6],
  ];
  const { flame: made, now } = fold(flame(rows), 'recursion');
  expect(told(made)).toBe('all:21[walk:21[read:14]]');
  expect(made.self).toEqual([0, 7, 14]);
  expect([...now]).toEqual([0, 1, 1, 2, 1, 2, 2]);
});

it('no folding loses or makes time, for any tree', () => {
  let state = 7;
  const next = (below: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  for (let round = 0; round < 100; round++) {
    const rows: Row[] = [['all', -1, 0]];
    for (let i = 1; i < 40; i++)
      rows.push([`f${next(3)}`, next(2) ? i - 1 : next(i), next(4) ? 0 : next(9), ROLES[next(4)]!]);
    const before = flame(rows);
    for (const folding of FOLDINGS) {
      const { flame: made, now } = fold(before, folding);
      expect(made.value[0]).toBe(before.value[0]);
      expect(made.self.reduce((sum, x) => sum + x, 0)).toBe(before.value[0]);
      const sums = [...made.self];
      for (let i = sums.length - 1; i > 0; i--) {
        expect(made.parent[i]).toBeLessThan(i);
        sums[made.parent[i]!]! += sums[i]!;
      }
      expect(sums).toEqual(made.value);
      expect(Math.max(...now)).toBe(made.value.length - 1);
    }
  }
});

it('each part is folded and unfolded by itself', () => {
  expect(toggled('system', 'system')).toBe('none');
  expect(toggled('none', 'recursion')).toBe('recursion');
  expect(toggled('recursion', 'system')).toBe('both');
  expect(toggled('both', 'recursion')).toBe('system');
});
