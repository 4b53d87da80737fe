/* The buttons of a list whose newest rows come first: back to the newest rows, and on to the older ones. */

import type { JSX } from 'preact';
import { say } from '../lib/i18n';

/* `before` is the id that all rows shown are below; 0 shows the newest. `more`: rows older than `rows` exist. */
export function Older(props: {
  before: number;
  set: (before: number) => void;
  more: boolean;
  rows: readonly { id: number }[];
}): JSX.Element {
  const last = props.rows.at(-1);
  return (
    <p class="buttons">
      {props.before > 0 ? (
        <button type="button" onClick={() => props.set(0)}>
          {say('Newest')}
        </button>
      ) : null}
      {props.more && last ? (
        <button type="button" onClick={() => props.set(last.id)}>
          {say('Older')}
        </button>
      ) : null}
    </p>
  );
}
