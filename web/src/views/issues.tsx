/* /:app/issues - the list on two levels: level 1 by Caller1 or by kind, level 2 the features in it. */

import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { api, type IssueQuery } from '../api/client';
import type { Feature, Group, IssueList } from '../api/types';
import { Spark } from '../charts/spark';
import { lang, say } from '../lib/i18n';
import { useKeys } from '../lib/keys';
import { go, patch, query } from '../lib/location';
import { useQuery } from '../lib/query';
import { useTitle } from '../lib/title';
import { kindWord, word } from '../lib/words';
import { counted } from '../model/event';
import { count, duration, exact } from '../model/format';
import { base } from '../model/name';
import { carried, href, type Query } from '../model/view';
import { NothingLeft, Waiting } from './empty';
import { Ago, Loaded } from './parts';
import { useOverview } from './shell';

/* The ids of the list last shown, in its order: [ and ] in an issue walk along them. */
export const lastList = signal<string[]>([]);

/* Groups a page, and features shown at once of one group: a page stays small whatever is unfolded first. */
const PAGE_GROUPS = 40;
const SHOWN_FEATURES = 20;

/* With this few features in all, every group is unfolded until the reader folds one. */
const FEW = 12;

export function listQuery(query: Query): IssueQuery {
  const { t, v, kind, state, q, by, sort, after } = query;
  return { t, v, kind, state, q, by, sort, cursor: after, limit: PAGE_GROUPS };
}

export function IssuesPage({ app }: { app: string }): JSX.Element {
  useTitle(say('Issues of {app}', { app }));
  const wanted = listQuery(query.value);
  const result = useQuery(['issues', app, wanted], (signal) => api.issues(app, wanted, signal), {
    again: (data) => (data && data.total > 0 ? false : 2_000),
  });
  const news = useNews(app, result.dataUpdatedAt);
  const { by } = query.value;
  return (
    <>
      <div class="heading">
        <h1>{say('Issues')}</h1>
        {result.data ? (
          <p class="dim">
            {say('{groups|group|groups} · {issues|issue|issues} · {events|event|events} · {time} lost', {
              groups: exact(result.data.total, lang.value),
              issues: exact(result.data.features_total, lang.value),
              events: count(result.data.totals.hangs, lang.value),
              time: duration(result.data.totals.hang_ms),
            })}
          </p>
        ) : null}
        {news ? (
          <button type="button" onClick={() => void result.refetch()}>
            {say('New reports · show')}
          </button>
        ) : null}
        <span class="grow" />
        <div class="segments" role="group" aria-label={say('Group by')}>
          <button type="button" aria-pressed={by === 'caller1'} onClick={() => patch({ by: 'caller1', open: null })}>
            {say('By Caller1')}
          </button>
          <button type="button" aria-pressed={by === 'category'} onClick={() => patch({ by: 'category', open: null })}>
            {say('By kind')}
          </button>
        </div>
      </div>
      <Loaded result={result} rows={12} label={say('issues')}>
        {(data) => (data.total === 0 ? <None app={app} /> : <List app={app} data={data} />)}
      </Loaded>
    </>
  );
}

/* Whether reports came since the list was read. Rows never move by themselves: the reader asks for the new ones. */
function useNews(app: string, readAt: number): boolean {
  const { t } = query.value;
  const newest = useOverview(app, t).data?.range.as_of ?? '';
  const seen = useRef({ readAt, newest });
  if (seen.current.readAt !== readAt || seen.current.newest === '') seen.current = { readAt, newest };
  return newest > seen.current.newest;
}

function None({ app }: { app: string }): JSX.Element {
  const { v, kind, state, q } = query.value;
  const result = useQuery(['apps'], api.apps);
  const ever = result.data?.apps.find((one) => one.slug === app)?.last_received_at;
  const filtered = v.length + kind.length + state.length > 0 || q !== '';
  return filtered || ever ? <NothingLeft app={app} what={say('issues')} /> : <Waiting app={app} />;
}

const COLUMNS: [key: string | null, label: string, cell: string][] = [
  ['title', 'Issue', ''],
  [null, 'Trend', 'mid-only'],
  ['hangs', 'Hangs', 'num'],
  ['devices', 'Devices', 'num mid-only'],
  ['longest', 'Longest', 'num'],
  ['impact', 'Time lost', 'num'],
  [null, 'Versions', 'wide-only'],
  ['last', 'Last seen', 'num wide-only'],
];

