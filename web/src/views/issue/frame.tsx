/* The frame around every issue's page: the way back, the neighbours in the list, its name, and tabs. */

import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { api } from '../../api/client';
import type { Issue } from '../../api/types';
import { lang, say } from '../../lib/i18n';
import { useKeys } from '../../lib/keys';
import { idle } from '../../lib/live';
import { go, patch, query } from '../../lib/location';
import { recall, remember } from '../../lib/memory';
import { useQuery } from '../../lib/query';
import { useTitle } from '../../lib/title';
import { kindWord } from '../../lib/words';
import { exact } from '../../model/format';
import { base } from '../../model/name';
import { carried, href, isMemory, type Tab } from '../../model/view';
import { FlameTab } from '../flame/flame';
import { GroupingTab } from '../grouping/grouping';
import { listQuery } from '../issues/asked';
import { lastList, lastTotal, useNewestVersion } from '../issues/issues';
import { ReasonTag, StateTag } from '../issues/rows';
import { Loaded } from '../parts';
import { ActivityTab, wantsComment } from '../triage/activity';
import { TriageButtons, useMayTriage } from '../triage/buttons';
import { RawTab } from './raw';
import { ReportsTab } from './reports';
import { Twin } from './twin';
import { Verdict } from './verdict';

interface OfIssue {
  app: string;
  id: string;
}

/* Asks for the issue, now and again, and names the page after it. */
export function LoadedIssue({ app, id, children }: OfIssue & { children: (data: Issue) => JSX.Element }): JSX.Element {
  const { t, v } = query.value;
  const result = useQuery(['issue', app, id, t, v], (signal) => api.issue(app, id, { t, v }, signal), {
    again: () => idle(30_000),
  });
  const name = result.data?.issue.caller1;
  useTitle(name ? `${id} ${name}` : id);
  return (
    <>
      {result.data ? null : <h1>{id}</h1>}
      <Loaded result={result} rows={18} label={say('issue')}>
        {children}
      </Loaded>
    </>
  );
}

interface HeadProps extends OfIssue {
  data: Issue;
  tab: Tab;
  /* The first sentence, of a kind of issue that has its own. */
  first?: string;
  /* Behind the tags. */
  children?: ComponentChildren;
}

/* The function to blame, its location, and the kind. */
export function IssueHead({ app, id, data, tab, first = '', children }: HeadProps): JSX.Element {
  const { issue } = data;
  const memory = isMemory(id);
  return (
    <>
      <Crumbs app={app} id={id} tab={tab} />
      <ShownAs id={id} shown={issue.id} />
      <h1 class="fn title">{issue.caller1}</h1>
      <p class="under-title">
        <span class="image">{base(issue.caller1_image)}</span>
        {issue.caller1_location ? <code class="dim">{issue.caller1_location}</code> : null}
        {issue.caller2 && issue.caller2 !== issue.caller1 ? (
          <span>
            {say('in')} <span class="fn">{issue.caller2}</span>
          </span>
        ) : null}
        <span class={`tag kind-${issue.category}`}>{kindWord(issue.category)}</span>
        {memory ? <span class="tag subject">{issue.subject}</span> : null}
        <ReasonTag reason={issue.reason} />
        <StateTag issue={issue} />
        {children}
        <Twin app={app} id={issue.id} />
      </p>
      <States app={app} issue={issue} />
      <Verdict app={app} id={issue.id} data={data} first={first} />
    </>
  );
}

/* The actions on the issue, and its assignee. */
function States({ app, issue }: { app: string; issue: Issue['issue'] }): JSX.Element | null {
  const mayTriage = useMayTriage(app);
  const newest = useNewestVersion(app);
  useKeys({
    comment: () => {
      wantsComment.value = true;
      patch({ tab: 'activity' }, true);
    },
  });
  return (
    <div class="row states">
      {mayTriage ? <TriageButtons app={app} issues={() => [issue.id]} state={issue.state} version={newest} /> : null}
      {issue.assignee === '' ? null : <span class="assignee">{say('assigned to {who}', { who: issue.assignee })}</span>}
    </div>
  );
}

