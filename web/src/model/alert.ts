/* Rules that alert, in words, and the values that a form begins with. */
import type { AlertKind, AlertMeasure, AlertReplay, AlertRule, AlertRuleBody } from '../api/types';
import { say } from '../lib/i18n';

export const KINDS: readonly AlertKind[] = [
  'rate',
  'new',
  'growth',
  'silence',
  'missing',
  'quota',
  'guard',
  'regressed',
];
export const MEASURES: readonly Exclude<AlertMeasure, ''>[] = ['lag', 'hang_time', 'foom', 'killed', 'crash'];

const DAY = 86_400;
const HOUR = 3_600;

export function kindName(kind: string): string {
  const names: Record<string, string> = {
    rate: say('A rate'),
    new: say('A new issue'),
    growth: say('An issue that grows'),
    silence: say('No reports'),
    missing: say('Missing symbols'),
    quota: say('The daily budget'),
    guard: say('A guard of a ramp'),
    regressed: say('A regressed issue'),
  };
  return names[kind] ?? kind;
}

/* A fact is there or not: it has no bound and no window. */
export function isFact(kind: string): boolean {
  return kind === 'guard' || kind === 'regressed';
}

export function measureName(measure: string): string {
  const names: Record<string, string> = {
    lag: say('Sessions with a hang'),
    hang_time: say('Hang time per hour'),
    foom: say('Runs out of memory'),
    killed: say('Killed while hung'),
    crash: say('Crashes'),
  };
  return names[measure] ?? measure;
}

/* The unit of a bound. */
export function unitOf(rule: { kind: string; measure?: string; against?: string }): string {
  if (rule.kind === 'rate' && rule.against === 'week') return say('times the week before');
  if (rule.kind === 'rate') return rule.measure === 'hang_time' ? say('seconds an hour') : '%';
  if (rule.kind === 'new') return say('devices');
  if (rule.kind === 'growth') return say('times as often');
  return '%';
}

export function scopeName(scope: string): string {
  if (scope === 'newest') return say('newest version');
  return scope === 'each' ? say('each version') : say('all versions together');
}

export function conditionOf(
  rule: Required<Pick<AlertRule, 'kind' | 'measure' | 'scope' | 'against' | 'bound'>>,
): string {
  const bound = `${rule.bound} ${unitOf(rule)}`;
  switch (rule.kind) {
    case 'rate':
      return say('{what}, {scope}: above {bound}', {
        what: measureName(rule.measure),
        scope: scopeName(rule.scope),
        bound,
      });
    case 'new':
      return say('A new issue on more than {bound}', { bound });
    case 'growth':
      return say('An issue is {bound} as frequent as usual', { bound });
    case 'silence':
      return say('Reports below {bound} of the usual', { bound });
    case 'missing':
      return say('Reports without a name above {bound}', { bound });
    case 'quota':
      return say('More than {bound} of the daily budget used', { bound });
    case 'regressed':
      return say('A resolved issue has regressed in a later version');
    default:
      return say('A guard of a ramp');
  }
}

export function windowOf(rule: Pick<AlertRule, 'kind' | 'window_s'>): string {
  if (rule.kind === 'new') return say('in its first {n|day|days}', { n: rule.window_s / DAY });
  if (rule.kind === 'growth' || rule.kind === 'silence') return say('in {n|hour|hours}', { n: rule.window_s / HOUR });
  return isFact(rule.kind) ? '' : say('by day');
}

/* The numbers that a kind begins with. */
export function preset(kind: AlertKind): Pick<AlertRuleBody, 'bound' | 'window_s'> {
  switch (kind) {
    case 'new':
      return { bound: 500, window_s: 7 * DAY };
    case 'growth':
      return { bound: 3, window_s: HOUR };
    case 'silence':
      return { bound: 10, window_s: HOUR };
    case 'missing':
      return { bound: 5, window_s: DAY };
    case 'quota':
      return { bound: 80, window_s: DAY };
    case 'guard':
    case 'regressed':
      return { bound: 0, window_s: 0 };
    default:
      return { bound: 2.5, window_s: DAY };
  }
}

/* "22:00" and minutes of the day. */
export function clockOf(minutes: number): string {
  return `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
}

export function minutesOf(clock: string): number | undefined {
  const match = /^(\d\d):(\d\d)$/.exec(clock);
  return match ? Number(match[1]) * 60 + Number(match[2]) : undefined;
}

export interface Drawn {
  line: string;
  band: string;
  bound: string;
  marks: { x: number; y: number }[];
  most: number;
}

/* The values of one subject as lines in a box, the interval as a band. Parts without a value are left out. */
export function draw(points: AlertReplay['subjects'][number]['points'], width: number, height: number): Drawn {
  const known = points.filter((one) => one.value !== null);
  const highest = Math.max(...known.map((one) => Math.min(one.high!, 4 * Math.max(one.value!, one.bound ?? 0))), 0);
  const most = Math.max(highest, ...points.map((one) => one.bound ?? 0)) * 1.08 || 1;
  const first = points.length > 0 ? Date.parse(points[0]!.at) : 0;
  const last = points.length > 0 ? Date.parse(points.at(-1)!.at) : 1;
  const x = (at: string) =>
    last === first ? width / 2 : ((Date.parse(at) - first) / (last - first)) * (width - 8) + 4;
  const y = (value: number) => height - 2 - (Math.min(value, most) / most) * (height - 8);
  const at = (px: number, py: number) => `${px.toFixed(1)},${py.toFixed(1)}`;
  return {
    line: known.map((one) => at(x(one.at), y(one.value!))).join(' '),
    band: [
      ...known.map((one) => at(x(one.at), y(one.high!))),
      ...known.toReversed().map((one) => at(x(one.at), y(one.low!))),
    ].join(' '),
    bound: points
      .filter((one) => one.bound !== null)
      .map((one) => at(x(one.at), y(one.bound!)))
      .join(' '),
    marks: points.filter((one) => one.fired).map((one) => ({ x: x(one.at), y: y(one.value ?? 0) })),
    most,
  };
}
