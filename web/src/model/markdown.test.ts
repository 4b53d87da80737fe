import { describe, expect, it } from 'vitest';
import { inline, markdown } from './markdown';

describe('a comment', () => {
  it('is text unless it says otherwise', () => {
    expect(markdown('<script>alert(1)</script> & <b>')).toEqual([
      { is: 'paragraph', of: [{ is: 'text', text: '<script>alert(1)</script> & <b>' }] },
    ]);
    expect(inline('2 * 3 * 4 and a_b_c and ** x **')).toEqual([
      { is: 'text', text: '2 * 3 * 4 and a_b_c and ** x **' },
    ]);
  });

  it('has code, strong, emphasis and links', () => {
    expect(inline('see `a*b*c` and **all *of* it**')).toEqual([
      { is: 'text', text: 'see ' },
      { is: 'code', text: 'a*b*c' },
      { is: 'text', text: ' and ' },
      {
        is: 'strong',
        of: [
          { is: 'text', text: 'all ' },
          { is: 'em', of: [{ is: 'text', text: 'of' }] },
          { is: 'text', text: ' it' },
        ],
      },
    ]);
    expect(inline('[here](https://a.example/x)')[0]).toEqual({
      is: 'link',
      to: 'https://a.example/x',
      of: [{ is: 'text', text: 'here' }],
    });
    expect(inline('at https://a.example/x?y=1.')[1]).toMatchObject({ is: 'link', to: 'https://a.example/x?y=1' });
  });

  it('links nowhere but to http and https', () => {
    for (const to of ['javascript:alert(1)', 'data:text/html,x', '//a.example', 'file:///etc/passwd', 'JaVaScRiPt:x'])
      expect(JSON.stringify(inline(`[x](${to})`))).not.toContain('link');
  });

  it('has lists, headings, quotes and fenced code', () => {
    const blocks = markdown('# Why\n- one\n- two\n\n1. first\n> said\n```\n**raw**\n```\nend');
    expect(blocks.map((one) => one.is)).toEqual(['heading', 'list', 'list', 'quote', 'code', 'paragraph']);
    expect(blocks[4]).toEqual({ is: 'code', text: '**raw**' });
    expect(markdown('```\nnever closed')).toEqual([{ is: 'code', text: 'never closed' }]);
  });

  it('takes hostile text in no time', () => {
    const began = performance.now();
    for (const text of [
      '*'.repeat(10_000),
      '['.repeat(10_000),
      '`'.repeat(9_999),
      '**a'.repeat(3_000),
      'http://'.repeat(1_400),
    ])
      markdown(text);
    expect(performance.now() - began).toBeLessThan(5_000);
  });
});
