import { expect, it } from 'vitest';
import {
  carried,
  DEFAULTS,
  FOLDINGS,
  formatPage,
  formatQuery,
  MEMORY_TABS,
  parsePage,
  parseQuery,
  plainText,
  type Query,
  TABS,
  unfoldReport,
  wantedText,
} from './view';

/* Small generator with a seed, so that a failure can be run again. */
function random(seed: number) {
  let state = seed;
  return (below: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function anyQuery(seed: number): Query {
  const next = random(seed);
  const pick = <T>(...values: T[]): T => values[next(values.length)]!;
  const hex = (digits: number) => Array.from({ length: digits }, () => next(16).toString(16)).join('');
  return {
    t: pick('14d', '30m', '2026-11-01T00Z..2026-11-08T00Z'),
    tz: pick('local', 'utc'),
    v: pick([], ['8.0.38'], ['8.0.38', '!7.2 β/1']),
    kind: pick([], ['hang', '!launch']),
    state: pick([], ['open']),
    os: pick([], ['linux', '!ios']),
    os_version: pick([], ['14']),
    model: pick([], ['iPhone15\\,2', '!Redmi Note 11'], ['\\!odd\\\\name']),
    class: pick([], ['8gb']),
    channel: pick([], ['gray', '渠道']),
    q: pick('', 'MsgStore image:Mire', '<script>&=#?+ %', '消息 🙂'),
    by: pick('caller1', 'category'),
    sort: pick('-impact', 'title'),
    after: pick('', 'eyJyYW5rIjoxfQ'),
    open: pick(null, [], ['62069476dc7f', '0badc0de0bad']),
    tab: pick(null, ...TABS, ...MEMORY_TABS),
    n: pick('latest', 'worst', '01a19c85-30ba-7449-afa6-d5df6538eb94'),
    s: pick(null, 0, 19),
    fz: pick('', hex(16)),
    fs: pick('', 'std::map<int>'),
    ff: pick(...FOLDINGS),
    fo: pick('self', 'total', 'name'),
    c: pick('', 'heap:Malloc 48.00 KiB', 'object:地图,&'),
    type: pick('', 'heap', 'vm', 'object', 'part', 'gauge'),
    cmp: pick('healthy', 'v:8.0.37', 'week', '2026-11-01T00Z..2026-11-08T00Z', '01a19c85-30ba-7449-afa6-d5df6538eb94'),
    of: pick('bytes', 'objects'),
    co: pick('bytes', 'count', 'above', 'grown', 'name'),
    r: pick('', 'user=4711', 'tag=plan=a=b, 地图'),
    rest: pick<[string, string][]>([], [['later', 'v:8.0.37']]),
  };
}

it('parse undoes format, for any query', () => {
  for (let seed = 1; seed <= 3000; seed++) {
    const query = anyQuery(seed);
    expect(parseQuery(formatQuery(query)), `seed ${seed}`).toEqual(query);
  }
});

it('equal views have equal addresses, whatever order they came in', () => {
  expect(formatQuery(parseQuery('?q=a&x=1&t=24h&v=2&v=1'))).toBe('?t=24h&v=2,1&q=a&x=1');
});

it('a value with a comma is one value, and a filter of devices goes along to another page', () => {
  for (const value of ['iPhone15,2', '!odd', 'a\\b', 'a,,b\\,', '渠道'])
    for (const not of ['', '!']) {
      const query = { ...DEFAULTS, model: [not + wantedText(value)] };
      expect(parseQuery(formatQuery(query)).model).toEqual(query.model);
      expect(plainText(query.model[0]!.slice(not.length))).toBe(value);
      expect(carried(query).model).toEqual(query.model);
    }
  expect(parseQuery('?model=a,b&model=b,,c').model).toEqual(['a', 'b', 'c']);
});

it('defaults are dropped and unknown keys kept', () => {
  expect(formatQuery(DEFAULTS)).toBe('');
  expect(formatQuery(parseQuery('?t=14d&sort=auto&later=yes'))).toBe('?later=yes');
});

it('nonsense falls back to the default', () => {
  expect(parseQuery('?tab=nope&by=x&s=-1&fz=zz&tz=mars')).toEqual({ ...DEFAULTS, tab: 'stack' });
});

it('the path of a report leads to its issue with the report chosen', () => {
  expect(unfoldReport('/shop/issues/I-1/reports/01a19c85', '?t=24h')).toBe(
    '/shop/issues/I-1?t=24h&tab=stack&n=01a19c85',
  );
  expect(unfoldReport('/shop/memory/M-1/reports/01a19c85', '')).toBe('/shop/memory/M-1?tab=held&n=01a19c85');
  expect(unfoldReport('/shop/memory/I-1/reports/01a19c85', '')).toBeNull();
  expect(unfoldReport('/shop/issues/I-1', '')).toBeNull();
});

it('pages are told from paths', () => {
  for (const path of [
    '/',
    '/shop',
    '/shop/issues',
    '/shop/issues/I-1042',
    '/shop/memory',
    '/shop/memory/M-77',
    '/shop/rollout',
    '/shop/versions',
    '/shop/versions/8.0.40',
    '/shop/versions/8.0%2F1%20%CE%B2',
  ])
    expect(formatPage(parsePage(path))).toBe(path);
  for (const path of [
    '/Shop',
    '/shop/nothing',
    '/shop/issues/42',
    '/shop/issues/I-1/x',
    '/shop/memory/I-1',
    '/shop/issues/M-1',
    '/shop/versions/8/0',
    '/shop/rollout/1',
  ]) {
    expect(parsePage(path).name, path).toBe('lost');
  }
});
