import { expect, it } from 'vitest';
import example from '../../../schema/api/examples/getReport.json';
import killed from '../../../schema/api/examples/getReport.killed.json';
import type { Frame, Report } from '../api/types';
import { bars, completed, peak, stacked, wholeSteps } from './charts';
import { ago, bytes, count, duration, nanoseconds, offBytes, offCount, percent } from './format';
import { base, shorten } from './name';
import { absolute, resolve, shift, widen } from './range';
import {
  asText,
  commonLeaf,
  coverage,
  hotAsText,
  hotMiddle,
  isPartial,
  nameless,
  outerFrom,
  ownerless,
  ownRule,
  withoutStack,
} from './stack';

const now = new Date('2026-11-08T10:20:30Z');

it('an estimate is followed by how far it may be off, in its own unit if that will do', () => {
  const MIB = 1 << 20;
  expect(offBytes(12.3 * MIB, 0.8 * MIB)).toBe('± 0.8');
  expect(offBytes(12.3 * MIB, 0.05 * MIB)).toBe('± 51.2 KiB');
  expect([offBytes(7, null), offBytes(7, 0), offCount(7, null, 'en'), offCount(7, 0, 'en')]).toEqual(['', '', '', '']);
  expect(offCount(90_000, 33_243, 'en')).toBe('± 33,000');
});

it('an estimate that may be off by more than itself is followed by what it is at most', () => {
  expect(offBytes(200_000, 4 * (1 << 20))).toBe('(≤ 4.2 MiB)');
  expect(offCount(2437, 130_000, 'en')).toBe('(≤ 130,000)');
  expect(offCount(100, 100, 'en')).toBe('± 100');
});

it('durations keep two figures and change unit with size', () => {
  const shown = [0, 480, 1234, 9960, 59_400, 59_800, 200_000, 3_600_000, 7_500_000, 267_840_000].map((ms) =>
    duration(ms),
  );
  expect([999.7, 3_599_700, 86_399_000].map((ms) => duration(ms))).toEqual(['1.0 s', '1 h', '1.0 d']);
  expect(shown).toEqual([
    '0 ms',
    '480 ms',
    '1.2 s',
    '10 s',
    '59 s',
    '1 min',
    '3 min 20 s',
    '1 h',
    '2 h 5 min',
    '3.1 d',
  ]);
});

it('numbers stay short', () => {
  expect([0, 0.5, 7, 9999, 31_234, 1_200_000].map((n) => count(n, 'en'))).toEqual([
    '0',
    '0.5',
    '7',
    '9,999',
    '31.2K',
    '1.2M',
  ]);
  expect([0, 0.004, 0.087, 0.5, 1].map((n) => percent(n, 'en'))).toEqual([
    '0\u00a0%',
    '0.4\u00a0%',
    '8.7\u00a0%',
    '50\u00a0%',
    '100\u00a0%',
  ]);
  expect([0.0001, 0.00004].map((n) => percent(n, 'en'))).toEqual(['0.01\u00a0%', '<0.01\u00a0%']);
  expect([512, 1536, 1_048_500, 1_288_490_189].map(bytes)).toEqual(['512 B', '1.5 KiB', '1.0 MiB', '1.2 GiB']);
  expect([800, 21_400, 3_000_000, 2e9].map((ns) => nanoseconds(ns))).toEqual(['800 ns', '21.4 µs', '3.0 ms', '2.0 s']);
  expect([99_990, 999_990_000].map((ns) => nanoseconds(ns))).toEqual(['100.0 µs', '1.0 s']);
  expect(ago(new Date('2026-11-08T10:17:30Z'), now, 'en')).toBe('3 min. ago');
  expect(ago(new Date(now.getTime() - 59_700), now, 'en')).toBe('1 min. ago');
  expect(ago(new Date(now.getTime() - 3_599_000), now, 'en')).toBe('1 hr. ago');
});

it('ranges resolve, move, widen, and are whole hours when fixed', () => {
  const day = resolve('24h', now)!;
  expect(absolute(day)).toBe('2026-11-07T10Z..2026-11-08T11Z');
  const week = resolve('2026-11-01T00Z..2026-11-08T00Z', now)!;
  expect(absolute(shift(week, -1))).toBe('2026-10-25T00Z..2026-11-01T00Z');
  expect(absolute(widen(week))).toBe('2026-10-28T12Z..2026-11-11T12Z');
  for (const wrong of ['', '0d', '14x', 'a..b', '2026-11-08T00Z..2026-11-01T00Z'])
    expect(resolve(wrong, now)).toBeNull();
});

