/* Buttons between the pages of a long table, and the rows that are shown. */

import type { JSX } from 'preact';
import { lang, say } from '../../lib/i18n';
import { exact } from '../../model/format';

interface PagerProps {
  /** The first row that is shown, rows of a page, and all rows. */
  at: number;
  size: number;
  total: number;
  go: (at: number) => void;
}

export function Pager({ at, size, total, go }: PagerProps): JSX.Element | null {
  if (total <= size) return null;
  return (
    <p class="row">
      {at > 0 ? (
        <button type="button" onClick={() => go(at - size)}>
          {say('‹ Previous')}
        </button>
      ) : null}
      {at + size < total ? (
        <button type="button" onClick={() => go(at + size)}>
          {say('Next ›')}
        </button>
      ) : null}
      <span class="dim">
        {say('{from}–{to} of {total}', {
          from: at + 1,
          to: Math.min(at + size, total),
          total: exact(total, lang.value),
        })}
      </span>
    </p>
  );
}
