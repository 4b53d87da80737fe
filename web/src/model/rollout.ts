/* A rollout as people read and change it: conditions in words, shares, and the difference between two sets of rules. */
import type { Ramp, Rollout, RolloutRule, RolloutRules } from '../api/types';

export const PLUGINS = ['hang', 'memory', 'exit', 'session'] as const;
export type Plugin = (typeof PLUGINS)[number];

/* 2, 0.5, 0.0001: a probability in percent, without the dust of binary fractions. */
export function percentOf(probability: number): string {
  return String(Number((probability * 100).toPrecision(6)));
}

/* A share typed in percent; null: it is none from 0 to 100. */
export function probabilityOf(text: string): number | null {
  const value = Number(text.replace('%', '').replace(',', '.').trim());
  return text.trim() !== '' && value >= 0 && value <= 100 ? Number((value / 100).toPrecision(8)) : null;
}

export interface Words {
  everyone: string;
  whitelist: (n: number) => string;
  between: (from: string, to: string) => string;
  from: (from: string) => string;
  to: (to: string) => string;
  share: (from: string, to: string) => string;
}

function range(words: Words, name: string, given: { from?: string; to?: string } | undefined): string[] {
  if (!given || (!given.from && !given.to)) return [];
  const text = given.from
    ? given.to
      ? words.between(given.from, given.to)
      : words.from(given.from)
    : words.to(given.to!);
  return [`${name} ${text}`];
}

/* The installations of a rule, in words. */
export function whenOf(rule: RolloutRule, words: Words, names: Record<'version' | 'os_version', string>): string {
  const when = rule.when ?? {};
  const lists = [when.channels, when.os, when.classes, when.archs].flatMap((one) =>
    one ? [one.join(', ') || '—'] : [],
  );
  const parts = [
    ...lists,
    ...range(words, names.version, when.versions),
    ...range(words, names.os_version, when.os_versions),
    ...(when.installs ? [words.whitelist(when.installs.length)] : []),
    ...(when.share ? [words.share(percentOf(when.share.from), percentOf(when.share.to))] : []),
  ];
  return parts.length === 0 ? words.everyone : parts.join(' · ');
}

export interface ShareChange {
  rule: string;
  plugin: string;
  from: number;
  to: number;
}

/* The shares that differ between two sets of rules with the same rules in them. */
export function shareChanges(from: RolloutRules, to: RolloutRules): ShareChange[] {
  return to.rules.flatMap((rule, i) => {
    const before = from.rules[i];
    if (before?.name !== rule.name) return [];
    return Object.entries(rule.plugins ?? {}).flatMap(([plugin, now]) => {
      const was = before.plugins?.[plugin];
      return was && was.probability !== now.probability
        ? [{ rule: rule.name, plugin, from: was.probability, to: now.probability }]
        : [];
    });
  });
}

/* The same rules with another share of a plugin in one of them. */
export function withShare(rules: RolloutRules, rule: string, plugin: string, probability: number): RolloutRules {
  return {
    ...rules,
    rules: rules.rules.map((one) => {
      const had = one.plugins?.[plugin];
      return one.name === rule && had
        ? { ...one, plugins: { ...one.plugins, [plugin]: { ...had, probability } } }
        : one;
    }),
  };
}

export interface Answered {
  channel: string;
  sessions: number;
  records: number;
  /** By plugin: share of the sessions in which it ran. */
  share: Record<Plugin, number>;
  /** By plugin: that share by day. */
  days: Record<Plugin, number[]>;
}

/* The answers of the devices by channel, most sessions first; shares of the newest two days, which a change shows in first. */
export function answeredBy(answered: Rollout['answered']): Answered[] {
  const days = [...new Set(answered.map((one) => one.day))].sort();
  const recent = new Set(days.slice(-2));
  const channels = [...new Set(answered.map((one) => one.channel))];
  const rows = channels.map((channel) => {
    const of = answered.filter((one) => one.channel === channel);
    const last = of.filter((one) => recent.has(one.day));
    const sessions = last.reduce((sum, one) => sum + one.sessions, 0);
    const share = {} as Record<Plugin, number>;
    const byDay = {} as Record<Plugin, number[]>;
    for (const plugin of PLUGINS) {
      const on = last.reduce((sum, one) => sum + (one.on[plugin] ?? 0), 0);
      share[plugin] = sessions > 0 ? on / sessions : 0;
      byDay[plugin] = days.map((day) => {
        const one = of.find((row) => row.day === day);
        return one && one.sessions > 0 ? (one.on[plugin] ?? 0) / one.sessions : 0;
      });
    }
    return { channel, sessions, records: last.reduce((sum, one) => sum + one.records, 0), share, days: byDay };
  });
  return rows.sort((a, b) => b.sessions - a.sessions);
}

/* When a running ramp may take its next step at the earliest; null for one that does not run. */
export function nextStepAt(ramp: Ramp): Date | null {
  if (ramp.state !== 'running') return null;
  return new Date(Date.parse(ramp.step_since) + ramp.hold_s * 1000);
}

/* Shares typed as "1, 5, 20": rising, from 0 to 100 %. Null: they are not. */
export function stepsOf(text: string): number[] | null {
  const steps = text.split(/[\s,;]+/).filter((one) => one !== '');
  const shares = steps.map(probabilityOf);
  const good = shares.every((one, i) => one !== null && one > 0 && (i === 0 || one > (shares[i - 1] ?? 1)));
  return good && shares.length > 0 && shares.length <= 16 ? (shares as number[]) : null;
}