it('long names lose arguments, then qualifiers, then their beginning', () => {
  const name = 'std::vector<std::map<int, long>>::operator<<(std::ostream&) const';
  expect(shorten(name, 200)).toBe(name);
  expect(shorten(name, 34)).toBe('std::vector::operator<< const');
  expect(shorten('-[ChatListViewController reloadData]', 20)).toBe('-[reloadData]');
  expect(shorten('processCommandAndResetClient', 8)).toBe('…tClient');
  expect(shorten('a', 0)).toBe('');
  expect(base('/usr/lib/libc.so.6')).toBe('libc.so.6');
});

it('bars fill empty buckets, fold small keys and stack up', () => {
  const day = (n: number, events: number) => ({ at: `2026-11-0${n}T00:00:00Z`, events, waited_ms: events * 10 });
  const series = ['a', 'b', 'c'].map((key, i) => ({ key, points: [day(1 + i, i + 1)] }));
  const made = bars(
    series,
    86_400,
    new Date('2026-11-01T00:00:00Z'),
    new Date('2026-11-04T00:00:00Z'),
    'events',
    'rest',
    2,
  );
  expect(made.rows.map((row) => [row.key, row.values])).toEqual([
    ['c', [0, 0, 3]],
    ['rest', [1, 2, 0]],
  ]);
  expect(made.total).toEqual([1, 2, 3]);
  expect(stacked(made.rows)).toEqual([
    [0, 0, 3],
    [1, 2, 3],
  ]);
  expect([peak(made.total), peak([0, 0])]).toEqual([2, -1]);
});

it('recent days are drawn with what they usually come to', () => {
  const made = { at: [0, 86_400, 172_800], rows: [], total: [10, 8, 1] };
  const days = [
    { day: '1970-01-02T00:00:00.000Z', share: 0.8 },
    { day: '1970-01-03T00:00:00.000Z', share: 0.05 },
  ];
  expect(completed(made, 86_400, days).usual).toEqual([0, 10, 0]);
  expect(completed(made, 3600, days)).toBe(made);
  expect(completed(made, 86_400, [])).toBe(made);
});

it('an axis of things that are counted has no marks between them', () => {
  const steps = wholeSteps();
  expect(steps.slice(0, 5)).toEqual([1, 2, 5, 10, 20]);
  expect(steps.every(Number.isInteger) && steps.at(-1)! >= Number.MAX_SAFE_INTEGER / 10).toBe(true);
});

const frame = (name: string, repeat: number, role: Frame['role'] = 'app'): Frame => ({
  function: name,
  image: 'shop',
  file: '',
  line: 0,
  offset: '0',
  inlined: false,
  role,
  repeat,
  rule: null,
  mark: null,
});

/* Ten samples of main > loop > one of these leaves. */
function report(leaves: string[]): Report {
  const stacks = leaves.map((leaf) => ({ frames: [frame(leaf, 1), frame('loop', 10), frame('main', 10, 'runtime')] }));
  const shown = example as unknown as Report;
  const samples = { ...shown.samples, stack: leaves.map((_, i) => i), stacks };
  return {
    ...shown,
    samples,
    hot: { run: 2, thread: 0, frames: [frame(leaves[0]!, 2), frame('loop', 10), frame('main', 10, 'runtime')] },
  };
}

it('a function with varying callees is flagged, one with a single callee is not', () => {
  expect(hotMiddle(report(['a', 'b', 'c', 'd', 'e', 'a', 'b', 'c', 'd', 'e']))).toBe(1);
  expect(hotMiddle(report(['a', 'a', 'a', 'a', 'a', 'a', 'a', 'a', 'b', 'c']))).toBeNull();
  expect(hotMiddle(report(['a', 'b', 'c']))).toBeNull();
});

