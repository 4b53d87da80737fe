/* /:app - how much this app hangs, since when, in which version, and which issues cost most. */

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api } from '../../api/client';
import type { Overview, Share, VersionTotals } from '../../api/types';
import { Trend } from '../../charts/trend';
import { lang, listed, say } from '../../lib/i18n';
import { idle } from '../../lib/live';
import { patch, query } from '../../lib/location';
import { useQuery } from '../../lib/query';
import { useTitle } from '../../lib/title';
import { duration } from '../../lib/units';
import { kindWord } from '../../lib/words';
import { bars, completed } from '../../model/charts';
import { counted } from '../../model/event';
import { count, exact, percent } from '../../model/format';
import { carried, href } from '../../model/view';
import { useColours } from '../colours';
import { StillArriving } from '../complete';
import { NothingLeft, Waiting } from '../empty';
import { Exports } from '../exports';
import { IssueTable } from '../issues/rows';
import { Late } from '../late';
import { Ago, Bar, Loaded, now, Panel } from '../parts';
import { RatesPanel } from './rates';
import { TurnsTable } from './turns';

const loadEnds = () => import('./ends').then((module) => module.EndsPanel);
const loadChanged = () => import('./changed').then((module) => module.ChangedPanel);

export function OverviewPage({ app }: { app: string }): JSX.Element {
  useTitle(say('Overview of {app}', { app }));
  const { t, v, kind } = query.value;
  const result = useQuery(['overview', app, t, v, kind], (signal) => api.overview(app, { t, v, kind }, signal), {
    again: (data) => (data && data.totals.reports > 0 ? idle(10_000) : idle(2_000)),
  });
  return (
    <>
      <h1>{app}</h1>
      <Loaded result={result} rows={16} label={say('overview')}>
        {(data) => <Body app={app} data={data} />}
      </Loaded>
    </>
  );
}

function Body({ app, data }: { app: string; data: Overview }): JSX.Element {
  const [pick, setPick] = useState<'events' | 'waited_ms'>('events');
  const { t, v, kind } = query.value;
  const colours = useColours(app);
  const { totals, range } = data;
  if (totals.reports === 0)
    return v.length + kind.length > 0 ? <NothingLeft app={app} what={say('events')} /> : <FirstReport app={app} />;
  const killed = data.categories.find((share) => share.key === 'foom')?.events ?? 0;
  const list = (sort: string) => href({ name: 'issues', app }, { ...carried(query.value), sort });
  const what = say(counted(data.categories.map((share) => share.key)));
  const made = bars(data.series, data.bucket_s, new Date(range.from), new Date(range.to), pick, say('other versions'));
  const drawn = completed(made, data.bucket_s, data.completeness);
  return (
    <>
      <RatesPanel app={app} />
      <Late load={loadChanged} props={{ app }} label={say('What changed')} rows={5} />
      <div class="tiles">
        <Tile href={list('-events')} label={what} value={count(totals.events, lang.value)} note={sampled(totals)} />
        <Tile
          href={list('-impact')}
          label={say('Time lost')}
          value={duration(totals.waited_ms)}
          note={say('all events together')}
        />
        <Tile
          href={list('-longest')}
          label={say('Longest')}
          value={duration(totals.longest_ms)}
          note={say('a single event')}
        />
        <Tile
          href={list('-devices')}
          label={say('Devices seen')}
          value={count(totals.devices, lang.value)}
          note={say('devices with reports')}
        />
        {killed > 0 ? (
          <Tile
            href={href({ name: 'memory', app }, { ...carried(query.value), kind: ['foom'] })}
            label={say('Out of memory')}
            value={count(killed, lang.value)}
            note={say('processes killed for it')}
          />
        ) : null}
      </div>
      <Panel
        title={pick === 'events' ? say('{what} by version', { what }) : say('Time lost by version')}
        aside={
          <div class="segments" role="group" aria-label={say('Measure')}>
            <button type="button" aria-pressed={pick === 'events'} onClick={() => setPick('events')}>
              {what}
            </button>
            <button type="button" aria-pressed={pick === 'waited_ms'} onClick={() => setPick('waited_ms')}>
              {say('Time lost')}
            </button>
          </div>
        }
      >
        {isYoung(data, now.value) ? (
          <p class="row hint">
            <span class="dim">{say('All data is of the last 24 hours.')}</span>
            <button type="button" onClick={() => patch({ t: '24h' }, true)}>
              {say('Show them by the hour')}
            </button>
          </p>
        ) : null}
        <Trend
          bars={drawn}
          colours={colours(drawn.rows.map((row) => row.key))}
          lang={lang.value}
          what={pick === 'events' ? what : say('Time lost')}
          unit={pick === 'events' ? (value) => count(value, lang.value) : duration}
          whole={pick === 'events'}
        />
        <StillArriving days={data.completeness} />
        <Exports path={`apps/${app}/overview`} asked={{ t, v, kind, table: 'series' }} of={what} />
      </Panel>
      <Panel title={say('Costliest issues')} aside={<a href={list('-impact')}>{say('All issues')}</a>}>
        <IssueTable app={app} issues={data.top} />
      </Panel>
      {data.memory_top.length > 0 ? (
        <Panel
          title={say('Memory issues')}
          aside={<a href={href({ name: 'memory', app }, carried(query.value))}>{say('All memory issues')}</a>}
        >
          <IssueTable app={app} issues={data.memory_top} memory />
        </Panel>
      ) : null}
      <div class="columns">
        <Panel title={say('Versions')}>
          <Versions rows={data.versions} what={what} />
        </Panel>
        <Panel title={say('Kinds')}>
          <Shares rows={data.categories} what={what} />
          {data.apart.length > 0 ? (
            <p class="dim small">
              {say('{kinds} counted separately: no function is to blame.', {
                kinds: listed(data.apart.map((share) => `${exact(share.reports, lang.value)} ${kindWord(share.key)}`)),
              })}
            </p>
          ) : null}
        </Panel>
        {data.turns.length > 0 ? (
          <Panel title={say('Main-loop blocks by length')}>
            <TurnsTable turns={data.turns} />
            <p class="dim small">
              {say('All watched loops, as reported, including turns that are too short for a report of their own.')}
            </p>
          </Panel>
        ) : null}
      </div>
      <Late load={loadEnds} props={{ app }} label={say('Why sessions ended')} rows={8} />
    </>
  );
}

