/* /:app/issues - the list: a row a place (Caller1 in Caller2), or on two levels by function or by kind. */

import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { api } from '../../api/client';
import type { Change, IssueList } from '../../api/types';
import { lang, say } from '../../lib/i18n';
import { useKeys } from '../../lib/keys';
import { patch, query } from '../../lib/location';
import { type Result, useQuery } from '../../lib/query';
import { useTitle } from '../../lib/title';
import { duration } from '../../lib/units';
import { counted } from '../../model/event';
import { count, exact } from '../../model/format';
import { sharedPrefix } from '../../model/prefix';
import { carried, formatQuery, isFaceted, type Query } from '../../model/view';
import { StillArriving } from '../complete';
import { NoMemory, NothingLeft, Waiting } from '../empty';
import { Exports } from '../exports';
import { Loaded } from '../parts';
import { useOverview } from '../shell';
import { TriageButtons, useMayTriage } from '../triage/buttons';
import { listQuery } from './asked';
import { Faceted } from './faceted';
import { type Columns, columnsOf, GroupRows } from './rows';
import { selected } from './selected';

/* The ids of the list last shown, in its order: [ and ] in an issue walk along them. */
export const lastList = signal<string[]>([]);
/* How many issues that list has on all its pages. */
export const lastTotal = signal(0);
/* Its address: an issue's own has neither its order nor its page. */
const lastView = signal<{ app: string; memory: boolean; query: Query } | null>(null);

/* The list that an issue was opened from, or the first page of the one that its address tells. */
export function useListOf(app: string, memory: boolean): Result<IssueList> {
  const last = lastView.value;
  const filters = formatQuery(carried(query.value));
  const isSame = last?.app === app && last.memory === memory && formatQuery(carried(last.query)) === filters;
  const wanted = listQuery(isSame ? last.query : query.value, memory);
  return useQuery(['issues', app, wanted], (signal) => api.issues(app, wanted, signal));
}

/* Groups of a file, from the page's first one on: as many as the server gives. */
const FILE_GROUPS = 200;

/* With this few issues in all, every group is unfolded until the reader folds one. */
const FEW = 12;

const byVersion = new Intl.Collator('en', { numeric: true });

/* The newest version that reported in the range; empty if none did. */
export function useNewestVersion(app: string): string {
  const { t } = query.value;
  const { data } = useQuery(['facets', app, t], (signal) => api.facets(app, t, signal));
  return (
    (data?.version ?? [])
      .map((one) => one.key)
      .sort(byVersion.compare)
      .at(-1) ?? ''
  );
}

