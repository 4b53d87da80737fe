/* The list of versions, and what a version is compared with. */
import type { Change, Changes, VersionRow } from '../api/types';
import { factor } from './change';
import { precise } from './format';
import { byVersion, direction, LEAST_SESSIONS, RATES, type RateName } from './rates';

/* The other side of a comparison, as the address has it. */
export type Other = { is: 'before' } | { is: 'version'; version: string } | { is: 'week' } | { is: 'range'; t: string };

export function parseOther(cmp: string): Other {
  if (cmp.startsWith('v:')) return { is: 'version', version: cmp.slice(2) };
  if (cmp === 'week') return { is: 'week' };
  return cmp.includes('..') ? { is: 'range', t: cmp } : { is: 'before' };
}

/* The parameters of the question for it. */
export function asked(other: Other): { against?: string; before?: string } {
  if (other.is === 'version') return { against: other.version };
  if (other.is === 'week') return { against: 'week' };
  return other.is === 'range' ? { before: other.t } : {};
}

/* The newest older version with enough sessions to compare with; undefined if there is none. */
export function olderOf(rows: readonly VersionRow[], version: string): VersionRow | undefined {
  const older = rows.filter((row) => row.sessions >= LEAST_SESSIONS && byVersion(row.version, version) < 0);
  return older.sort((a, b) => byVersion(b.version, a.version))[0];
}

/* The version that the page shows when none is named: the newest with enough sessions, or the newest. */
export function firstOf(rows: readonly VersionRow[]): string | null {
  const enough = rows.find((row) => row.sessions >= LEAST_SESSIONS);
  return (enough ?? rows[0])?.version ?? null;
}

export interface Judged {
  worse: RateName[];
  better: RateName[];
}

/* The rates of a version whose intervals part from those of the other. */
export function judge(now: VersionRow, before: VersionRow | undefined): Judged {
  const of = (way: 'worse' | 'better') =>
    before ? RATES.filter((name) => direction(now[name], before[name]) === way) : [];
  return { worse: of('worse'), better: of('better') };
}

/* Shares of the sessions by day of the range, zero where the version had none. */
export function adoption(row: VersionRow, from: Date, to: Date): number[] {
  const DAY = 86_400_000;
  const first = Math.floor(from.getTime() / DAY);
  const days = Math.min(366, Math.max(1, Math.ceil(to.getTime() / DAY) - first));
  const shares = new Map(row.days.map((one) => [Math.floor(Date.parse(one.day) / DAY), one.share]));
  return Array.from({ length: days }, (_, i) => shares.get(first + i) ?? 0);
}

export interface Sorted {
  worse: Change[];
  better: Change[];
  same: Change[];
}

export function sortChanges(data: Changes): Sorted {
  const is = (...verdicts: Change['verdict'][]) => data.issues.filter((one) => verdicts.includes(one.verdict));
  return { worse: is('new', 'worse'), better: is('better', 'gone'), same: is('same') };
}

/* Where a value stands on a scale of `width`, for both sides of a rate. */
export interface Scale {
  at: (value: number) => number;
  top: number;
}

export function scaleOf(highs: readonly number[], width: number): Scale {
  const top = Math.max(...highs, 0) || 1;
  return { at: (value) => (Math.max(0, Math.min(value, top)) / top) * width, top };
}

/* The comparison as text for a release note or a chat. */
export function note(
  data: Changes,
  titles: Readonly<Record<RateName, string>>,
  words: { worse: string; better: string; of: (one: Change) => string },
  link: (id: string) => string,
): string {
  const { before, after } = data;
  const rates = RATES.flatMap((name) => {
    const [was, is] = [before.rates[name], after.rates[name]];
    if (!was || !is) return [];
    return [`- ${titles[name]}: ${precise(was.value, 'en')} → ${precise(is.value, 'en')}`];
  });
  const list = (rows: readonly Change[]) =>
    rows.map((one) => {
      const by = one.ratio.value === null || one.ratio.value === 0 ? '' : ` (${factor(one.ratio.value, 'en')})`;
      return `- [${one.issue.id}](${link(one.issue.id)}) ${one.issue.caller1}: ${words.of(one)}${by}`;
    });
  const { worse, better } = sortChanges(data);
  const parts = [rates.join('\n')];
  if (worse.length > 0) parts.push(`**${words.worse}**\n${list(worse).join('\n')}`);
  if (better.length > 0) parts.push(`**${words.better}**\n${list(better).join('\n')}`);
  return parts.filter((part) => part !== '').join('\n\n');
}
