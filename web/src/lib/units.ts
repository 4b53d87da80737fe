/* Lengths of time in the page's language. */
import * as format from '../model/format';
import { lang } from './i18n';

export function duration(ms: number): string {
  return format.duration(ms, lang.value);
}

export function nanoseconds(ns: number): string {
  return format.nanoseconds(ns, lang.value);
}
