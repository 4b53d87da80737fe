import { expect, it } from 'vitest';
import locked from '../../../schema/api/examples/getReport.lock.json';
import power from '../../../schema/api/examples/getReport.power.json';
import type { Report } from '../api/types';
import { counted, fileOf, holder, hotThread, inOrder, isOfProcess, isWait, ofHotThread } from './event';

const lock = locked as unknown as Report;
const load = power as unknown as Report;

it('the holder of a lock comes first, then who computed most', () => {
  expect(holder(lock)?.thread.name).toBe('journal');
  expect(holder(lock)?.frame?.function).toBe('flush_journal');
  expect(inOrder(lock).map(([thread]) => thread.name)).toEqual(['journal', 'bio_close_file']);
  const threads = [10, null, 30].map((cpu_ms, i) => ({ ...load.threads[0]!, tid: i, cpu_ms }));
  expect(inOrder({ ...load, threads }).map(([thread]) => thread.tid)).toEqual([2, 0, 1]);
  expect(holder(load)).toBeNull();
});

it('frames repeat among the samples of their own thread', () => {
  const own = ofHotThread(load);
  expect(own.samples.stack.length).toBeLessThan(load.samples.stack.length);
  expect(new Set(own.samples.thread)).toEqual(new Set([load.hot.thread]));
  expect(own.hot.frames[0]!.repeat).toBeLessThanOrEqual(own.samples.stack.length);
  expect(own.hot.frames.at(-1)!.repeat).toBe(own.samples.stack.length);
  expect(own.samples.covered_ms).toBe(own.samples.weight_ms.reduce((a, b) => a + b, 0));
  expect(hotThread(load)?.name).toBe('encoder-0');
  expect(ofHotThread(lock)).toBe(lock);
  expect(hotThread(lock)).toBeNull();
});

it('only where somebody waits time is lost', () => {
  expect(['hang', 'killed', 'threads', 'frames'].map(isWait)).toEqual([true, true, true, true]);
  expect(['cpu', 'power', 'disk', 'crash', 'custom', 'test'].map(isWait)).toEqual([
    false,
    false,
    false,
    false,
    false,
    false,
  ]);
  expect(isOfProcess('frames')).toBe(true);
  expect(counted(['hang', 'killed'])).toBe('Hangs');
  expect(counted(['hang', 'power'])).toBe('Events');
  expect(counted([])).toBe('Hangs');
});

it('a file is named where frames go by another name than the process, of which the kernel keeps 15 characters', () => {
  const of = (process: string, ...paths: string[]) =>
    fileOf({ row: { ...load.row, process }, facts: paths.map((value) => ({ name: 'path', value })) });
  expect(of('redis-server', '/usr/bin/redis-check-rdb')).toBe('redis-check-rdb');
  expect(of('redis-server', '/usr/bin/redis-server')).toBeNull();
  expect(of('redis-benchmark'.slice(0, 15), '/usr/bin/redis-benchmark-tls')).toBeNull();
  expect(of('redis-server')).toBeNull();
});
