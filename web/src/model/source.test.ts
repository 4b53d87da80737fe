import { describe, expect, it } from 'vitest';
import type { Frame, Releases } from '../api/types';
import { marksBetween, sourceLink } from './source';

const frame = (more: Partial<Frame>): Frame =>
  ({ function: 'lock', image: 'shop', file: '/ci/shop/src/a b.c', line: 7, role: 'app', ...more }) as Frame;
const mark = (version: string, commit: string, released_at: string, environment = 'production') => ({
  version,
  commit,
  released_at,
  environment,
  made_by: 'kim',
  commits: 0,
});
const releases = (more: Partial<Releases> = {}): Releases => ({
  source_link: 'https://git.example/shop/blob/{commit}/{file}#L{line}',
  source_root: '/ci/shop',
  ticket_link: '',
  tracker: '',
  releases: [
    mark('2.0', '', '2026-11-20T00:00:00Z', 'staging'),
    mark('2.0', '1a2b3c4d', '2026-11-18T00:00:00Z'),
    mark('1.0', '', '2026-11-01T00:00:00Z'),
  ],
  ...more,
});

describe('source links', () => {
  it('lead to the line of the commit of the version', () => {
    expect(sourceLink(releases(), '2.0', frame({}))).toBe('https://git.example/shop/blob/1a2b3c4d/src/a%20b.c#L7');
  });
  it('are not there without a commit, a template, a file of the app below its folder', () => {
    expect(sourceLink(releases(), '1.0', frame({}))).toBeNull();
    expect(sourceLink(undefined, '2.0', frame({}))).toBeNull();
    expect(sourceLink(releases({ source_link: '' }), '2.0', frame({}))).toBeNull();
    expect(sourceLink(releases(), '2.0', frame({ role: 'system' as Frame['role'] }))).toBeNull();
    expect(sourceLink(releases(), '2.0', frame({ file: '' }))).toBeNull();
    expect(sourceLink(releases(), '2.0', frame({ file: '/usr/include/a.h' }))).toBeNull();
    expect(sourceLink(releases({ source_link: 'javascript:{file}' }), '2.0', frame({}))).toBeNull();
  });
  it('need no commit if the template has none', () => {
    const to = releases({ source_link: 'https://git.example/{version}/{file}', source_root: '' });
    expect(sourceLink(to, '1.0', frame({}))).toBe('https://git.example/1.0/ci/shop/src/a%20b.c');
  });
  it('put packages before files of Java', () => {
    const java = frame({ function: 'com.acme.Cart$1.run(int)', file: 'Cart.java' });
    expect(sourceLink(releases(), '2.0', java)).toBe('https://git.example/shop/blob/1a2b3c4d/com/acme/Cart.java#L7');
  });
});

describe('marks', () => {
  it('are those of the range, oldest first', () => {
    const from = Date.parse('2026-11-10T00:00:00Z') / 1000;
    expect(marksBetween(releases(), from, from + 30 * 86_400).map((one) => one.label)).toEqual(['2.0', '2.0 staging']);
  });
});
