/* Whether the server tells changes (lib/follow.ts), so that queries need not ask at intervals. */
import { signal } from '@preact/signals';

export const live = signal(false);

/* The time to the next look at something that the server tells changes of. */
export function idle(ms: number): number | false {
  return live.value ? false : ms;
}
