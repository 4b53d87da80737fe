/* An empty page and the next step: either no report was ever received, or the filters leave none. */

import type { JSX } from 'preact';
import { api } from '../api/client';
import { say } from '../lib/i18n';
import { patch, query } from '../lib/location';
import { useQuery } from '../lib/query';
import { useSignIn } from '../lib/who';
import { type DEFAULTS, FACETS, plainText } from '../model/view';
import { listQuery } from './issues/asked';
import { Late } from './late';

const loadConnect = () => import('./start/start').then((module) => module.Connect);

/* Shown until the first report arrives. */
export function Waiting({ app }: { app: string }): JSX.Element {
  if (useSignIn()?.who?.demo === app)
    return (
      <section class="empty" aria-busy="true">
        <h2>{say('The invented reports are being worked on')}</h2>
        <p>{say('The page shows them as they come.')}</p>
      </section>
    );
  return (
    <>
      <h2>{say('No reports yet')}</h2>
      <Late load={loadConnect} props={{ app }} label={say('Connect {app}', { app })} />
    </>
  );
}

/* No issue of memory: nothing was killed, or nothing watches. */
export function NoMemory(): JSX.Element {
  return (
    <section class="empty" aria-label={say('No memory issues')}>
      <h2>{say('No memory issues in this range')}</h2>
      <p>
        {say(
          'A report is sent when a process is killed because it is out of memory, when memory is low, or when the app requests one.',
        )}
      </p>
      <pre>{['MIRE_MEMORY=exact mire run -- ./app', 'mire_memory_report("what for");'].join('\n')}</pre>
    </section>
  );
}

type Drop = [label: string, change: Partial<typeof DEFAULTS>];

/* The filter without which most issues would be left: each is tried alone. */
function useWorst(app: string, drops: readonly Drop[]): Drop | undefined {
  const base = query.value;
  const key = ['without', app, base.t, base.v, base.kind, base.state, base.q, ...FACETS.map((facet) => base[facet])];
  const result = useQuery(
    key,
    async (signal) => {
      const left = drops.map(([, change]) =>
        api.issues(app, { ...listQuery({ ...base, ...change, after: '' }, false), limit: 1 }, signal),
      );
      const totals = (await Promise.all(left)).map((list) => list.totals.events);
      const most = Math.max(...totals);
      return most > 0 ? totals.indexOf(most) : -1;
    },
    { enabled: drops.length > 1, keep: false },
  );
  return drops.length > 1 ? drops[result.data ?? -1] : undefined;
}

export function NothingLeft({ app, what }: { app: string; what: string }): JSX.Element {
  const { v, kind, state, q, t } = query.value;
  const drops: Drop[] = [];
  if (q !== '') drops.push([`q:${q}`, { q: '' }]);
  if (state.length > 0) drops.push([`state:${state.join(',')}`, { state: [] }]);
  if (kind.length > 0) drops.push([`kind:${kind.join(',')}`, { kind: [] }]);
  for (const facet of FACETS) {
    const values = query.value[facet];
    if (values.length > 0) drops.push([`${facet}:${values.map(plainText).join(',')}`, { [facet]: [] }]);
  }
  if (v.length > 0) drops.push([`v:${v.join(',')}`, { v: [] }]);
  const worst = useWorst(app, drops);
  return (
    <section class="empty" aria-label={say('No {what}', { what })}>
      <h2>{say('No {what} here', { what })}</h2>
      <p>
        {drops.length === 0
          ? say('Nothing was received in this range.')
          : worst
            ? say('{what} hides the most.', { what: worst[0] })
            : say('Nothing in this range matches the filters.')}
      </p>
      <p class="row">
        {drops.map((drop) => (
          <button
            key={drop[0]}
            type="button"
            class={drop === worst ? 'primary' : undefined}
            onClick={() => patch(drop[1])}
          >
            {say('Remove {what}', { what: drop[0] })}
          </button>
        ))}
        {t !== '90d' ? (
          <button type="button" onClick={() => patch({ t: '90d' })}>
            {say('Show 90 days')}
          </button>
        ) : null}
      </p>
    </section>
  );
}
