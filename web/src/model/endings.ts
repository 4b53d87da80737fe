/* How sessions ended, by version. */

import type { Rates } from '../api/types';
import { byVersion } from './rates';

/** Ways in which a session ends, the usual ones first. */
export const ENDINGS = ['normal', 'upgrade', 'background', 'crash', 'hung', 'memory', 'system', 'unknown'] as const;
export type Ending = (typeof ENDINGS)[number];

const ENDING_OF: Readonly<Record<string, Ending>> = {
  clean_exit: 'normal',
  user_quit: 'normal',
  app_upgraded: 'upgrade',
  os_upgraded: 'upgrade',
  rebooted: 'upgrade',
  background_kill: 'background',
  crash: 'crash',
  abort: 'crash',
  watchdog_kill: 'hung',
  foom: 'memory',
  os_kill: 'system',
};

/* Versions whose ends are shown. */
const ENDING_VERSIONS = 6;

/** Of the newest versions, how their sessions ended: shares of all of a version's ends, without those that are 0. */
export function endingsOf(data: Rates): { version: string; shares: [Ending, number][] }[] {
  const sums = new Map<string, Map<Ending, number>>();
  for (const { version, verdict, ends } of data.endings) {
    const of = sums.get(version) ?? new Map<Ending, number>();
    const ending = ENDING_OF[verdict] ?? 'unknown';
    of.set(ending, (of.get(ending) ?? 0) + ends);
    sums.set(version, of);
  }
  const shown = data.versions.map((one) => one.version).filter((version) => sums.has(version));
  return shown
    .sort((a, b) => byVersion(b, a))
    .slice(0, ENDING_VERSIONS)
    .map((version) => {
      const of = sums.get(version)!;
      const all = [...of.values()].reduce((sum, ends) => sum + ends, 0);
      const shares = ENDINGS.map((ending): [Ending, number] => [ending, all > 0 ? (of.get(ending) ?? 0) / all : 0]);
      return { version, shares: shares.filter(([, share]) => share > 0) };
    })
    .filter((row) => row.shares.length > 0);
}
