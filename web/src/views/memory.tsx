/* /:app/memory/:id - one issue of memory: who allocates what there is too much of, and the tabs that show it. */

import type { JSX } from 'preact';
import { api } from '../api/client';
import type { Issue } from '../api/types';
import { lang, say } from '../lib/i18n';
import { query } from '../lib/location';
import { useQuery } from '../lib/query';
import { useTitle } from '../lib/title';
import { kindWord, reasonWord, word } from '../lib/words';
import { bytes, count, exact } from '../model/format';
import { base } from '../model/name';
import { MEMORY_TABS, type Tab } from '../model/view';
import { AllocationsTab } from './allocations';
import { FlameTab } from './flame';
import { GroupingTab } from './grouping';
import { HeldByAll } from './held-by-all';
import { Side } from './issue';
import { Crumbs, ShownAs, Tabs, useTab } from './issue-frame';
import { NamelessNote } from './nameless';
import { Tile } from './overview';
import { Loaded } from './parts';
import { RawTab } from './raw';
import { ReportsTab } from './reports';

function label(tab: Tab): string {
  switch (tab) {
    case 'held':
      return say('Allocations');
    case 'all':
      return say('All reports');
    case 'flame':
      return say('Flame graph');
    case 'tree':
      return say('Call tree');
    case 'top':
      return say('Top functions');
    case 'reports':
      return say('Reports');
    case 'group':
      return say('Grouping');
    default:
      return say('Raw');
  }
}

export function MemoryPage({ app, id }: { app: string; id: string }): JSX.Element {
  const { t, v } = query.value;
  const result = useQuery(['issue', app, id, t, v], (signal) => api.issue(app, id, { t, v }, signal), {
    again: () => 30_000,
  });
  const name = result.data?.feature.caller1;
  useTitle(name ? `${id} ${name}` : id);
  return (
    <>
      {result.data ? null : <h1>{id}</h1>}
      <Loaded result={result} rows={18} label={say('issue')}>
        {(data) => <Body app={app} id={id} data={data} />}
      </Loaded>
    </>
  );
}

function Body({ app, id, data }: { app: string; id: string; data: Issue }): JSX.Element {
  const { feature } = data;
  const tab = useTab(MEMORY_TABS);
  return (
    <>
      <Crumbs app={app} id={id} tab={tab} />
      <ShownAs id={id} shown={feature.id} />
      <h1 class="fn title">{feature.caller1}</h1>
      <p class="under-title">
        <span class="image">{base(feature.caller1_image)}</span>
        {feature.caller1_place ? <code class="dim">{feature.caller1_place}</code> : null}
        {feature.caller2 && feature.caller2 !== feature.caller1 ? (
          <span>
            {say('in')} <span class="fn">{feature.caller2}</span>
          </span>
        ) : null}
        <span class={`tag kind-${feature.category}`}>{kindWord(feature.category)}</span>
        <span class="tag subject">{feature.subject}</span>
        <span class={`tag reason-${feature.reason}`}>{reasonWord(feature.reason)}</span>
        <span class={`tag state-${feature.state}`}>{word(feature.state)}</span>
      </p>
      {data.unresolved_share > 0.005 ? <NamelessNote app={app} id={id} share={data.unresolved_share} /> : null}
      <div class="tiles">
        <Tile
          label={say('Events')}
          value={count(feature.totals.hangs, lang.value)}
          note={say('{n|report|reports}', { n: exact(feature.totals.reports, lang.value) })}
        />
        <Tile label={say('Most held')} value={bytes(feature.most_bytes)} note={feature.subject} />
        <Tile
          label={say('Killed for it')}
          value={exact(data.killed, lang.value)}
          note={say('of {n|report|reports}', { n: exact(feature.totals.reports, lang.value) })}
        />
        <Tile
          label={say('Devices')}
          value={count(feature.totals.devices, lang.value)}
          note={
            data.foreground > 0
              ? say('{n} in the foreground', { n: exact(data.foreground, lang.value) })
              : say('the devices do not tell where the app was')
          }
        />
      </div>
      <div class="detail-main">
        <Tabs tabs={MEMORY_TABS} tab={tab} label={label} />
        <div role="tabpanel" id="tabpanel" aria-labelledby={`tab-${tab}`} class="tabpanel">
          {tab === 'held' ? <AllocationsTab app={app} id={id} /> : null}
          {tab === 'all' ? <HeldByAll app={app} id={id} /> : null}
          {tab === 'flame' || tab === 'tree' || tab === 'top' ? <FlameTab app={app} id={id} view={tab} /> : null}
          {tab === 'reports' ? <ReportsTab app={app} id={id} /> : null}
          {tab === 'group' ? <GroupingTab app={app} id={id} /> : null}
          {tab === 'raw' ? <RawTab app={app} id={id} /> : null}
        </div>
      </div>
      <aside class="columns" aria-label={say('Distribution')}>
        <Side data={data} />
      </aside>
    </>
  );
}
