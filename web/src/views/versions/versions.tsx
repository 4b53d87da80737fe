/* /:app/versions - the versions of an app, and one of them against another version or another time. */

import type { JSX } from 'preact';
import { api } from '../../api/client';
import type { Rate, VersionRow, Versions } from '../../api/types';
import { Spark } from '../../charts/spark';
import { lang, listed, say } from '../../lib/i18n';
import { query } from '../../lib/location';
import { useQuery } from '../../lib/query';
import { useTitle } from '../../lib/title';
import { count, percent } from '../../model/format';
import { direction, RATES } from '../../model/rates';
import { adoption, firstOf, type Judged, judge, olderOf } from '../../model/versions';
import { carried, href } from '../../model/view';
import { StillArriving } from '../complete';
import { NothingLeft } from '../empty';
import { Exports } from '../exports';
import { FEW_RECORDS, fixed, wordsOf } from '../overview/rates';
import { Ago, Loaded, Panel } from '../parts';
import { ReleasedAs, useReleases } from '../releases';
import { Comparison } from './compare';
import { Spreads } from './spreads';

export function VersionsPage({ app, version }: { app: string; version: string | null }): JSX.Element {
  useTitle(version === null ? say('Versions of {app}', { app }) : say('{version} of {app}', { version, app }));
  const { t, kind } = query.value;
  const result = useQuery(['versions', app, t, kind], (signal) => api.versions(app, { t, kind }, signal));
  return (
    <>
      <h1>{say('Versions')}</h1>
      <Loaded result={result} rows={14} label={say('Versions')}>
        {(data) => <Body app={app} version={version} data={data} />}
      </Loaded>
    </>
  );
}

function Body({ app, version, data }: { app: string; version: string | null; data: Versions }): JSX.Element {
  if (data.versions.length === 0) return <NothingLeft app={app} what={say('versions')} />;
  const chosen = version ?? firstOf(data.versions);
  return (
    <>
      <Panel title={say('All versions')}>
        <Table app={app} data={data} chosen={chosen} />
        {data.more > 0 ? <p class="dim small">{say('{n} older versions are not listed.', { n: data.more })}</p> : null}
        <p class="dim small">
          {say(
            '▲ worse, ▼ better than the version before, if the 95 % intervals do not overlap. New: issues that began in the version.',
          )}
        </p>
        <Spreads of={data.versions.map((row) => ({ name: row.version, spreads: row.spreads }))} />
        <StillArriving days={data.completeness} />
        <Exports
          path={`apps/${app}/versions`}
          asked={{ t: query.value.t, kind: query.value.kind }}
          of={say('All versions')}
        />
      </Panel>
      {chosen === null ? null : <Comparison key={chosen} app={app} version={chosen} rows={data.versions} />}
    </>
  );
}

function Table({ app, data, chosen }: { app: string; data: Versions; chosen: string | null }): JSX.Element {
  return (
    <div class="scroll" role="region" aria-label={say('Versions table')} tabIndex={0}>
      <table class="tight versions">
        <thead>
          <tr>
            <th scope="col">{say('Version')}</th>
            <th scope="col">{say('Verdict')}</th>
            <th scope="col" class="wide-only">
              {say('First seen')}
            </th>
            <th scope="col">{say('Share of sessions')}</th>
            <th scope="col" class="num">
              {say('Sessions')}
            </th>
            {RATES.map((name) => (
              <th scope="col" class="num" key={name}>
                {wordsOf(name).title}
              </th>
            ))}
            <th scope="col" class="num">
              {say('New')}
            </th>
            <th scope="col" class="num">
              {say('Resolved')}
            </th>
          </tr>
        </thead>
        <tbody>
          {data.versions.map((row) => (
            <Row key={row.version} app={app} row={row} data={data} chosen={row.version === chosen} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row(props: { app: string; row: VersionRow; data: Versions; chosen: boolean }): JSX.Element {
  const { app, row, data, chosen } = props;
  const releases = useReleases(app);
  const before = olderOf(data.versions, row.version);
  const shares = adoption(row, new Date(data.range.from), new Date(data.range.to));
  const last = row.days.at(-1)?.share ?? 0;
  const few = row.records < FEW_RECORDS;
  const to = href({ name: 'versions', app, version: row.version }, carried(query.value));
  const list = href({ name: 'issues', app }, { ...carried(query.value), v: [row.version] });
  return (
    <tr class={chosen ? 'chosen' : undefined} aria-current={chosen ? 'true' : undefined}>
      <th scope="row">
        <a href={to}>{row.version}</a>
        <br />
        <span class="dim small">{listed(row.channels.map((one) => one.channel))}</span>
        <ReleasedAs releases={releases} version={row.version} />
      </th>
      <td class="judged">
        <VerdictCell judged={judge(row, before)} few={few} compared={before !== undefined} />
      </td>
      <td class="wide-only">
        <Ago at={row.first_seen_at} />
      </td>
      <td class="adoption">
        {row.sessions > 0 ? (
          <>
            <Spark values={shares} lang={lang.value} what={say('share of sessions by day')} />{' '}
            {percent(last, lang.value)}
          </>
        ) : (
          <span class="dim">{say('no sessions')}</span>
        )}
      </td>
      <td class="num">{row.sessions > 0 ? count(row.sessions, lang.value) : '—'}</td>
      {RATES.map((name) => (
        <td class={few ? 'num few' : 'num'} key={name}>
          <RateCell now={row[name]} before={before?.[name] ?? null} unit={wordsOf(name).unit} />
        </td>
      ))}
      <td class="num">
        {row.issues_new > 0 ? <a href={list}>{count(row.issues_new, lang.value)}</a> : 0}
        {row.issues_regressed > 0 ? (
          <span class="tag state-regressed">{say('{n} regressed', { n: row.issues_regressed })}</span>
        ) : null}
      </td>
      <td class="num">{row.issues_resolved}</td>
    </tr>
  );
}

function RateCell({ now, before, unit }: { now: Rate; before: Rate; unit: string }): JSX.Element {
  if (!now) return <span class="dim">—</span>;
  const way = direction(now, before ?? undefined);
  const sign = way === 'worse' ? ' ▲' : way === 'better' ? ' ▼' : '';
  const words = way === 'worse' ? say('worse') : way === 'better' ? say('better') : '';
  return (
    <span class={`nowrap ${way}`}>
      {fixed(now.value, now, lang.value)}
      {unit}
      <span class="dim small"> ±{fixed((now.high - now.low) / 2, now, lang.value)}</span>
      {sign ? (
        <>
          <span aria-hidden="true">{sign}</span>
          <span class="offscreen"> {words}</span>
        </>
      ) : null}
    </span>
  );
}

/* The rates that became worse, and those that became better. */
function VerdictCell({ judged, few, compared }: { judged: Judged; few: boolean; compared: boolean }): JSX.Element {
  const names = (of: Judged['worse']) => listed(of.map((name) => wordsOf(name).title));
  if (few) return <span class="dim small">{say('too few sessions')}</span>;
  if (judged.worse.length > 0)
    return <span class="worse">{say('worse: {rates}', { rates: names(judged.worse) })}</span>;
  if (judged.better.length > 0)
    return <span class="better">{say('better: {rates}', { rates: names(judged.better) })}</span>;
  return <span class="dim small">{compared ? say('no change') : say('none to compare with')}</span>;
}
