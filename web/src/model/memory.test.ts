import { expect, it } from 'vitest';
import healthy from '../../../schema/api/examples/getHealthy.json';
import example from '../../../schema/api/examples/getMemory.json';
import type { CategorySpread, Healthy, IssueMemory, Memory } from '../api/types';
import {
  answerOf,
  answerOfAll,
  chosenRows,
  explained,
  firstRow,
  framesOf,
  isAlive,
  keyOf,
  mappingsOf,
  ofHealthy,
  ofMedians,
  ofReport,
  rowsOf,
  spreadsOf,
  stacksOf,
  suspectsOf,
  times,
} from './memory';

const memory = example as Memory;
const rows = rowsOf(memory, ofHealthy(memory));

it('suspects stand in the order of their ranks, with how many times the median they hold', () => {
  const suspects = suspectsOf(rows);
  expect(suspects.map((row) => row.category.suspect!.rank)).toEqual(suspects.map((_, i) => i + 1));
  const first = suspects[0]!;
  expect(first.ratio).toBeCloseTo(first.category.held_bytes / first.category.healthy_bytes!);
  const objects = suspects.find((row) => row.category.suspect!.reason === 'objects')!;
  expect(objects.ofCount).toBe(true);
  expect(objects.ratio).toBeCloseTo(objects.category.live_count / objects.category.healthy_count!);
});

it('shares add up to no more than all: what allocators mapped is in none, its blocks are', () => {
  const of = (footprint_bytes: number | null) => rowsOf({ ...memory, footprint_bytes }, null);
  const sum = (some: typeof rows) => some.reduce((all, row) => all + (row.share ?? 0), 0);
  expect(of(null).filter((row) => row.share === null)).toHaveLength(1);
  expect(sum(of(null))).toBeCloseTo(1);
  expect(sum(of(2 * memory.held_bytes))).toBeCloseTo(0.5);
  const { ofAllocators, others } = mappingsOf(memory);
  const parts = memory.categories.filter((one) => one.kind === 'part').reduce((all, one) => all + one.held_bytes, 0);
  expect(others + memory.live_bytes + parts).toBe(memory.held_bytes);
  expect(memory.held_bytes).toBe(memory.footprint_bytes); // rows are all of it
  expect(sum(of(memory.footprint_bytes))).toBeCloseTo(1);
  expect(ofAllocators).toBe(memory.categories.find((one) => one.name === 'VM: allocator')!.held_bytes);
});

it('nothing before is infinitely more, nothing now and before is nothing to tell, and unknown stays unknown', () => {
  expect(times(5, 0)).toBe(Number.POSITIVE_INFINITY);
  expect(times(0, 0)).toBeNull();
  expect(times(5, undefined)).toBeNull();
  expect(rowsOf(memory, null).every((row) => row.ratio === null && row.before === null)).toBe(true);
  expect(rowsOf(memory, new Map())[0]!.ratio).toBe(Number.POSITIVE_INFINITY);
});

it('rows are chosen by kind and words, and sorted', () => {
  const heap = chosenRows(rows, 'heap', 'malloc KIB', 'bytes');
  expect(heap.length).toBeGreaterThan(1);
  expect(heap.every((row) => row.category.kind === 'heap' && row.category.name.includes('KiB'))).toBe(true);
  expect(chosenRows(rows, '', 'no such thing', 'bytes')).toEqual([]);
  for (const order of ['above', 'bytes', 'count', 'grown'] as const) {
    const sorted = chosenRows(rows, '', '', order).map((row) =>
      order === 'bytes'
        ? row.category.held_bytes
        : order === 'count'
          ? row.category.live_count
          : order === 'grown'
            ? row.category.grown_bytes!
            : row.category.held_bytes - (row.before?.bytes ?? 0),
    );
    expect(sorted, order).toEqual([...sorted].sort((a, b) => b - a));
  }
  expect(rows.map((row) => row.at)).toEqual(rows.map((_, i) => i));
});

it('what is not alive any more is listed only when it is asked for by name', () => {
  const gone = {
    ...memory.categories[3]!,
    name: 'Malloc 17 B',
    kind: 'heap' as const,
    live_bytes: 0,
    held_bytes: 0,
    live_count: 0,
    suspect: null,
  };
  const all = rowsOf({ ...memory, categories: [...memory.categories, gone] }, null);
  expect(chosenRows(all, '', '', 'name').map((row) => row.category.name)).not.toContain('Malloc 17 B');
  expect(chosenRows(all, '', '', 'name')).toHaveLength(memory.categories.length);
  expect(chosenRows(all, 'heap', 'malloc 17', 'bytes').map((row) => row.category.name)).toContain('Malloc 17 B');
  expect(all.filter(isAlive)).toHaveLength(memory.categories.length);
});

