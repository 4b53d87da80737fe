/* /:app/memory/:id - one memory issue: the function that allocates too much, and the tabs with the details. */

import '../../style/memory.css';
import type { JSX } from 'preact';
import type { Issue, IssueMemory } from '../../api/types';
import { lang, say } from '../../lib/i18n';
import { bytes, count, exact } from '../../model/format';
import { answerOfAll } from '../../model/memory';
import { MEMORY_TABS } from '../../model/view';
import { IssueHead, LoadedIssue, Tabs, useTab } from '../issue/frame';
import { NamelessNote } from '../issue/nameless';
import { Side } from '../issue/side';
import { Suspects } from '../issue/suspects';
import { Tile } from '../overview/overview';
import { Skeleton } from '../parts';
import { AllocationsTab } from './allocations';
import { answer } from './answer';
import { HeldByAll, useHeld } from './held-by-all';

export function MemoryPage({ app, id }: { app: string; id: string }): JSX.Element {
  const held = useHeld(app, id);
  return (
    <LoadedIssue app={app} id={id}>
      {(data) =>
        held.isPending ? (
          <Skeleton rows={18} label={say('issue')} />
        ) : (
          <Body app={app} id={id} data={data} held={held.data} />
        )
      }
    </LoadedIssue>
  );
}

/* With so many reports, all together say more than one of them. */
const MANY_REPORTS = 5;

interface BodyProps {
  app: string;
  id: string;
  data: Issue;
  /** Unknown if it could not be loaded. */
  held: IssueMemory | undefined;
}

function Body({ app, id, data, held }: BodyProps): JSX.Element {
  const { issue } = data;
  const tab = useTab(MEMORY_TABS, issue.totals.reports >= MANY_REPORTS ? 'all' : 'held');
  const told = held && answerOfAll(held, issue.subject, issue.caller1);
  return (
    <>
      <IssueHead app={app} id={id} data={data} tab={tab} first={told ? answer(told) : ''} />
      <NamelessNote app={app} id={id} data={data} />
      <div class="tiles">
        <Tile
          label={say('Events')}
          value={count(issue.totals.events, lang.value)}
          note={say('{n|report|reports}', { n: exact(issue.totals.reports, lang.value) })}
        />
        <Tile
          label={say('Above healthy')}
          value={bytes(issue.above_bytes)}
          note={say('{subject}, {most} at most', { subject: issue.subject, most: bytes(issue.most_bytes) })}
        />
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
        <Side app={app} data={data} />
      </aside>
    </>
  );
}
