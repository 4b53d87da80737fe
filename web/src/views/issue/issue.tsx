/* /:app/issues/:id - one issue: its name, its cost, and the tabs with the causes. */

import type { JSX } from 'preact';
import type { Issue } from '../../api/types';
import { lang, say } from '../../lib/i18n';
import { duration } from '../../lib/units';
import { counted, isOfProcess, isWait } from '../../model/event';
import { count, exact, percent } from '../../model/format';
import { TABS } from '../../model/view';
import { Tile } from '../overview/overview';
import { IssueHead, LoadedIssue, Tabs, useTab } from './frame';
import { NamelessNote } from './nameless';
import { Side } from './side';
import { StackTab } from './stack';
import { Suspects } from './suspects';

export function IssuePage({ app, id }: { app: string; id: string }): JSX.Element {
  return (
    <LoadedIssue app={app} id={id}>
      {(data) => <Body app={app} id={id} data={data} />}
    </LoadedIssue>
  );
}

function Body({ app, id, data }: { app: string; id: string; data: Issue }): JSX.Element {
  const { issue } = data;
  const tab = useTab(TABS);
  return (
    <>
      <IssueHead app={app} id={id} data={data} tab={tab}>
        <Holder data={data} />
      </IssueHead>
      <Facts data={data} />
      <NamelessNote app={app} id={id} data={data} />
      <div class="tiles">
        <Tile
          label={say(counted([issue.category]))}
          value={count(issue.totals.events, lang.value)}
          note={say('{n|report|reports}', { n: exact(issue.totals.reports, lang.value) })}
        />
        {isOfProcess(issue.category) ? null : (
          <Tile
            label={say('Median')}
            value={duration(data.p50_ms)}
            note={say('95 % under {time}', { time: duration(data.p95_ms) })}
          />
        )}
        {isWait(issue.category) ? (
          <Tile
            label={say('Time lost')}
            value={duration(issue.totals.waited_ms)}
            note={say('longest {time}', { time: duration(issue.totals.longest_ms) })}
          />
        ) : null}
        <Tile
          label={say('Devices seen')}
          value={count(issue.totals.devices, lang.value)}
          note={
            data.killed > 0
              ? say('{n} killed while hung', { n: exact(data.killed, lang.value) })
              : say('none killed while hung')
          }
        />
      </div>
      <div class="detail">
        <Tabs app={app} id={id} tabs={TABS} tab={tab}>
          {tab === 'stack' ? <StackTab app={app} id={id} /> : null}
        </Tabs>
        <aside class="detail-side" aria-label={say('Distribution')}>
          <Suspects app={app} id={id} />
          <Side app={app} data={data} />
        </aside>
      </div>
    </>
  );
}

/* The most frequent holder of the lock. */
function Holder({ data }: { data: Issue }): JSX.Element | null {
  const most = data.distributions.find((one) => one.name === 'holder')?.values[0];
  if (!most) return null;
  return (
    <span>
      {most.key === 'itself'
        ? say('held by the thread itself: a deadlock')
        : say('mostly held by {who}', { who: most.key })}
    </span>
  );
}

/* The facts of its reports with the share of the reports that have each. Unknown facts are left out. */
function Facts({ data }: { data: Issue }): JSX.Element | null {
  const all = data.issue.totals.reports || 1;
  const share = (value: number) => percent(value / all, lang.value);
  const written = [
    data.foreground > 0 ? say('foreground {share}', { share: share(data.foreground) }) : '',
    data.background > 0 ? say('background {share}', { share: share(data.background) }) : '',
    data.launch > 0 ? say('at launch {share}', { share: share(data.launch) }) : '',
    data.many_threads > 0 ? say('over 64 threads {share}', { share: share(data.many_threads) }) : '',
    data.suppressed > 0 ? say('{n} more not sent (repeats)', { n: exact(data.suppressed, lang.value) }) : '',
  ].filter((text) => text !== '');
  return written.length > 0 ? <p class="dim small facts">{written.join(' · ')}</p> : null;
}