it('samples without a stack are counted, and the verdict goes with what it says', () => {
  const all = report(['a', 'b']);
  const whole = { ...all, samples: { ...all.samples, weight_ms: [300, 700], covered_ms: 1000 } };
  const part = { ...whole, samples: { ...whole.samples, stack: [0, -1] }, why: 'a holds 30 %; 1 of 2 has no stack' };
  expect(withoutStack(whole)).toBe(0);
  expect(withoutStack(part)).toBe(1);
  expect([isPartial(whole), isPartial(part), isPartial({ ...whole, verdict: null })]).toEqual([false, true, true]);
  expect(coverage({ ...part, row: { ...part.row, duration_ms: 1000 } })).toMatchObject({
    covered_ms: 1000,
    stacks_ms: 300,
  });
  expect(hotAsText(part)).toBe(`a holds 30 %; 1 of 2 has no stack\n\n${asText(part.hot.frames)}`);
});

it('coverage says how much of the event was seen', () => {
  const whole = coverage({ ...report(['a']), row: { ...example.row, duration_ms: example.samples.covered_ms } });
  expect(whole.whole).toBe(true);
  const part = coverage(killed as unknown as Report);
  expect(part.covered_ms).toBeLessThanOrEqual(part.event_ms);
  expect(commonLeaf(report(['a', 'a', 'b']).samples)).toEqual({ name: 'a', samples: 2 });
});

it('a stack as text has one line a frame', () => {
  expect(asText([frame('a', 1), { ...frame('b', 1), file: '/x/src/shop.c', line: 7 }])).toBe(
    '#0  a  shop\n#1  b  shop src/shop.c:7',
  );
});

it('of modules that may be the app’s a rule is proposed', () => {
  const given = report(['a', 'b']);
  const nobodys = (image: string) => ({ ...frame('f', 1, 'unknown'), image });
  const stack = {
    frames: [nobodys('libcart.so.3'), nobodys('libcart.so.3'), nobodys('~ a plugin?'), frame('main', 1)],
  };
  const ruled = { ...nobodys('libc.so.6'), rule: 0 };
  expect(ownerless(given)).toEqual([]);
  expect(
    ownerless({ ...given, samples: { ...given.samples, stacks: [stack, { frames: [ruled, nobodys('')] }] } }),
  ).toEqual(['libcart.so.3', '~ a plugin?']);
  expect(['libcart.so', 'libcart.so.3', 'libcart.so.3.1.2', 'shop', '~ a plugin?', '/opt/x/y'].map(ownRule)).toEqual([
    'own libcart.so*',
    'own libcart.so*',
    'own libcart.so*',
    'own shop',
    'own ??a?plugin?',
    'own y',
  ]);
});

it('images without names are told with their build ids', () => {
  const bare = (image: string, offset: string) =>
    ({ ...example.hot.frames[0], function: `${image}+0x${offset}`, image, offset }) as Frame;
  const given = {
    ...example,
    facts: [{ name: 'build id, libc.so.6', value: 'c0ffee' }],
    hot: { run: 1, thread: 0, frames: [bare('app', '1'), bare('libc.so.6', '2'), bare('libc.so.6', '3')] },
  } as Report;
  expect(nameless(given)).toEqual([
    { image: 'libc.so.6', id: 'c0ffee', places: 2 },
    { image: 'app', id: '', places: 1 },
  ]);
});

it('a length of time has the units of its language', () => {
  const lengths = [480, 1200, 200_000, 7_500_000, 267_840_000];
  expect(lengths.map((ms) => duration(ms, 'zh-CN'))).toEqual([
    '480 毫秒',
    '1.2 秒',
    '3 分 20 秒',
    '2 小时 5 分',
    '3.1 天',
  ]);
  expect(lengths.map((ms) => duration(ms))).toEqual(['480 ms', '1.2 s', '3 min 20 s', '2 h 5 min', '3.1 d']);
  expect(duration(1200, 'fr')).toBe('1.2 s');
  expect([nanoseconds(83_600, 'zh-CN'), nanoseconds(500, 'en')]).toEqual(['83.6 微秒', '500 ns']);
});

it('outer frames on which nobody acts are folded from three on', () => {
  const of = (...roles: string[]) => outerFrom(roles.map((role) => ({ role }) as { role: 'app' }));
  expect(of('wait', 'app', 'system', 'dispatch', 'thread')).toBe(2);
  expect(of('wait', 'app', 'system', 'thread')).toBeNull();
  expect(of('app', 'system', 'unknown', 'system', 'system', 'system')).toBe(3);
  expect(of('system', 'system', 'system', 'system')).toBeNull();
});
