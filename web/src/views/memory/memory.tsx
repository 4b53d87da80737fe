/* /:app/memory/:id - one memory issue: the function that allocates too much, and the tabs with the details. */

import '../../style/memory.css';
import type { JSX } from 'preact';
import type { Issue } from '../../api/types';
import { lang, say } from '../../lib/i18n';
import { bytes, count, exact } from '../../model/format';
import { MEMORY_TABS } from '../../model/view';
import { IssueHead, LoadedIssue, Tabs, useTab } from '../issue/frame';
import { NamelessNote } from '../issue/nameless';
import { Side } from '../issue/side';
import { Suspects } from '../issue/suspects';
import { Tile } from '../overview/overview';
import { AllocationsTab } from './allocations';
import { HeldByAll } from './held-by-all';

export function MemoryPage({ app, id }: { app: string; id: string }): JSX.Element {
  return (
    <LoadedIssue app={app} id={id}>
      {(data) => <Body app={app} id={id} data={data} />}
    </LoadedIssue>
  );
}

/* With so many reports, all together say more than one of them. */
const MANY_REPORTS = 5;

function Body({ app, id, data }: { app: string; id: string; data: Issue }): JSX.Element {
  const { issue } = data;
  const tab = useTab(MEMORY_TABS, issue.totals.reports >= MANY_REPORTS ? 'all' : 'held');
  return (
    <>
      <IssueHead app={app} id={id} data={data} tab={tab} />
      <NamelessNote app={app} id={id} data={data} />
      <div class="tiles">
        <Tile
          label={say('Events')}
          value={count(issue.totals.events, lang.value)}
          note={say('{n|report|reports}', { n: exact(issue.totals.reports, lang.value) })}
        />
        <Tile label={say('Largest')} value={bytes(issue.most_bytes)} note={issue.subject} />
        <Tile
          label={say('Killed for it')}
          value={exact(data.killed, lang.value)}
          note={say('of {n|report|reports}', { n: exact(issue.totals.reports, lang.value) })}
        />
        <Tile
          label={say('Devices seen')}
          value={count(issue.totals.devices, lang.value)}
          note={
            data.foreground > 0
              ? say('{n} in the foreground', { n: exact(data.foreground, lang.value) })
              : say('none known to be in the foreground')
          }
        />
      </div>
      <Tabs app={app} id={id} tabs={MEMORY_TABS} tab={tab}>
        {tab === 'held' ? <AllocationsTab app={app} id={id} /> : null}
        {tab === 'all' ? <HeldByAll app={app} id={id} /> : null}
      </Tabs>
      <aside class="columns" aria-label={say('Distribution')}>
        <Suspects app={app} id={id} />
        <Side data={data} />
      </aside>
    </>
  );
}