function Head({ what }: { what: string }): JSX.Element {
  const { sort } = query.value;
  return (
    <thead>
      <tr>
        {COLUMNS.map(([key, label, cell]) => {
          const down = sort === `-${key}`;
          const up = sort === key;
          const first = key === 'title' ? key : `-${key}`;
          const other = key === 'title' ? `-${key}` : key!;
          return (
            <th key={label} scope="col" class={cell} aria-sort={down ? 'descending' : up ? 'ascending' : undefined}>
              {key === null ? (
                say(label)
              ) : (
                <button type="button" class="sort" onClick={() => patch({ sort: sort === first ? other : first })}>
                  {key === 'hangs' ? what : say(label)}
                  <span aria-hidden="true">{down ? ' ↓' : up ? ' ↑' : ''}</span>
                </button>
              )}
            </th>
          );
        })}
      </tr>
    </thead>
  );
}

function List({ app, data }: { app: string; data: IssueList }): JSX.Element {
  const table = useRef<HTMLTableElement>(null);
  const { groups } = data;
  const pages = usePages(data);
  const ids = groups.flatMap((group) => group.features.map((feature) => feature.id));
  if (query.value.after === '') lastList.value = ids;
  else if (!lastList.value.includes(ids[0] ?? '')) lastList.value = [...lastList.value, ...ids];
  const open = query.value.open;
  const isOpen = (key: string) => (open === null ? data.features_total <= FEW : open.includes(key));
  const fold = (key: string) => {
    const now = groups.map((group) => group.key).filter(isOpen);
    patch({ open: isOpen(key) ? now.filter((one) => one !== key) : [...now, key] });
  };
  const rows = () => [...(table.current?.querySelectorAll<HTMLElement>('[data-row]') ?? [])];
  const move = (by: 1 | -1) => {
    const all = rows();
    const at = all.indexOf(document.activeElement as HTMLElement);
    if (at < 0) all.at(by === 1 ? 0 : -1)?.focus();
    else if (all[at + by]) all[at + by]!.focus();
    else pages.turn(by, true);
  };
  useEffect(() => {
    if (pages.wanted.current)
      rows()
        .at(pages.wanted.current === 1 ? 0 : -1)
        ?.focus();
    pages.wanted.current = 0;
  }, [data]);
  useKeys({
    next: () => move(1),
    previous: () => move(-1),
    unfold: () => {
      const key = (document.activeElement as HTMLElement | null)?.closest('tbody')?.dataset.group;
      if (key) fold(key);
    },
  });
  return (
    <>
      <table class="issues" ref={table} aria-rowcount={data.total}>
        <caption class="offscreen">{say('Issues, grouped; the buttons in the head sort')}</caption>
        <Head what={say(counted(groups.flatMap((group) => group.features.map((feature) => feature.category))))} />
        {groups.map((group) => (
          <GroupRows key={group.key} app={app} group={group} open={isOpen(group.key)} fold={() => fold(group.key)} />
        ))}
      </table>
      {pages.first && !data.next ? null : (
        <nav class="row" aria-label={say('Pages')}>
          {pages.first ? null : (
            <button type="button" onClick={() => pages.turn(-1)}>
              {pages.known ? say('‹ Previous page') : say('First page')}
            </button>
          )}
          {data.next ? (
            <button type="button" onClick={() => pages.turn(1)}>
              {say('Next page ›')}
            </button>
          ) : null}
          <span class="dim">
            {pages.known
              ? say('{from}–{to} of {total}', {
                  from: exact(pages.from + 1, lang.value),
                  to: exact(pages.from + groups.length, lang.value),
                  total: exact(data.total, lang.value),
                })
              : say('{n} of {total}', { n: groups.length, total: exact(data.total, lang.value) })}
          </span>
        </nav>
      )}
    </>
  );
}

/* Pages gone to since the page was loaded: what came before each, and how many groups. */
const before = new Map<string, { after: string; from: number }>();

/* The server gives the way on; the way back is remembered. */
function usePages(data: IssueList) {
  const { after } = query.value;
  const here = before.get(after);
  const from = here?.from ?? 0;
  /* Where the focus goes when the other page is there: 1 its first row, -1 its last. */
  const wanted = useRef<0 | 1 | -1>(0);
  const turn = (by: 1 | -1, focus = false) => {
    const to = by === 1 ? data.next : (here?.after ?? '');
    if (to === null || (by === -1 && after === '')) return;
    if (by === 1) before.set(to, { after, from: from + data.groups.length });
    wanted.current = focus ? by : 0;
    patch({ after: to, open: null }, true);
    if (!focus) scrollTo(0, 0);
  };
  return { first: after === '', known: after === '' || here !== undefined, from, wanted, turn };
}

function issueHref(app: string, id: string): string {
  return href({ name: 'issue', app, id }, carried(query.value));
}