function Crumbs({ app, id, tab }: { app: string; id: string; tab: Tab }): JSX.Element {
  const memory = isMemory(id);
  const wanted = listQuery(query.value, memory);
  const list = useQuery(['issues', app, wanted], (signal) => api.issues(app, wanted, signal), {
    enabled: lastList.value.length === 0,
  });
  const ids =
    lastList.value.length > 0
      ? lastList.value
      : (list.data?.groups.flatMap((group) => group.issues.map((one) => one.id)) ?? []);
  const total = lastList.value.length > 0 ? lastTotal.value : (list.data?.issues_total ?? 0);
  const at = ids.indexOf(id);
  const neighbour = (by: 1 | -1) => {
    const to = at < 0 ? undefined : ids[at + by];
    const kept = to !== undefined && isMemory(to) === memory ? tab : null;
    return to ? href({ name: 'issue', app, id: to }, { ...carried(query.value), tab: kept }) : null;
  };
  const walk = (by: 1 | -1) => {
    const to = neighbour(by);
    if (to) go(to);
  };
  useKeys({ 'issue-before': () => walk(-1), 'issue-after': () => walk(1) });
  return (
    <div class="heading crumbs">
      <a href={href({ name: memory ? 'memory' : 'issues', app }, carried(query.value))}>
        {memory ? say('Memory') : say('Issues')}
      </a>
      <span aria-hidden="true">›</span>
      <span class="id">{id}</span>
      <span class="grow" />
      {at >= 0 ? (
        <span class="dim">
          {say('{n} of {total}', { n: at + 1, total: exact(Math.max(total, ids.length), lang.value) })}
        </span>
      ) : null}
      <Step to={neighbour(-1)} label={say('Previous issue')} sign="‹" />
      <Step to={neighbour(1)} label={say('Next issue')} sign="›" />
    </div>
  );
}

/* The issue of the URL was merged into the shown one. */
function ShownAs({ id, shown }: { id: string; shown: string }): JSX.Element | null {
  return id === shown ? null : <p class="notice">{say('{id} was merged: it is shown as {shown}.', { id, shown })}</p>;
}

function Step({ to, label, sign }: { to: string | null; label: string; sign: string }): JSX.Element | null {
  return to ? (
    <a class="button" href={to}>
      <span aria-hidden="true">{sign}</span>
      <span class="offscreen">{label}</span>
    </a>
  ) : null;
}

/* The tab in the URL; otherwise the last used one, or `first`, which is then written into the URL. */
export function useTab(tabs: readonly Tab[], first = tabs[0]!): Tab {
  const given = query.value.tab;
  const last = recall('tab') as Tab | null;
  const known = (tab: Tab | null): tab is Tab => tab !== null && tabs.includes(tab);
  const tab = known(given) ? given : known(last) ? last : first;
  useEffect(() => {
    if (given !== tab) patch({ tab });
    remember('tab', tab);
  }, [given, tab]);
  useKeys(Object.fromEntries(tabs.map((one, i) => [`view-${i + 1}`, () => patch({ tab: one }, true)])));
  return tab;
}

const LABELS: Record<Tab, string> = {
  stack: 'Hottest stack',
  held: 'Allocations',
  all: 'All reports',
  flame: 'Flame graph',
  tree: 'Call tree',
  top: 'Top functions',
  reports: 'Reports',
  group: 'Grouping',
  activity: 'Activity',
  raw: 'Raw',
};

interface TabsProps extends OfIssue {
  tabs: readonly Tab[];
  tab: Tab;
  /* The content of a tab that only this kind of issue has. */
  children?: ComponentChildren;
}

export function Tabs({ app, id, tabs, tab, children }: TabsProps): JSX.Element {
  return (
    <div class="detail-main">
      <TabList tabs={tabs} tab={tab} />
      <div role="tabpanel" id="tabpanel" aria-labelledby={`tab-${tab}`} class="tabpanel">
        {children}
        {tab === 'flame' || tab === 'tree' || tab === 'top' ? <FlameTab app={app} id={id} view={tab} /> : null}
        {tab === 'reports' ? <ReportsTab app={app} id={id} /> : null}
        {tab === 'group' ? <GroupingTab app={app} id={id} /> : null}
        {tab === 'activity' ? <ActivityTab app={app} id={id} /> : null}
        {tab === 'raw' ? <RawTab app={app} id={id} /> : null}
      </div>
    </div>
  );
}

function TabList({ tabs, tab }: { tabs: readonly Tab[]; tab: Tab }): JSX.Element {
  const onKey = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (by === 0) return;
    event.preventDefault();
    const next = tabs[(tabs.indexOf(tab) + by + tabs.length) % tabs.length]!;
    patch({ tab: next }, true);
    document.getElementById(`tab-${next}`)?.focus();
  };
  const list = useRef<HTMLDivElement>(null);
  /* If not all tabs fit, the chosen one is scrolled into view. */
  useEffect(() => {
    const chosen = list.current?.querySelector<HTMLElement>('[aria-selected="true"]');
    if (chosen) list.current!.scrollLeft = chosen.offsetLeft - (list.current!.clientWidth - chosen.offsetWidth) / 2;
  }, [tab]);
  return (
    <div ref={list} role="tablist" class="tabs" aria-label={say('Views of the issue')} onKeyDown={onKey}>
      {tabs.map((one) => (
        <button
          key={one}
          id={`tab-${one}`}
          type="button"
          role="tab"
          aria-selected={one === tab}
          aria-controls="tabpanel"
          tabIndex={one === tab ? 0 : -1}
          onClick={() => patch({ tab: one }, true)}
        >
          {say(LABELS[one])}
        </button>
      ))}
    </div>
  );
}
