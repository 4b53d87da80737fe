/* The rows of a list of issues: groups, the features in them, and the same without groups. */

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Feature, Group } from '../../api/types';
import { Spark } from '../../charts/spark';
import { lang, say } from '../../lib/i18n';
import { go, query } from '../../lib/location';
import { kindWord, reasonWord, word } from '../../lib/words';
import { counted } from '../../model/event';
import { bytes, count, duration } from '../../model/format';
import { base } from '../../model/name';
import { carried, href } from '../../model/view';
import { Ago } from '../parts';

/* Features shown at once of one group: a page stays small whatever is unfolded first. */
const SHOWN_FEATURES = 20;

type Columns = readonly [key: string | null, label: string, cell: string][];

export const COLUMNS: Columns = [
  ['title', 'Issue', ''],
  [null, 'Trend', 'mid-only'],
  ['events', 'Hangs', 'num'],
  ['devices', 'Devices', 'num mid-only'],
  ['longest', 'Longest', 'num'],
  ['impact', 'Time lost', 'num'],
  [null, 'Versions', 'wide-only'],
  ['last', 'Last seen', 'num wide-only'],
];

export const MEMORY_COLUMNS: Columns = [
  ['title', 'Issue', ''],
  [null, 'Trend', 'mid-only'],
  ['events', 'Events', 'num'],
  ['devices', 'Devices', 'num mid-only'],
  ['bytes', 'Most held', 'num'],
  [null, 'Versions', 'wide-only'],
  ['last', 'Last seen', 'num wide-only'],
];

function issueHref(app: string, id: string): string {
  return href({ name: 'issue', app, id }, carried(query.value));
}

function Numbers({ row, memory }: { row: Group | Feature; memory: boolean }): JSX.Element {
  if (memory)
    return (
      <>
        <td class="mid-only">
          <Spark values={row.trend} lang={lang.value} what={say('events')} />
        </td>
        <td class="num strong">{count(row.totals.events, lang.value)}</td>
        <td class="num mid-only">{count(row.totals.devices, lang.value)}</td>
        <td class="num">{bytes(row.most_bytes)}</td>
      </>
    );
  return (
    <>
      <td class="mid-only">
        <Spark values={row.trend} lang={lang.value} what={say('events')} />
      </td>
      <td class="num">{count(row.totals.events, lang.value)}</td>
      <td class="num mid-only">{count(row.totals.devices, lang.value)}</td>
      <td class="num">{row.totals.longest_ms > 0 ? duration(row.totals.longest_ms) : '—'}</td>
      <td class="num strong">{row.totals.waited_ms > 0 ? duration(row.totals.waited_ms) : '—'}</td>
    </>
  );
}

interface GroupProps {
  app: string;
  memory: boolean;
  group: Group;
  open: boolean;
  fold: () => void;
}

export function GroupRows({ app, memory, group, open, fold }: GroupProps): JSX.Element {
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
        <Numbers row={group} memory={memory} />
        <td class="wide-only" />
        <td class="num wide-only">
          <Ago at={group.last_seen_at} />
        </td>
      </tr>
      {open
        ? shown.map((feature) => (
            <FeatureRow
              key={feature.id}
              app={app}
              memory={memory}
              feature={feature}
              title={feature.caller1 === group.title ? 2 : 1}
            />
          ))
        : null}
      {open && group.features.length > SHOWN_FEATURES ? (
        <tr class="feature">
          <th scope="row" colSpan={memory ? MEMORY_COLUMNS.length : COLUMNS.length}>
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
      <span class={`tag reason-${row.reason}`}>{reasonWord(row.reason)}</span>
      {row.subject ? <span class="tag subject">{row.subject}</span> : null}
      {row.state === 'open' ? null : <span class="tag">{word(row.state)}</span>}
    </>
  );
}

function FeatureRow(props: { app: string; memory: boolean; feature: Feature; title: 1 | 2 }): JSX.Element {
  const { app, memory, feature, title } = props;
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
      <Numbers row={feature} memory={memory} />
      <td class="wide-only versions">{versions}</td>
      <td class="num wide-only">
        <Ago at={feature.last_seen_at} />
      </td>
    </tr>
  );
}

/* The same rows without groups, for the overview. */
export function FeatureTable(props: { app: string; features: readonly Feature[]; memory?: boolean }): JSX.Element {
  const { app, features, memory = false } = props;
  const what = say(counted(features.map((feature) => feature.category)));
  return (
    <table class="issues flat">
      <caption class="offscreen">{memory ? say('Issues of memory') : say('Issues that cost most')}</caption>
      <thead>
        <tr>
          {(memory ? MEMORY_COLUMNS : COLUMNS).map(([key, label, cell]) => (
            <th key={label} scope="col" class={cell}>
              {key === 'events' ? what : say(label)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {features.map((feature) => (
          <FeatureRow key={feature.id} app={app} memory={memory} feature={feature} title={1} />
        ))}
      </tbody>
    </table>
  );
}