export function IssuesPage({ app, memory = false }: { app: string; memory?: boolean }): JSX.Element {
  useTitle(memory ? say('Memory of {app}', { app }) : say('Issues of {app}', { app }));
  const wanted = listQuery(query.value, memory);
  /* The first report is waited for; an empty list of an app with reports stays empty. */
  const known = (useOverview(app, query.value.t).data?.totals.reports ?? 0) > 0;
  const result = useQuery(['issues', app, wanted], (signal) => api.issues(app, wanted, signal), {
    again: (data) => (known || (data && data.total > 0) ? false : 2_000),
  });
  const news = useNews(app, result.dataUpdatedAt);
  const { by } = query.value;
  return (
    <>
      <div class="heading">
        <h1>{memory ? say('Memory') : say('Issues')}</h1>
        {result.data && memory ? (
          <p class="dim">
            {say('{groups|group|groups} · {issues|issue|issues} · {events|event|events}', {
              groups: exact(result.data.total, lang.value),
              issues: exact(result.data.issues_total, lang.value),
              events: count(result.data.totals.events, lang.value),
            })}
          </p>
        ) : null}
        {result.data && !memory ? (
          <p class="dim">
            {say('{groups|group|groups} · {issues|issue|issues} · {events|event|events} · {time} lost', {
              groups: exact(result.data.total, lang.value),
              issues: exact(result.data.issues_total, lang.value),
              events: count(result.data.totals.events, lang.value),
              time: duration(result.data.totals.waited_ms),
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
          <button type="button" aria-pressed={by === 'place'} onClick={() => patch({ by: 'place', open: null })}>
            {say('By place')}
          </button>
          <button type="button" aria-pressed={by === 'caller1'} onClick={() => patch({ by: 'caller1', open: null })}>
            {say('By function')}
          </button>
          <button type="button" aria-pressed={by === 'category'} onClick={() => patch({ by: 'category', open: null })}>
            {memory ? say('By category') : say('By kind')}
          </button>
        </div>
      </div>
      <StateTabs states={result.data?.states} />
      <Loaded result={result} rows={12} label={say('issues')}>
        {(data) =>
          data.total === 0 ? <None app={app} memory={memory} /> : <List app={app} data={data} memory={memory} />
        }
      </Loaded>
    </>
  );
}

const STATE_TABS = [
  ['', 'Open'],
  ['regressed', 'Regressed'],
  ['resolved', 'Resolved'],
  ['ignored', 'Ignored'],
  ['all', 'All'],
] as const;

/* One state at a time, each with how many issues it has. */
function StateTabs({ states }: { states: IssueList['states'] | undefined }): JSX.Element {
  const chosen = query.value.state.join(',');
  const counts: Record<string, number | undefined> = {
    '': states && states.open + states.regressed,
    regressed: states?.regressed,
    resolved: states?.resolved,
    ignored: states?.ignored,
    all: states && states.open + states.regressed + states.resolved + states.ignored,
  };
  return (
    <div class="segments states-tabs" role="group" aria-label={say('State')}>
      {STATE_TABS.map(([key, label]) => (
        <button
          key={key}
          type="button"
          aria-pressed={chosen === key}
          onClick={() => patch({ state: key === '' ? [] : [key], after: '' }, true)}
        >
          {say(label)} <span class="num">{counts[key] === undefined ? '' : exact(counts[key], lang.value)}</span>
        </button>
      ))}
    </div>
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

function None({ app, memory }: { app: string; memory: boolean }): JSX.Element {
  const { v, kind, state, q } = query.value;
  const result = useQuery(['apps'], api.apps);
  const ever = result.data?.apps.find((one) => one.slug === app)?.last_seen_at;
  const filtered = v.length + kind.length > 0 || q !== '' || state.length > 0 || isFaceted(query.value);
  if (memory && !filtered) return <NoMemory />;
  return filtered || ever ? <NothingLeft app={app} what={say('issues')} /> : <Waiting app={app} />;
}

function Head({ what, sort, columns }: { what: string; sort: string; columns: Columns }): JSX.Element {
  return (
    <thead>
      <tr>
        {columns.map(([key, label, cell]) => {
          const down = sort === `-${key}`;
          const up = sort === key;
          const first = key === 'title' ? key : `-${key}`;
          const other = key === 'title' ? `-${key}` : key === 'change' ? 'auto' : key!;
          return (
            <th key={label} scope="col" class={cell} aria-sort={down ? 'descending' : up ? 'ascending' : undefined}>
              {key === null ? (
                say(label)
              ) : (
                <button type="button" class="sort" onClick={() => patch({ sort: sort === first ? other : first })}>
                  {key === 'events' ? what : say(label)}
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

function List({ app, data, memory }: { app: string; data: IssueList; memory: boolean }): JSX.Element {
  const table = useRef<HTMLTableElement>(null);
  const { groups } = data;
  const pages = usePages(data);
  const ids = groups.flatMap((group) => group.issues.map((issue) => issue.id));
  lastTotal.value = data.issues_total;
  lastView.value = { app, memory, query: query.value };
  if (query.value.after === '') lastList.value = ids;
  else if (!lastList.value.includes(ids[0] ?? '')) lastList.value = [...lastList.value, ...ids];
  const open = query.value.open;
  /* Changes are told of all devices. */
  const { changes, busy } = useChanges(app, data.sessions !== null && !data.faceted);
  const mayTriage = useMayTriage(app);
  const newest = useNewestVersion(app);
  const anchor = useRef<string>('');
  const isOpen = (key: string) =>
    open === null ? query.value.by !== 'place' && data.issues_total <= FEW : open.includes(key);
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
    select: () => toggle(idsOf(document.activeElement), false),
    'select-range': () => toggle(idsOf(document.activeElement), true),
  });
  const present = new Set(ids);
  const chosen = [...selected.value].filter((id) => present.has(id));
  const toggle = (of: string[], range: boolean) => {
    if (of.length === 0) return;
    const next = new Set(chosen);
    const [from, to] = [ids.indexOf(anchor.current), ids.indexOf(of.at(-1)!)];
    if (range && from >= 0) for (const id of ids.slice(Math.min(from, to), Math.max(from, to) + 1)) next.add(id);
    else if (of.every((id) => next.has(id))) for (const id of of) next.delete(id);
    else for (const id of of) next.add(id);
    anchor.current = of.at(-1)!;
    selected.value = next;
  };
  /* Keys and the bar change the selected issues; without any, those of the row with the focus. */
  const meant = () => (chosen.length > 0 ? chosen : idsOf(document.activeElement));
  const columns = columnsOf(memory, data.sessions !== null);
  const prefix = useMemo(() => sharedPrefix(groups.map((group) => group.title)), [data]);
  return (
    <>
      <Faceted data={data} />
      {mayTriage ? (
        <div class={chosen.length > 0 ? 'bulk' : 'bulk none'}>
          <span role="status">{chosen.length > 0 ? say('{n|issue|issues} selected', { n: chosen.length }) : ''}</span>
          <TriageButtons app={app} issues={meant} state={query.value.state[0] ?? ''} version={newest} />
          <button type="button" class="quiet" onClick={() => (selected.value = new Set())}>
            {say('Clear')}
          </button>
        </div>
      ) : null}
      <table class="issues" ref={table} aria-rowcount={data.total} aria-busy={busy}>
        <caption class="offscreen">{say('Issues, grouped; the buttons in the head sort')}</caption>
        <Head
          what={say(counted(groups.flatMap((group) => group.issues.map((issue) => issue.category))))}
          sort={query.value.sort === 'auto' ? data.sort : listQuery(query.value, memory).sort!}
          columns={columns}
        />
        {groups.map((group) => (
          <GroupRows
            key={group.key}
            app={app}
            memory={memory}
            group={group}
            changes={changes}
            sessions={data.sessions}
            columns={columns}
            prefix={prefix}
            select={mayTriage ? (of) => toggle(of, false) : null}
            open={isOpen(group.key)}
            fold={() => fold(group.key)}
          />
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
      <StillArriving days={data.completeness} />
      <Exports
        path={`apps/${app}/issues`}
        asked={{ ...listQuery(query.value, memory), limit: FILE_GROUPS }}
        of={memory ? say('Memory') : say('Issues')}
      />
    </>
  );
}

/* The issues of the row that has the focus. */
function idsOf(element: Element | null): string[] {
  const row = element?.closest('tr');
  return row?.dataset.ids?.split(' ') ?? [];
}

/* Changes since the version before, by issue, by the Overview's test. Empty until they are known. */
export function useChanges(app: string, enabled: boolean): { changes: ReadonlyMap<string, Change>; busy: boolean } {
  const { t, v } = query.value;
  const one = v.length <= 1 ? v : [];
  const ask = (signal: AbortSignal) => api.changes(app, { t, v: one }, signal);
  const { data, isError } = useQuery(['changes', app, t, one, ''], ask, { enabled });
  const told = (data?.issues ?? []).filter((row) => row.verdict !== 'same');
  return { changes: new Map(told.map((row) => [row.issue.id, row])), busy: enabled && !data && !isError };
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
