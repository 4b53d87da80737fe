/* Numbers and times as text. Everything is given as argument, so that equal input gives equal text. */

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export function count(value: number, lang: string): string {
  if (value >= 10_000) {
    return new Intl.NumberFormat(lang, { notation: 'compact', maximumSignificantDigits: 3 }).format(value);
  }
  return new Intl.NumberFormat(lang, { maximumFractionDigits: value < 10 && value % 1 !== 0 ? 1 : 0 }).format(value);
}

export function exact(value: number, lang: string): string {
  return new Intl.NumberFormat(lang, { maximumFractionDigits: 2 }).format(value);
}

/* Two significant figures: 0.034, 2.0, 47. */
export function precise(value: number, lang: string): string {
  return new Intl.NumberFormat(lang, {
    minimumSignificantDigits: value === 0 ? 1 : 2,
    maximumSignificantDigits: Math.abs(value) >= 100 ? 3 : 2,
  }).format(value);
}

export function percent(share: number, lang: string): string {
  if (share > 0 && share < 0.00005) return `<${percent(0.0001, lang)}`;
  const digits = share > 0 && share < 0.01 ? 2 : share > 0 && share < 0.1 ? 1 : 0;
  const text = new Intl.NumberFormat(lang, { style: 'percent', maximumFractionDigits: digits }).format(share);
  return text.replace(/\s?%$/, '\u00a0%'); /* as the SI has it, and as all texts of the page do */
}

/* Units of time in a language; where there is none, those of English. */
const TIMES: Record<string, Readonly<Record<'ns' | 'us' | 'ms' | 's' | 'min' | 'h' | 'd', string>>> = {
  en: { ns: 'ns', us: 'µs', ms: 'ms', s: 's', min: 'min', h: 'h', d: 'd' },
  'zh-CN': { ns: '纳秒', us: '微秒', ms: '毫秒', s: '秒', min: '分', h: '小时', d: '天' },
};

function timesOf(lang: string): (typeof TIMES)[string] {
  return TIMES[lang] ?? TIMES.en!;
}

/* 480 ms, 1.2 s, 12 s, 3 min 20 s, 2 h 5 min, 3.1 d: two significant figures, in a stable unit. */
export function duration(ms: number, lang = 'en'): string {
  const unit = timesOf(lang);
  if (ms < 999.5) return `${Math.round(ms)} ${unit.ms}`;
  if (ms < 9950) return `${(ms / 1000).toFixed(1)} ${unit.s}`;
  if (ms < MINUTE - 500) return `${Math.round(ms / 1000)} ${unit.s}`;
  if (ms < HOUR - 500) return pair(Math.round(ms / 1000), 60, unit.min, unit.s);
  if (ms < DAY - MINUTE / 2) return pair(Math.round(ms / MINUTE), 60, unit.h, unit.min);
  return `${(ms / DAY).toFixed(1)} ${unit.d}`;
}

function pair(value: number, base: number, large: string, small: string): string {
  const rest = value % base;
  const whole = `${Math.floor(value / base)} ${large}`;
  return rest === 0 ? whole : `${whole} ${rest} ${small}`;
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/* The index of the unit for a number of bytes. */
function unitOf(value: number): number {
  let unit = 0;
  for (; value >= 1023.5 && unit < UNITS.length - 1; unit++) value /= 1024;
  return unit;
}

function inUnit(value: number, unit: number): string {
  const scaled = value / 1024 ** unit;
  return scaled >= 100 || unit === 0 ? `${Math.round(scaled)}` : scaled.toFixed(1);
}

export function bytes(value: number): string {
  const unit = unitOf(value);
  return `${inUnit(value, unit)} ${UNITS[unit]}`;
}

/*
 * The error of an estimate, written after it: ± 0.8 after 12.3 MiB, ± 83 KiB if it would be 0.1. An error above the
 * estimate gives the upper bound: (≤ 4.2 MiB). Empty after an exact number.
 */
export function offBytes(value: number, error: number | null): string {
  if (!error) return '';
  if (error > value) return `(≤ ${bytes(value + error)})`;
  const unit = unitOf(value);
  return unitOf(error) <= unit && error >= 0.1 * 1024 ** unit ? `± ${inUnit(error, unit)}` : `± ${bytes(error)}`;
}

export function offCount(value: number, error: number | null, lang: string): string {
  if (!error) return '';
  const roughly = new Intl.NumberFormat(lang, { maximumSignificantDigits: 2 });
  return error > value ? `(≤ ${roughly.format(value + error)})` : `± ${roughly.format(error)}`;
}

/* An amount in the unit of a flame graph: time, bytes or objects. */
export function amount(value: number, unit: 'ms' | 'bytes' | 'objects', lang: string): string {
  if (unit === 'ms') return duration(value, lang);
  return unit === 'bytes' ? bytes(value) : count(value, lang);
}

export function nanoseconds(ns: number, lang = 'en'): string {
  const unit = timesOf(lang);
  if (ns < 1e3) return `${ns} ${unit.ns}`;
  if (ns < 999_950) return `${(ns / 1e3).toFixed(1)} ${unit.us}`;
  return ns < 999_950_000 ? `${(ns / 1e6).toFixed(1)} ${unit.ms}` : duration(ns / 1e6, lang);
}

/* 3 minutes ago, in words of the language. */
export function ago(at: Date, now: Date, lang: string): string {
  const words = new Intl.RelativeTimeFormat(lang, { numeric: 'auto', style: 'short' });
  const gap = at.getTime() - now.getTime();
  const size = Math.abs(gap);
  if (size < MINUTE - 500) return words.format(Math.round(gap / 1000), 'second');
  if (size < HOUR - MINUTE / 2) return words.format(Math.round(gap / MINUTE), 'minute');
  if (size < 2 * DAY) return words.format(Math.round(gap / HOUR), 'hour');
  return words.format(Math.round(gap / DAY), 'day');
}

export type Zone = 'local' | 'utc';

function zoned(zone: Zone, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormatOptions {
  return zone === 'utc' ? { ...options, timeZone: 'UTC' } : options;
}

export function moment(at: Date, zone: Zone, lang: string, seconds = false): string {
  const options: Intl.DateTimeFormatOptions = {
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hour12: false,
    ...(seconds ? { second: '2-digit' } : {}),
  };
  const text = new Intl.DateTimeFormat(lang, zoned(zone, options)).format(at);
  return zone === 'utc' ? `${text} UTC` : text;
}

export function clock(at: Date, zone: Zone, lang: string): string {
  return new Intl.DateTimeFormat(lang, zoned(zone, { hour: '2-digit', minute: '2-digit', hour12: false })).format(at);
}

export function day(at: Date, zone: Zone, lang: string): string {
  return new Intl.DateTimeFormat(lang, zoned(zone, { day: 'numeric', month: 'short' })).format(at);
}
