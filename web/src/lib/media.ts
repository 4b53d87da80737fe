/* The width of the window: the style sheets know it by the same limits. */
import { type ReadonlySignal, signal } from '@preact/signals';

function follow(condition: string): ReadonlySignal<boolean> {
  const list = matchMedia(condition);
  const is = signal(list.matches);
  list.addEventListener('change', () => {
    is.value = list.matches;
  });
  return is;
}

/* A phone's: the filters are in a sheet. */
export const isSmall = follow('(max-width: 760px)');
/* Room for the list beside an issue. */
export const isWide = follow('(min-width: 1680px)');
