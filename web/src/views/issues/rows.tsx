/* The rows of a list of issues: groups, the issues in them, and the same without groups. */

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Group, IssueSummary } from '../../api/types';
import { Spark } from '../../charts/spark';
import { lang, say } from '../../lib/i18n';
import { go, query } from '../../lib/location';
import { kindWord, reasonWord, word } from '../../lib/words';
import { counted } from '../../model/event';
import { bytes, count, duration } from '../../model/format';
import { base } from '../../model/name';
import { carried, href } from '../../model/view';
import { Ago } from '../parts';

/* Issues of one group shown at once, so that a page stays small with all groups unfolded. */
const SHOWN_ISSUES = 20;

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

function Numbers({ row, memory }: { row: Group | IssueSummary; memory: boolean }): JSX.Element {
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
  const top = group.issues[0];
  const shown = group.issues.slice(from, from + SHOWN_ISSUES);
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
              {group.issues.length === 1 ? '' : `${say('{n} issues, first', { n: group.issues.length })} `}
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
        ? shown.map((issue) => (
            <IssueRow
              key={issue.id}
              app={app}
              memory={memory}
              issue={issue}
              title={issue.caller1 === group.title ? 2 : 1}
            />
          ))
        : null}
      {open && group.issues.length > SHOWN_ISSUES ? (
        <tr class="issue">
          <th scope="row" colSpan={memory ? MEMORY_COLUMNS.length : COLUMNS.length}>
            <span class="row">
              {from > 0 ? (
                <button type="button" onClick={() => setFrom(from - SHOWN_ISSUES)}>
                  {say('‹ Previous')}
                </button>
              ) : null}
              {from + shown.length < group.issues.length ? (
                <button type="button" onClick={() => setFrom(from + SHOWN_ISSUES)}>
                  {say('Next ›')}
                </button>
              ) : null}
              <span class="dim">
                {say('{from}–{to} of {total}', {
                  from: from + 1,
                  to: from + shown.length,
                  total: group.issues.length,
                })}
              </span>
            </span>
          </th>
        </tr>
      ) : null}
    </tbody>
  );
}

function Tags({ row }: { row: IssueSummary }): JSX.Element {
  return (
    <>
      <span class={`tag kind-${row.category}`}>{kindWord(row.category)}</span>
      <span class={`tag reason-${row.reason}`}>{reasonWord(row.reason)}</span>
      {row.subject ? <span class="tag subject">{row.subject}</span> : null}
      {row.state === 'open' ? null : <span class="tag">{word(row.state)}</span>}
    </>
  );
}

function IssueRow(props: { app: string; memory: boolean; issue: IssueSummary; title: 1 | 2 }): JSX.Element {
  const { app, memory, issue, title } = props;
  const to = issueHref(app, issue.id);
  const name = title === 1 || !issue.caller2 ? issue.caller1 : issue.caller2;
  const versions =
    issue.first_version === issue.last_version ? issue.last_version : `${issue.first_version} → ${issue.last_version}`;
  return (
    <tr class="issue" onDblClick={() => go(to)}>
      <th scope="row">
        <a href={to} data-row>
          <span class="id">{issue.id}</span>
          {title === 2 && issue.caller2 ? <span class="dim">{say('in')} </span> : null}
          <span class="fn">{name}</span>
        </a>
        <Tags row={issue} />
        {title === 1 && issue.caller2 ? (
          <p class="sub">
            {say('in')} {issue.caller2}
          </p>
        ) : null}
      </th>
      <Numbers row={issue} memory={memory} />
      <td class="wide-only versions">{versions}</td>
      <td class="num wide-only">
        <Ago at={issue.last_seen_at} />
      </td>
    </tr>
  );
}

/* The same rows without groups, for the overview. */
export function IssueTable(props: { app: string; issues: readonly IssueSummary[]; memory?: boolean }): JSX.Element {
  const { app, issues, memory = false } = props;
  const what = say(counted(issues.map((issue) => issue.category)));
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
        {issues.map((issue) => (
          <IssueRow key={issue.id} app={app} memory={memory} issue={issue} title={1} />
        ))}
      </tbody>
    </table>
  );
}
