import { describe, expect, it } from 'vitest';
import { ticketAddress, ticketOf } from './ticket';

const ticket = {
  title: 'I-7: a & b',
  body: 'line\n`code`',
  link: 'https://mire.example/shop/issues/I-7',
  issue: 'I-7',
};

describe('a ticket', () => {
  it('is filled into the form of every tracker', () => {
    expect(ticketAddress('https://git.example/new?title={title}&body={body}', ticket)).toBe(
      'https://git.example/new?title=I-7%3A%20a%20%26%20b&body=line%0A%60code%60',
    );
    expect(ticketAddress('https://git.example/new?issue[title]={title}&x={issue}&l={link}', ticket)).toContain(
      'x=I-7&l=https%3A%2F%2Fmire.example',
    );
  });
  it('is cut, with the link at its end, and never within a character', () => {
    const address = ticketAddress('https://git.example/?b={body}', { ...ticket, body: '锁🙂'.repeat(3000) })!;
    expect(address.length).toBeLessThanOrEqual(7_500);
    expect(decodeURIComponent(address)).toMatch(/…\nhttps:\/\/mire\.example\/shop\/issues\/I-7$/);
  });
  it('does not begin with another scheme', () => {
    expect(ticketAddress('javascript:alert({title})', ticket)).toBeNull();
    expect(ticketAddress('', ticket)).toBeNull();
  });
});

it('a ticket of an issue', () => {
  const link = 'https://mire.example/i/I-1';
  expect(ticketOf('# I-1: `main`\n\nWaits.\n', link)).toEqual({ title: 'I-1: main', body: 'Waits.' });
  const long = ticketOf(`# ${'x'.repeat(300)}\n${'é'.repeat(40_000)}`, link);
  expect([long.title.length, long.body.length]).toEqual([200, 30_000]);
  expect(long.body.endsWith(link)).toBe(true);
});