const DAY_MS = 86_400_000;

/* Whether everything in a range drawn by days happened within one: a chart of a single bar, or two. */
function isYoung(data: Overview, at: Date): boolean {
  const since = at.getTime() - DAY_MS;
  const isOld = data.series.some((one) => one.points.some((point) => Date.parse(point.at) + DAY_MS <= since));
  return data.bucket_s >= 86_400 && !isOld && data.versions.every((row) => Date.parse(row.first_seen_at) > since);
}

function FirstReport({ app }: { app: string }): JSX.Element {
  const result = useQuery(['apps'], api.apps);
  const ever = result.data?.apps.find((one) => one.slug === app)?.last_seen_at;
  return ever ? <NothingLeft app={app} what={say('events')} /> : <Waiting app={app} />;
}

function sampled(totals: Overview['totals']): string {
  const { reports, events } = totals;
  if (Math.round(events) === reports) return say('{n|report|reports}, exact', { n: exact(reports, lang.value) });
  return say('estimated from {n|report|reports}', { n: exact(reports, lang.value) });
}

export function Tile(props: { href?: string; label: string; value: string; note: string }): JSX.Element {
  const inside = (
    <>
      <span class="label">{props.label}</span>
      <span class="value">{props.value}</span>
      <span class="note">{props.note}</span>
    </>
  );
  return props.href ? (
    <a class="tile" href={props.href}>
      {inside}
    </a>
  ) : (
    <div class="tile">{inside}</div>
  );
}

function Versions({ rows, what }: { rows: readonly VersionTotals[]; what: string }): JSX.Element {
  const most = Math.max(...rows.map((row) => row.waited_ms), 1);
  return (
    <div class="scroll" role="region" aria-label={say('Versions table')} tabIndex={0}>
      <table class="tight">
        <thead>
          <tr>
            <th scope="col">{say('Version')}</th>
            <th scope="col" class="num">
              {what}
            </th>
            <th scope="col" class="num">
              {say('Time lost')}
            </th>
            <th scope="col" class="wide-only">
              <span class="offscreen">{say('Share')}</span>
            </th>
            <th scope="col" class="num">
              {say('Longest')}
            </th>
            <th scope="col" class="wide-only">
              {say('First seen')}
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.version}>
              <th scope="row">
                <button type="button" class="link" onClick={() => patch({ v: [row.version] }, true)}>
                  {row.version}
                </button>
              </th>
              <td class="num">{count(row.events, lang.value)}</td>
              <td class="num">{duration(row.waited_ms)}</td>
              <td class="bar-cell wide-only">
                <Bar share={row.waited_ms / most} />
              </td>
              <td class="num">{duration(row.longest_ms)}</td>
              <td class="wide-only">
                <Ago at={row.first_seen_at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Shares({ rows, what }: { rows: readonly Share[]; what: string }): JSX.Element {
  const sum = rows.reduce((all, row) => all + row.events, 0) || 1;
  return (
    <table class="tight">
      <thead>
        <tr>
          <th scope="col">{say('Kind')}</th>
          <th scope="col" class="num">
            {what}
          </th>
          <th scope="col">
            <span class="offscreen">{say('Bar')}</span>
          </th>
          <th scope="col" class="num">
            {say('Share')}
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.key}>
            <th scope="row">
              <button type="button" class="link" onClick={() => patch({ kind: [row.key] }, true)}>
                {kindWord(row.key)}
              </button>
            </th>
            <td class="num">{count(row.events, lang.value)}</td>
            <td class="bar-cell">
              <Bar share={row.events / sum} />
            </td>
            <td class="num">{percent(row.events / sum, lang.value)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