function Numbers({ row }: { row: Group | Feature }): JSX.Element {
  return (
    <>
      <td class="mid-only">
        <Spark values={row.trend} lang={lang.value} what={say('events')} />
      </td>
      <td class="num">{count(row.totals.hangs, lang.value)}</td>
      <td class="num mid-only">{count(row.totals.devices, lang.value)}</td>
      <td class="num">{row.totals.longest_ms > 0 ? duration(row.totals.longest_ms) : '—'}</td>
      <td class="num strong">{row.totals.hang_ms > 0 ? duration(row.totals.hang_ms) : '—'}</td>
    </>
  );
}

interface GroupProps {
  app: string;
  group: Group;
  open: boolean;
  fold: () => void;
}

function GroupRows({ app, group, open, fold }: GroupProps): JSX.Element {
  const [from, setFrom] = useState(0);
  const top = group.features[0];
  const shown = group.features.slice(from, from + SHOWN_FEATURES);
  return (
    <tbody data-group={group.key}>
      <tr class="group">
        <th scope="rowgroup">
          <button type="button" class="fold" data-row aria-expanded={open} onClick={fold}>
            <span class="twist" aria-hidden="true">
              {open ? '▾' : '▸'}
            </span>
            <span class="fn">{query.value.by === 'category' ? kindWord(group.title) : group.title}</span>
            {group.image ? <span class="image">{base(group.image)}</span> : null}
          </button>
          {!open && top ? (
            <p class="sub">
              {group.features.length === 1 ? '' : `${say('{n} issues, first', { n: group.features.length })} `}
              <a href={issueHref(app, top.id)}>{top.id}</a> {top.caller2 ? `${say('in')} ${top.caller2}` : ''}{' '}
              <Tags row={top} />
            </p>
          ) : null}
        </th>
        <Numbers row={group} />
        <td class="wide-only" />
        <td class="num wide-only">
          <Ago at={group.last_seen_at} />
        </td>
      </tr>
      {open
        ? shown.map((feature) => (
            <FeatureRow key={feature.id} app={app} feature={feature} title={feature.caller1 === group.title ? 2 : 1} />
          ))
        : null}
      {open && group.features.length > SHOWN_FEATURES ? (
        <tr class="feature">
          <th scope="row" colSpan={COLUMNS.length}>
            <span class="row">
              {from > 0 ? (
                <button type="button" onClick={() => setFrom(from - SHOWN_FEATURES)}>
                  {say('‹ Previous')}
                </button>
              ) : null}
              {from + shown.length < group.features.length ? (
                <button type="button" onClick={() => setFrom(from + SHOWN_FEATURES)}>
                  {say('Next ›')}
                </button>
              ) : null}
              <span class="dim">
                {say('{from}–{to} of {total}', {
                  from: from + 1,
                  to: from + shown.length,
                  total: group.features.length,
                })}
              </span>
            </span>
          </th>
        </tr>
      ) : null}
    </tbody>
  );
}

function Tags({ row }: { row: Feature }): JSX.Element {
  return (
    <>
      <span class={`tag kind-${row.category}`}>{kindWord(row.category)}</span>
      <span class={`tag reason-${row.reason}`}>{word(row.reason)}</span>
      {row.state === 'open' ? null : <span class="tag">{word(row.state)}</span>}
    </>
  );
}

function FeatureRow({ app, feature, title }: { app: string; feature: Feature; title: 1 | 2 }): JSX.Element {
  const to = issueHref(app, feature.id);
  const name = title === 1 || !feature.caller2 ? feature.caller1 : feature.caller2;
  const versions =
    feature.first_version === feature.last_version
      ? feature.last_version
      : `${feature.first_version} → ${feature.last_version}`;
  return (
    <tr class="feature" onDblClick={() => go(to)}>
      <th scope="row">
        <a href={to} data-row>
          <span class="id">{feature.id}</span>
          {title === 2 && feature.caller2 ? <span class="dim">{say('in')} </span> : null}
          <span class="fn">{name}</span>
        </a>
        <Tags row={feature} />
        {title === 1 && feature.caller2 ? (
          <p class="sub">
            {say('in')} {feature.caller2}
          </p>
        ) : null}
      </th>
      <Numbers row={feature} />
      <td class="wide-only versions">{versions}</td>
      <td class="num wide-only">
        <Ago at={feature.last_seen_at} />
      </td>
    </tr>
  );
}

/* The same rows without groups, for the overview. */
export function FeatureTable({ app, features }: { app: string; features: readonly Feature[] }): JSX.Element {
  const what = say(counted(features.map((feature) => feature.category)));
  return (
    <table class="issues flat">
      <caption class="offscreen">{say('Issues that cost most')}</caption>
      <thead>
        <tr>
          {COLUMNS.map(([key, label, cell]) => (
            <th key={label} scope="col" class={cell}>
              {key === 'hangs' ? what : say(label)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {features.map((feature) => (
          <FeatureRow key={feature.id} app={app} feature={feature} title={1} />
        ))}
      </tbody>
    </table>
  );
}
