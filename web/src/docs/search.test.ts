// @vitest-environment node
import { describe, expect, it } from 'vitest';
import { leads, render } from '../../docs';
import { find, type Section } from './search';

const section = (heading: string, text: string): Section => ({
  page: '/docs/x',
  title: 'X',
  heading,
  anchor: heading,
  text,
});

describe('search', () => {
  const all = [
    section('Alerts', 'told once'),
    section('Other', 'alerts alerts, told'),
    section('锁', '线程在等一把锁。'),
  ];
  it('finds sections with every word, headings first', () => {
    expect(find(all, 'ALERTS told').map((one) => one.section.heading)).toEqual(['Alerts', 'Other']);
    expect(find(all, 'alerts nobody')).toEqual([]);
    expect(find(all, '  ')).toEqual([]);
  });
  it('finds Chinese inside a sentence', () => {
    expect(find(all, '一把锁')[0]?.section.heading).toBe('锁');
  });
  it('shows the text around the word', () => {
    const long = section('L', `${'a '.repeat(200)}needle ${'b '.repeat(200)}`);
    expect(find([long], 'needle')[0]?.excerpt).toMatch(/^….*needle.*…$/);
  });
});

describe('a page', () => {
  it('has no markup of its source, and anchors of its own', () => {
    const made = render(
      'en',
      'on-call',
      '# T\n\n<b onclick=x>y</b>\n\n## A b\n\n## A b\n\n`<i>` [x](javascript:alert(1))\n',
    );
    expect(made.html).not.toMatch(/<b|<i>|javascript/);
    expect(made.html).toMatch(/id="a-b".*id="a-b-1"/s);
    expect(made.sections.map((one) => one.anchor)).toEqual(['t', 'a-b', 'a-b-1']);
  });
  it('leads to other pages of its language where they are translated, and to no file of the tree', () => {
    expect(leads('en', 'alerts.md#channels')).toBe('/docs/alerts#channels');
    expect(leads('zh', '../store.md')).toBe('/docs/store');
    expect(leads('zh', 'triage.md')).toBe('/docs/zh/triage');
    expect(leads('en', 'getting-started.md')).toBe('/docs/');
    expect(leads('en', '../server/README.md')).toBeNull();
    expect(leads('en', 'adr/0001-copy-the-stack-unwind-elsewhere.md')).toBeNull();
  });
});
