/* The reports behind an issue, newest first; each opens in the hottest stack. */

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api } from '../../api/client';
import type { ReportRow } from '../../api/types';
import { lang, say } from '../../lib/i18n';
import { query } from '../../lib/location';
import { useQuery } from '../../lib/query';
import { duration } from '../../lib/units';
import { bytes, exact } from '../../model/format';
import { href, isMemory } from '../../model/view';
import { Ago, announce, Loaded, Moment } from '../parts';
import { Kept } from './stack';

export function ReportsTab({ app, id }: { app: string; id: string }): JSX.Element {
  const { t, v } = query.value;
  const result = useQuery(['reports', app, id, t, v], (signal) => api.reports(app, id, { t, v }, signal));
  const [more, setMore] = useState<{ after: string; rows: ReportRow[]; next: string | null }>();
  return (
    <Loaded result={result} rows={10} label={say('reports')}>
      {(data) => {
        const extra = more && more.after === data.next ? more : { rows: [], next: data.next };
        const load = async () => {
          const cursor = extra.next;
          if (!cursor || !data.next) return;
          const page = await api.reports(app, id, { t, v, cursor }, new AbortController().signal);
          setMore({ after: data.next, rows: [...extra.rows, ...page.reports], next: page.next });
        };
        const rows = [...data.reports, ...extra.rows];
        return (
          <>
            <Table app={app} id={id} rows={rows} />
            <p class="row">
              {extra.next ? (
                <button type="button" onClick={() => load().catch((error: Error) => announce(error.message))}>
                  {say('Show more')}
                </button>
              ) : null}
              <span class="dim">
                {say('{n} of {total}', { n: exact(rows.length, lang.value), total: exact(data.kept, lang.value) })}
              </span>
              {data.total > data.kept ? <Kept kept={data.kept} all={data.total} /> : null}
            </p>
          </>
        );
      }}
    </Loaded>
  );
}

function told(value: number | null): string {
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
                {memory ? told(row.footprint_bytes) : duration(row.duration_ms)}
                {row.open ? <span class="tag kind-killed">{say('killed')}</span> : null}
              </td>
              {memory ? <td class="num">{told(row.subject_bytes)}</td> : null}
              <td>{row.version}</td>
              <td>
                {row.os_version} <span class="dim">{row.arch}</span>
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
