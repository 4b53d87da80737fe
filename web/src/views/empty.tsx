/* Nothing to show, and what to do about it: either nothing was ever received, or the filters leave nothing. */

import type { JSX } from 'preact';
import { say } from '../lib/i18n';
import { patch, query } from '../lib/location';
import type { DEFAULTS } from '../model/view';
import { copy } from './parts';

export function snippet(app: string): string {
  return [
    `export MIRE_SERVER=${location.origin}`,
    `export MIRE_KEY=$(mire key create ${app})`,
    `mire run -- ./${app}`,
  ].join('\n');
}

/* Shown until the first report comes; whoever shows it looks again every two seconds. */
export function Waiting({ app }: { app: string }): JSX.Element {
  const lines = snippet(app);
  return (
    <section class="empty" aria-label={say('Getting started')}>
      <h2>{say('No report has come yet')}</h2>
      <p>
        {say(
          'Run the program under Mire. When its main loop is busy for longer than the threshold, a report is sent; one that does not hang sends nothing.',
        )}
      </p>
      <pre>{lines}</pre>
      <button type="button" onClick={() => void copy(lines, say('Commands copied'))}>
        {say('Copy')}
      </button>
      <p class="pulse" role="status">
        {say('Waiting for the first report')}
      </p>
    </section>
  );
}

export function NothingLeft({ what }: { what: string }): JSX.Element {
  const { v, kind, state, q, t } = query.value;
  const drops: [string, Partial<typeof DEFAULTS>][] = [];
  if (q !== '') drops.push([`q:${q}`, { q: '' }]);
  if (state.length > 0) drops.push([`state:${state.join(',')}`, { state: [] }]);
  if (kind.length > 0) drops.push([`kind:${kind.join(',')}`, { kind: [] }]);
  if (v.length > 0) drops.push([`v:${v.join(',')}`, { v: [] }]);
  return (
    <section class="empty" aria-label={say('No {what}', { what })}>
      <h2>{say('No {what} here', { what })}</h2>
      <p>
        {drops.length > 0
          ? say('The filters leave nothing over in this range.')
          : say('Nothing was received in this range.')}
      </p>
      <p class="row">
        {drops.map(([label, change]) => (
          <button key={label} type="button" onClick={() => patch(change)}>
            {say('Drop {what}', { what: label })}
          </button>
        ))}
        {t !== '90d' ? (
          <button type="button" onClick={() => patch({ t: '90d' })}>
            {say('Look at 90 days')}
          </button>
        ) : null}
      </p>
    </section>
  );
}
