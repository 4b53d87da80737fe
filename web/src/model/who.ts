/* The rights of the reader. The server decides; the page leaves out actions that it would refuse. */
import type { Who } from '../api/types';

const RANKS = ['nobody', 'viewer', 'triager', 'admin', 'server'] as const;
export type Rank = (typeof RANKS)[number];

export function rankIn(who: Who | null | undefined, app: string | null): Rank {
  if (!who) return 'nobody';
  if (app !== null && who.demo === app) return 'viewer';
  if (who.is_server_admin) return 'server';
  const held = who.roles.filter((one) => one.app === '*' || one.app === app).map((one) => RANKS.indexOf(one.role));
  return RANKS[Math.max(app === null ? 1 : 0, ...held)]!;
}

/* Until it is known, nothing is left out: the server has the last word. */
export function may(who: Who | null | undefined, app: string | null, least: Rank): boolean {
  return who === undefined || RANKS.indexOf(rankIn(who, app)) >= RANKS.indexOf(least);
}

/* May the reader make apps? Admins of the server may, and the user of a server without accounts. */
export function mayFound(who: Who | null | undefined): boolean {
  return !!who && (who.is_server_admin || (!who.has_account && rankIn(who, null) === 'admin'));
}