it('a category named in the address is shown, else the first suspect, else one whose stacks are known', () => {
  expect(firstRow(memory, rows, 'vm:VM: file')!.category.name).toBe('VM: file');
  expect(firstRow(memory, rows, '')!.category.suspect!.rank).toBe(1);
  const quiet = { ...memory, categories: memory.categories.map((c) => ({ ...c, suspect: null })) };
  const calm = rowsOf(quiet, null);
  expect(memory.stacks.some((stack) => stack.category === firstRow(quiet, calm, '')!.at)).toBe(true);
  expect(firstRow({ ...quiet, categories: [] }, [], '')).toBeUndefined();
});

it('stacks are frames from the innermost out, with the one to answer among them', () => {
  const at = rows.findIndex((row) => row.category.name === 'Malloc 48.00 KiB');
  const stacks = stacksOf(memory, at, 'bytes');
  expect(stacks[0]!.frames[0]!.function).toBe('malloc');
  expect(stacks[0]!.frames[stacks[0]!.caller1!]!.function).toBe('TileCache::insert(Key, Tile&&)');
  expect(stacks[0]!.share).toBeCloseTo(0.78, 2);
  expect(stacks.at(-1)!.frames).toEqual([]);
  expect(framesOf(memory, 0)).toEqual([]);
  expect(stacksOf(memory, at, 'objects')[0]!.stack.count).toBeGreaterThan(0);
});

it('a report is compared with medians and with another report alike', () => {
  const medians = ofMedians(healthy as Healthy)!;
  expect(medians.get('heap:Malloc 48.00 KiB')!.bytes).toBeGreaterThan(0);
  expect(ofMedians({ ...(healthy as Healthy), reports: 0 })).toBeNull();
  expect(rowsOf(memory, ofReport(memory)).every((row) => row.ratio === 1 || row.category.held_bytes === 0)).toBe(true);
  expect(keyOf({ kind: 'vm', name: 'VM: stack' })).toBe('vm:VM: stack');
});

it('what is explained is a share of the footprint, where that is told', () => {
  expect(explained(memory)).toBeGreaterThan(0.9);
  expect(explained({ ...memory, footprint_bytes: null })).toBeNull();
  expect(explained({ ...memory, explained_bytes: null })).toBeNull();
});

it('the answer of a report names its first suspect, the bytes above healthy ones, and who allocated most of it', () => {
  const told = answerOf(memory, rows)!;
  const first = suspectsOf(rows)[0]!;
  expect(told.footprint).toBe(memory.footprint_bytes);
  expect(told.times).toBeCloseTo(memory.footprint_bytes! / memory.healthy!.footprint_bytes!);
  expect(told.category).toBe(first.category.name);
  expect(told.above).toBe(true);
  expect(told.bytes).toBe(first.category.held_bytes - first.category.healthy_bytes!);
  expect(told.by).not.toBe('');
  expect(told.share).toBeCloseTo(stacksOf(memory, first.at, 'bytes')[0]!.share);
  expect(answerOf({ ...memory, footprint_bytes: null }, rows)).toBeNull();
  expect(answerOf(memory, [])).toBeNull();
});

it('the answer of an issue is of medians; without healthy processes, and of a category with fewer bytes, nothing is above', () => {
  const spread = (p50: number) => ({ p50, p90: p50 });
  const row = (name: string, p50: number, healthy: number | null, suspect_share = 0) =>
    ({
      name,
      kind: 'heap',
      of_allocator: false,
      bytes: spread(p50),
      objects: spread(1),
      suspect_share,
      healthy_bytes: healthy,
      healthy_objects: healthy,
    }) as CategorySpread;
  const held = {
    reports: 7,
    footprint_bytes: spread(400),
    healthy: { reports: 9, footprint_bytes: spread(100) },
    categories: [row('Big', 300, 290), row('Bitmap', 250, 10, 1), row('Few', 5, 50, 0.2)],
  } as unknown as IssueMemory;
  expect(spreadsOf(held).map((one) => one.name)).toEqual(['Bitmap', 'Big', 'Few']);
  expect(answerOfAll(held, 'Bitmap', 'decode')).toMatchObject({
    footprint: 400,
    times: 4,
    bytes: 240,
    above: true,
    by: 'decode',
  });
  expect(answerOfAll(held, 'Few', 'Few')).toMatchObject({ bytes: 5, above: false, by: '' });
  expect(answerOfAll({ ...held, healthy: null }, 'Bitmap', 'decode')!.times).toBeNull();
  expect(answerOfAll(held, 'Other', 'decode')).toBeNull();
});
