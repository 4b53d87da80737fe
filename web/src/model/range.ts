/* Ranges of time: the `t` key. Relative ones count back from now; absolute ones are whole UTC hours. */

export interface Span {
  from: Date;
  to: Date;
}

const HOUR = 3_600_000;
const UNITS: Record<string, number> = { m: 60_000, h: HOUR, d: 24 * HOUR };

export const PRESETS: readonly string[] = ['1h', '24h', '7d', '14d', '30d', '90d'];

function instant(text: string): Date | null {
  const full = /^\d{4}-\d\d-\d\dT\d\dZ$/.test(text) ? text.replace('Z', ':00:00Z') : text;
  const time = Date.parse(full);
  return Number.isNaN(time) ? null : new Date(time);
}

/* The span of `t` at `now`, or null if `t` is no range. */
export function resolve(t: string, now: Date): Span | null {
  const relative = /^(\d{1,4})([mhd])$/.exec(t);
  if (relative) {
    const width = Number(relative[1]) * (UNITS[relative[2]!] ?? 0);
    return width > 0 ? { from: new Date(now.getTime() - width), to: now } : null;
  }
  const [from, to, more] = t.split('..').map(instant);
  if (!from || !to || more !== undefined || from >= to) return null;
  return { from, to };
}

export function isRelative(t: string): boolean {
  return !t.includes('..');
}

function hour(time: number): string {
  return `${new Date(time).toISOString().slice(0, 13)}Z`;
}

/* The absolute form, widened to whole hours. */
export function absolute(span: Span): string {
  const from = Math.floor(span.from.getTime() / HOUR) * HOUR;
  const to = Math.max(Math.ceil(span.to.getTime() / HOUR) * HOUR, from + HOUR);
  return `${hour(from)}..${hour(to)}`;
}

/* Moved by its own width: -1 back, 1 forward. */
export function shift(span: Span, direction: -1 | 1): Span {
  const width = (span.to.getTime() - span.from.getTime()) * direction;
  return { from: new Date(span.from.getTime() + width), to: new Date(span.to.getTime() + width) };
}

/* Twice as wide, with the same middle. */
export function widen(span: Span): Span {
  const half = (span.to.getTime() - span.from.getTime()) / 2;
  return { from: new Date(span.from.getTime() - half), to: new Date(span.to.getTime() + half) };
}
