/* The reports behind an issue, newest first; each opens in the hottest stack. */

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api, type ReportsWanted } from '../../api/client';
import type { ReportRow } from '../../api/types';
import { lang, say } from '../../lib/i18n';
import { patch, query } from '../../lib/location';
import { useQuery } from '../../lib/query';
import { duration } from '../../lib/units';
import { systemWord } from '../../lib/words';
import { bytes, exact } from '../../model/format';
import { href, isMemory } from '../../model/view';
import { Exports } from '../exports';
import { Ago, announce, Loaded, Moment } from '../parts';
import { Choice } from '../people/forms';
import { Kept } from './stack';

export function ReportsTab({ app, id }: { app: string; id: string }): JSX.Element {
  const { t, v, r } = query.value;
  const wanted = wantedOf(r);
  const result = useQuery(['reports', app, id, t, v, r], (signal) => api.reports(app, id, { t, v, ...wanted }, signal));
  const [more, setMore] = useState<{ after: string; rows: ReportRow[]; next: string | null }>();
  return (
    <>
      <Find key={r} given={r} />
      <Loaded result={result} rows={10} label={say('reports')}>
        {(data) => {
          const extra = more && more.after === data.next ? more : { rows: [], next: data.next };
          const load = async () => {
            const cursor = extra.next;
            if (!cursor || !data.next) return;
            const page = await api.reports(app, id, { t, v, ...wanted, cursor }, new AbortController().signal);
            setMore({ after: data.next, rows: [...extra.rows, ...page.reports], next: page.next });
          };
          const rows = [...data.reports, ...extra.rows];
          return (
            <>
              {rows.length > 0 || !r ? <Table app={app} id={id} rows={rows} /> : <None more={extra.next !== null} />}
              <p class="row">
                {extra.next ? (
                  <button type="button" onClick={() => load().catch((error: Error) => announce(error.message))}>
                    {say('Show more')}
                  </button>
                ) : null}
                <span class="dim">
                  {r
                    ? say('{n} found', { n: exact(rows.length, lang.value) })
                    : say('{n} of {total}', { n: exact(rows.length, lang.value), total: keptText(data.kept) })}
                </span>
                {data.kept < COUNTED && data.total > data.kept ? <Kept kept={data.kept} all={data.total} /> : null}
              </p>
              <Exports
                path={`apps/${app}/issues/${id}/reports`}
                asked={{ t, v, ...wanted, limit: 200 }}
                of={say('Reports')}
              />
            </>
          );
        }}
      </Loaded>
    </>
  );
}

/** Reports that the server counts at most. */
const COUNTED = 10_000;

function keptText(kept: number): string {
  return exact(kept, lang.value) + (kept < COUNTED ? '' : '+');
}

function None({ more }: { more: boolean }): JSX.Element {
  return (
    <p>
      {more ? say('No such report so far; older ones are not searched yet.') : say('No such report in this range.')}
    </p>
  );
}

type What = keyof ReportsWanted;

/* "tag=plan=trial" is the tag plan=trial. */
function wantedOf(r: string): ReportsWanted {
  const [, what, value] = /^(user|scene|tag)=(.+)$/.exec(r) ?? [];
  return what && value ? { [what]: value } : {};
}

/* The reports of a user, of a scene, or with a tag. */
function Find({ given }: { given: string }): JSX.Element {
  const [first] = Object.entries(wantedOf(given)) as [What, string][];
  const [what, setWhat] = useState<What>(first?.[0] ?? 'user');
  const [value, setValue] = useState(first?.[1] ?? '');
  const notes: Record<What, string> = {
    user: say('Id or hash'),
    scene: say('Name of the scene'),
    tag: say('name=value of a tag kept'),
  };
  const submit = (event: Event) => {
    event.preventDefault();
    patch({ r: value.trim() ? `${what}=${value.trim()}` : '' }, true);
  };
  return (
    <form class="row find" role="search" aria-label={say('Find reports')} onSubmit={submit}>
      <Choice
        label={say('Reports with')}
        value={what}
        set={setWhat}
        options={[
          ['user', say('user')],
          ['scene', say('scene')],
          ['tag', say('tag')],
        ]}
      />
      <input
        type="search"
        aria-label={notes[what]}
        placeholder={notes[what]}
        value={value}
        autocapitalize="off"
        spellcheck={false}
        onInput={(event) => setValue(event.currentTarget.value)}
      />
      <button type="submit">{say('Find')}</button>
      {given ? (
        <button type="button" onClick={() => patch({ r: '' }, true)}>
          {say('Show all')}
        </button>
      ) : null}
    </form>
  );
}

function sizeOf(value: number | null): string {
  return value === null ? '—' : bytes(value);
}

function Table({ app, id, rows }: { app: string; id: string; rows: readonly ReportRow[] }): JSX.Element {
  const memory = isMemory(id);
  return (
    <div class="scroll" role="region" aria-label={say('Reports table')} tabIndex={0}>
      <table class="tight">
        <caption class="offscreen">{say('Reports, newest first')}</caption>
        <thead>
          <tr>
            <th scope="col">{say('Began')}</th>
            <th scope="col" class="num">
              {memory ? say('Footprint') : say('Lasted')}
            </th>
            {memory ? (
              <th scope="col" class="num">
                {say('Held by the category')}
              </th>
            ) : null}
            <th scope="col">{say('Version')}</th>
            <th scope="col">{say('System')}</th>
            <th scope="col">{say('Process')}</th>
            <th scope="col">{say('Installation')}</th>
            <th scope="col" class="num">
              {say('Received')}
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id}>
              <th scope="row">
                <a
                  href={href(
                    { name: 'issue', app, id },
                    { ...query.value, tab: memory ? 'held' : 'stack', n: row.id, s: null },
                  )}
                >
                  <Moment at={row.occurred_at} seconds />
                </a>
              </th>
              <td class="num">
                {memory ? sizeOf(row.footprint_bytes) : duration(row.duration_ms)}
                {row.open ? <span class="tag kind-killed">{say('killed')}</span> : null}
              </td>
              {memory ? <td class="num">{sizeOf(row.subject_bytes)}</td> : null}
              <td>{row.version}</td>
              <td>
                {systemWord(`${row.os} ${row.os_version}`)} <span class="dim">{row.arch}</span>
              </td>
              <td>{row.process}</td>
              <td>
                <code title={row.install}>{row.install.slice(0, 8)}</code>
              </td>
              <td class="num">
                <Ago at={row.received_at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
