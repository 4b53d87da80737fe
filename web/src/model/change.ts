/* How much something changed, as a badge says it. */
import type { Change } from '../api/types';
import { say } from '../lib/i18n';
import { percent } from './format';

/* new, ×6.1, −97 %, gone: what the verdict and the ratio say. */
export function times(one: Pick<Change, 'verdict' | 'ratio'>, lang: string): string {
  const ratio = one.ratio.value;
  if (ratio === null) return one.verdict === 'new' ? say('new') : '';
  return factor(ratio, lang);
}

/* ×6.2, ×28, −97 %: a ratio as people say it. */
export function factor(ratio: number, lang: string): string {
  if (ratio >= 1)
    return `×${new Intl.NumberFormat(lang, { minimumFractionDigits: ratio < 10 ? 1 : 0, maximumFractionDigits: ratio < 10 ? 1 : 0 }).format(ratio)}`;
  return `−${percent(1 - ratio, lang)}`;
}
