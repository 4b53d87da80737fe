import { describe, expect, it } from 'vitest';
import { coloursOf } from './colours';

const ORDER = ['1.4', '1.3', '1.2', '1.1', '1.0', '0.9', '0.8'];

describe('colours of versions', () => {
  it('are those of all versions of the app, whichever are shown', () => {
    expect(coloursOf(['1.4', '1.3', '1.2'], ORDER)).toEqual([1, 2, 3]);
    expect(coloursOf(['1.2', '1.1'], ORDER)).toEqual([3, 4]);
    expect(coloursOf(['1.2'], ORDER)).toEqual([3]);
    expect(coloursOf(['0.9', '0.8'], ORDER)).toEqual([1, 2]);
  });

  it('differ between versions that are shown together', () => {
    expect(coloursOf(['1.4', '1.3', '0.9'], ORDER)).toEqual([1, 2, 3]);
    expect(coloursOf(['1.4', '0.9', '1.3'], ORDER)).toEqual([1, 3, 2]);
    expect(coloursOf(['1.4', '1.3', '1.2', '1.1', 'other versions'], ORDER)).toEqual([1, 2, 3, 4, 5]);
    expect(coloursOf(['1.2', 'other versions'], ORDER)).toEqual([3, 1]);
    expect(new Set(coloursOf(['1.4', '1.0', '0.9', '0.8', 'x'], ORDER)).size).toBe(5);
  });

  it('follow the shown order until the app’s versions are known', () => {
    expect(coloursOf(['1.4', '1.3'], [])).toEqual([1, 2]);
    expect(coloursOf([], ORDER)).toEqual([]);
  });

  it('are still colours of more versions than there are', () => {
    expect(coloursOf(ORDER, ORDER).every((one) => one >= 1 && one <= 5)).toBe(true);
  });
});
