/* What every issue's page has around its own: the way back, the neighbours in the list, and tabs. */

import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { api } from '../api/client';
import { say } from '../lib/i18n';
import { useKeys } from '../lib/keys';
import { go, patch, query } from '../lib/location';
import { recall, remember } from '../lib/memory';
import { useQuery } from '../lib/query';
import { carried, href, isMemory, type Tab } from '../model/view';
import { lastList, listQuery } from './issues';

export function Crumbs({ app, id, tab }: { app: string; id: string; tab: Tab }): JSX.Element {
  const memory = isMemory(id);
  const wanted = listQuery(query.value, memory);
  const list = useQuery(['issues', app, wanted], (signal) => api.issues(app, wanted, signal), {
    enabled: lastList.value.length === 0,
  });
  const ids =
    lastList.value.length > 0
      ? lastList.value
      : (list.data?.groups.flatMap((group) => group.features.map((one) => one.id)) ?? []);
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
      {at >= 0 ? <span class="dim">{say('{n} of {total}', { n: at + 1, total: ids.length })}</span> : null}
      <Step to={neighbour(-1)} label={say('Previous issue')} sign="‹" />
      <Step to={neighbour(1)} label={say('Next issue')} sign="›" />
    </div>
  );
}

/* Somebody merged the issue of the URL into the one that is shown. */
export function ShownAs({ id, shown }: { id: string; shown: string }): JSX.Element | null {
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

/* The tab of the URL; without one the tab used last, which is then written into the URL. */
export function useTab(tabs: readonly Tab[]): Tab {
  const given = query.value.tab;
  const last = recall('tab') as Tab | null;
  const known = (tab: Tab | null): tab is Tab => tab !== null && tabs.includes(tab);
  const tab = known(given) ? given : known(last) ? last : tabs[0]!;
  useEffect(() => {
    if (given !== tab) patch({ tab });
    remember('tab', tab);
  }, [given, tab]);
  useKeys(Object.fromEntries(tabs.map((one, i) => [`view-${i + 1}`, () => patch({ tab: one }, true)])));
  return tab;
}

interface TabsProps {
  tabs: readonly Tab[];
  tab: Tab;
  label: (tab: Tab) => string;
}

export function Tabs({ tabs, tab, label }: TabsProps): JSX.Element {
  const onKey = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (by === 0) return;
    event.preventDefault();
    const next = tabs[(tabs.indexOf(tab) + by + tabs.length) % tabs.length]!;
    patch({ tab: next }, true);
    document.getElementById(`tab-${next}`)?.focus();
  };
  return (
    <div role="tablist" class="tabs" aria-label={say('Views of the issue')} onKeyDown={onKey}>
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
          {label(one)}
        </button>
      ))}
    </div>
  );
}
