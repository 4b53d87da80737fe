/* The memory of an issue's processes, over all its reports: medians, and the number of times that each category was
 * suspect. */

import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { api } from '../../api/client';
import type { CategorySpread, IssueMemory } from '../../api/types';
import { gap, lang, say } from '../../lib/i18n';
import { query } from '../../lib/location';
import { type Result, useQuery } from '../../lib/query';
import { bytes, count, exact, percent } from '../../model/format';
import { spreadsOf, times } from '../../model/memory';
import { Exports } from '../exports';
import { Bar, Loaded } from '../parts';
import { kindOfCategory } from './held-table';
import { Pager } from './pager';

const PAGE = 50;

/* The memory of all processes of an issue. */
export function useHeld(app: string, id: string): Result<IssueMemory> {
  const { t, v } = query.value;
  return useQuery(['issue-memory', app, id, t, v], (signal) => api.issueMemory(app, id, { t, v }, signal));
}

export function HeldByAll({ app, id }: { app: string; id: string }): JSX.Element {
  const { t, v } = query.value;
  const result = useHeld(app, id);
  return (
    <Loaded result={result} rows={14} label={say('categories')}>
      {(data) => (
        <>
          <Body data={data} />
          <Exports path={`apps/${app}/issues/${id}/memory`} asked={{ t, v }} of={say('Categories over all reports')} />
        </>
      )}
    </Loaded>
  );
}

function Body({ data }: { data: IssueMemory }): JSX.Element {
  const [from, setFrom] = useState(0);
  const held = useMemo(() => spreadsOf(data), [data]);
  const at = from < held.length ? from : 0;
  const rows = held.slice(at, at + PAGE);
  const { healthy } = data;
  return (
    <>
      <p class="verdict">
        {say('Half of the processes took more than {p50}, 1 in 10 more than {p90}.', {
          p50: bytes(data.footprint_bytes.p50),
          p90: bytes(data.footprint_bytes.p90),
        })}
        {gap()}
        <span class="dim">
          {healthy
            ? say('Healthy processes of these versions take {bytes}, by {n|baseline|baselines}.', {
                bytes: bytes(healthy.footprint_bytes.p50),
                n: exact(healthy.reports, lang.value),
              })
            : say('No healthy process of these versions is known.')}
        </span>
      </p>
      <div class="scroll" role="region" aria-label={say('Categories over all reports')} tabIndex={0}>
        <table class="tight categories">
          <caption class="offscreen">{say('Categories, most bytes above healthy first')}</caption>
          <thead>
            <tr>
              <th scope="col">{say('Category')}</th>
              <th scope="col" class="num">
                {say('Suspect in')}
              </th>
              <th scope="col" class="num">
                {say('Median')}
              </th>
              <th scope="col" class="num">
                p90
              </th>
              <th scope="col" class="num mid-only">
                {say('# median')}
              </th>
              <th scope="col" class="num mid-only">
                # p90
              </th>
              {healthy ? (
                <th scope="col" class="num">
                  {say('vs healthy')}
                </th>
              ) : null}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <SpreadRow key={`${row.kind}:${row.name}`} row={row} compared={healthy !== null} />
            ))}
          </tbody>
        </table>
      </div>
      <Pager at={at} size={PAGE} total={held.length} go={setFrom} />
    </>
  );
}

function SpreadRow({ row, compared }: { row: CategorySpread; compared: boolean }): JSX.Element {
  const ratio = times(row.bytes.p50, row.healthy_bytes ?? undefined);
  const text = ratio === Number.POSITIVE_INFINITY ? say('new') : `×${(ratio ?? 0).toFixed(1)}`;
  return (
    <tr>
      <th scope="row">
        {row.name || '—'} <span class="dim small">{kindOfCategory(row)}</span>
      </th>
      <td class="num share">
        {row.suspect_share > 0 ? (
          <>
            <Bar share={row.suspect_share} kind="r-app" /> {percent(row.suspect_share, lang.value)}
          </>
        ) : (
          <span class="dim">—</span>
        )}
      </td>
      <td class="num">{bytes(row.bytes.p50)}</td>
      <td class="num">{bytes(row.bytes.p90)}</td>
      <td class="num mid-only">{count(row.objects.p50, lang.value)}</td>
      <td class="num mid-only">{count(row.objects.p90, lang.value)}</td>
      {compared ? (
        <td class="num">{ratio === null ? '—' : <span class={ratio >= 2 ? 'rose' : ''}>{text}</span>}</td>
      ) : null}
    </tr>
  );
}
