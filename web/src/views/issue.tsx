/* /:app/issues/:id - one issue: what it is, how much it costs, and the tabs that show why. */

import type { JSX } from 'preact';
import { api } from '../api/client';
import type { Distribution, Issue } from '../api/types';
import { Histogram } from '../charts/spark';
import { Trend } from '../charts/trend';
import { lang, say } from '../lib/i18n';
import { query } from '../lib/location';
import { useQuery } from '../lib/query';
import { useTitle } from '../lib/title';
import { kindWord, word } from '../lib/words';
import { bars } from '../model/charts';
import { counted, isOfProcess, isWait } from '../model/event';
import { count, duration, exact, percent } from '../model/format';
import { base } from '../model/name';
import { TABS, type Tab } from '../model/view';
import { FlameTab } from './flame';
import { GroupingTab } from './grouping';
import { Crumbs, ShownAs, Tabs, useTab } from './issue-frame';
import { NamelessNote } from './nameless';
import { Tile } from './overview';
import { Ago, Bar, Loaded, Panel } from './parts';
import { RawTab } from './raw';
import { ReportsTab } from './reports';
import { StackTab } from './stack';

const LABELS: Partial<Record<Tab, string>> = {
  stack: 'Hottest stack',
  flame: 'Flame graph',
  tree: 'Call tree',
  top: 'Top functions',
  reports: 'Reports',
  group: 'Grouping',
  raw: 'Raw',
};

export function IssuePage({ app, id }: { app: string; id: string }): JSX.Element {
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
  const tab = useTab(TABS);
  return (
    <>
      <Crumbs app={app} id={id} tab={tab} />
      <ShownAs id={id} shown={feature.id} />
      <h1 class="fn title">{feature.caller1}</h1>
      <p class="under-title">
        <span class="image">{base(feature.caller1_image)}</span>
        {feature.caller1_place ? <code class="dim">{feature.caller1_place}</code> : null}
        {feature.caller2 ? (
          <span>
            {say('in')} <span class="fn">{feature.caller2}</span>
          </span>
        ) : null}
        <span class={`tag kind-${feature.category}`}>{kindWord(feature.category)}</span>
        <span class={`tag reason-${feature.reason}`}>{word(feature.reason)}</span>
        <span class={`tag state-${feature.state}`}>{word(feature.state)}</span>
        <Holder data={data} />
      </p>
      <Facts data={data} />
      {data.unresolved_share > 0.005 ? <NamelessNote app={app} id={id} share={data.unresolved_share} /> : null}
      <div class="tiles">
        <Tile
          label={say(counted([feature.category]))}
          value={count(feature.totals.hangs, lang.value)}
          note={say('{n|report|reports}', { n: exact(feature.totals.reports, lang.value) })}
        />
        {isOfProcess(feature.category) ? null : (
          <Tile
            label={say('Half last longer than')}
            value={duration(data.p50_ms)}
            note={say('1 in 20 longer than {time}', { time: duration(data.p95_ms) })}
          />
        )}
        {isWait(feature.category) ? (
          <Tile
            label={say('Time lost')}
            value={duration(feature.totals.hang_ms)}
            note={say('longest {time}', { time: duration(feature.totals.longest_ms) })}
          />
        ) : null}
        <Tile
          label={say('Devices')}
          value={count(feature.totals.devices, lang.value)}
          note={
            data.killed > 0
              ? say('{n} killed while hung', { n: exact(data.killed, lang.value) })
              : say('none killed while hung')
          }
        />
      </div>
      <div class="detail">
        <div class="detail-main">
          <Tabs tabs={TABS} tab={tab} label={(one) => say(LABELS[one] ?? one)} />
          <div role="tabpanel" id="tabpanel" aria-labelledby={`tab-${tab}`} class="tabpanel">
            {tab === 'stack' ? <StackTab app={app} id={id} /> : null}
            {tab === 'flame' || tab === 'tree' || tab === 'top' ? <FlameTab app={app} id={id} view={tab} /> : null}
            {tab === 'reports' ? <ReportsTab app={app} id={id} /> : null}
            {tab === 'group' ? <GroupingTab app={app} id={id} /> : null}
            {tab === 'raw' ? <RawTab app={app} id={id} /> : null}
          </div>
        </div>
        <aside class="detail-side" aria-label={say('Distribution')}>
          <Side data={data} />
        </aside>
      </div>
    </>
  );
}

/* Who mostly held the lock. */
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

/* In how many of the reports what was so, and what they stand for. Left out where nothing is known. */
function Facts({ data }: { data: Issue }): JSX.Element | null {
  const n = (value: number) => exact(value, lang.value);
  const told = [
    data.foreground > 0 ? say('{n} in the foreground', { n: n(data.foreground) }) : '',
    data.background > 0 ? say('{n} in the background', { n: n(data.background) }) : '',
    data.launch > 0 ? say('{n} at launch', { n: n(data.launch) }) : '',
    data.many_threads > 0 ? say('{n} with more than 64 threads', { n: n(data.many_threads) }) : '',
    data.annealed > 0 ? say('{n} more were counted on devices and not sent', { n: n(data.annealed) }) : '',
  ].filter((text) => text !== '');
  return told.length > 0 ? (
    <p class="dim small facts">
      {say('Of the reports:')} {told.join(' · ')}
    </p>
  ) : null;
}

export function Side({ data }: { data: Issue }): JSX.Element {
  const { feature, range } = data;
  const drawn = bars(
    data.series,
    data.bucket_s,
    new Date(range.from),
    new Date(range.to),
    'hangs',
    say('other versions'),
  );
  return (
    <>
      {isOfProcess(feature.category) ? null : (
        <Panel title={say('How long')}>
          <Histogram bins={data.durations} lang={lang.value} />
        </Panel>
      )}
      <Panel title={say('When')}>
        <Trend
          bars={drawn}
          lang={lang.value}
          what={say(counted([feature.category]))}
          unit={(value) => count(value, lang.value)}
          height={110}
        />
        <p class="dim small">
          {say('First seen')}: <Ago at={feature.first_seen_at} />, {feature.first_version}
          <br />
          {say('Last seen')}: <Ago at={feature.last_seen_at} />, {feature.last_version}
        </p>
      </Panel>
      <Panel title={say('Where')}>
        {data.distributions
          .filter((one) => one.values.length > 0)
          .map((one) => (
            <Shares key={one.name} one={one} />
          ))}
      </Panel>
    </>
  );
}

const NAMES: Record<Distribution['name'], string> = {
  version: 'Version',
  os_version: 'System',
  arch: 'Architecture',
  model: 'Model',
  process: 'Process',
  holder: 'Lock held by',
};

function Shares({ one }: { one: Distribution }): JSX.Element {
  const known = one.values.some((value) => value.lift !== null);
  return (
    <table class="tight shares">
      <thead>
        <tr>
          <th scope="col">{say(NAMES[one.name])}</th>
          <th scope="col">
            <span class="offscreen">{say('Bar')}</span>
          </th>
          <th scope="col" class="num">
            {say('Share')}
          </th>
          {known ? (
            <th scope="col" class="num">
              {say('Lift')}
            </th>
          ) : null}
        </tr>
      </thead>
      <tbody>
        {one.values.slice(0, 5).map((value) => (
          <tr key={value.key}>
            <th scope="row">{value.key || '—'}</th>
            <td class="bar-cell">
              <Bar share={value.share} />
            </td>
            <td class="num">{percent(value.share, lang.value)}</td>
            {known ? <td class="num">{value.lift === null ? '—' : `×${value.lift.toFixed(1)}`}</td> : null}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
