/* The rows of a list of issues: groups, the issues in them, and the same without groups. */

import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Change, Group, IssueSummary } from '../../api/types';
import { Spark } from '../../charts/spark';
import { lang, say } from '../../lib/i18n';
import { go, query } from '../../lib/location';
import { duration } from '../../lib/units';
import { kindWord, reasonWord, word } from '../../lib/words';
import { times } from '../../model/change';
import { counted } from '../../model/event';
import { bytes, count, precise } from '../../model/format';
import { type KindCount, kindsOf } from '../../model/issues';
import { base, namelessModule } from '../../model/name';
import { carried, href } from '../../model/view';
import { Ago } from '../parts';
import { selected } from './selected';

/* Issues of one group shown at once, so that a page stays small with all groups unfolded. */
const SHOWN_ISSUES = 20;

export type Columns = readonly [key: string | null, label: string, cell: string][];

const TREND: Columns = [[null, 'Trend', 'trend']];
const CHANGE: Columns = [['change', 'Changed', 'num']];
const PER_1000: Columns = [[null, 'Per 1,000', 'num wide-only']];
const COUNTED: Columns = [
  ['events', 'Hangs', 'num'],
  ['devices', 'Devices seen', 'num wide-only'],
];
const LAST: Columns = [
  [null, 'Assignee', 'wide-only'],
  ['last', 'Last seen', 'num wide-only'],
];

/* The columns of a list: a change and a rate only where sessions tell one. */
export function columnsOf(memory: boolean, hasSessions: boolean): Columns {
  return [
    ['title', 'Issue', ''],
    ...TREND,
    ...(hasSessions ? [...CHANGE, ...PER_1000] : []),
    ...COUNTED,
    ...((memory
      ? [
          ['above', 'Above healthy', 'num'],
          ['bytes', 'Largest', 'num wide-only'],
        ]
      : [
          ['longest', 'Longest', 'num wide-only'],
          ['impact', 'Time lost', 'num'],
        ]) as unknown as Columns),
    ...LAST,
  ];
}

function issueHref(app: string, id: string): string {
  return href({ name: 'issue', app, id }, carried(query.value));
}

interface NumbersProps {
  row: Group | IssueSummary;
  memory: boolean;
  columns: Columns;
  sessions: number | null;
  change: Change | undefined;
  assignee: string;
}

/* The cells behind the name, one a column. */
function Numbers({ row, memory, columns, sessions, change, assignee }: NumbersProps): JSX.Element {
  const { totals } = row;
  const per = sessions === null ? null : (1000 * totals.events) / sessions;
  const cells: Record<string, ComponentChildren> = {
    Trend: <Spark values={row.trend} lang={lang.value} what={say('events')} />,
    Changed: change ? <Badge change={change} /> : null,
    'Per 1,000': per === null ? '' : precise(per, lang.value),
    Hangs: count(totals.events, lang.value),
    'Devices seen': count(totals.devices, lang.value),
    Longest: totals.longest_ms > 0 ? duration(totals.longest_ms) : '—',
    'Above healthy': bytes(row.above_bytes),
    Largest: bytes(row.most_bytes),
    'Time lost': totals.waited_ms > 0 ? duration(totals.waited_ms) : '—',
    Assignee: assignee,
    'Last seen': <Ago at={row.last_seen_at} />,
  };
  return (
    <>
      {columns.slice(1).map(([, label, cell]) => (
        <td key={label} class={label === (memory ? 'Above healthy' : 'Time lost') ? `${cell} strong` : cell}>
          {cells[label]}
        </td>
      ))}
    </>
  );
}

/* new, ×6.2, −95 %: red for worse, green for better. */
export function Badge({ change }: { change: Change }): JSX.Element {
  const worse = change.verdict === 'new' || change.verdict === 'worse';
  const [was, is] = [change.before.hits_per_1000, change.after.hits_per_1000].map((n) => precise(n, lang.value));
  return (
    <span
      class={worse ? 'badge worse' : 'badge better'}
      title={say('{was} → {is} hits in 1,000 sessions', { was: was!, is: is! })}
    >
      {times(change, lang.value)}
    </span>
  );
}

/* Of several issues the change that asks for most: worse before better, as the server has them in order. */
export function changeOf(issues: readonly IssueSummary[], changes: ReadonlyMap<string, Change>): Change | undefined {
  const ids = new Set(issues.map((one) => one.id));
  for (const [id, change] of changes) if (ids.has(id)) return change;
  return undefined;
}

interface ListProps {
  app: string;
  memory: boolean;
  changes: ReadonlyMap<string, Change>;
  sessions: number | null;
  columns: Columns;
  /** The beginning that most names share, shown dim. */
  prefix?: string;
  /** Select issues, or no longer; null where nothing can be done with them. */
  select: ((ids: string[]) => void) | null;
}

interface GroupProps extends ListProps {
  group: Group;
  open: boolean;
  fold: () => void;
}

export function Name({ of, prefix = '' }: { of: string; prefix?: string | undefined }): JSX.Element {
  const dim = prefix !== '' && of.startsWith(prefix) ? prefix : '';
  return (
    <span class="fn">
      {dim ? <span class="prefix">{dim}</span> : null}
      {of.slice(dim.length)}
    </span>
  );
}

function Tick({ ids, name, select }: { ids: string[]; name: string; select: ListProps['select'] }): JSX.Element | null {
  if (!select) return null;
  return (
    <input
      type="checkbox"
      class="pick"
      aria-label={say('Select {what}', { what: name })}
      checked={ids.every((id) => selected.value.has(id))}
      onChange={() => select(ids)}
    />
  );
}

/* One row a place: the kinds of trouble there are counts in it. */
function PlaceRow({ group, ...list }: ListProps & { group: Group }): JSX.Element {
  const { app, memory, changes, select } = list;
  const top = group.issues[0]!;
  const ids = group.issues.map((one) => one.id);
  const assignees = [...new Set(group.issues.map((one) => one.assignee).filter((one) => one !== ''))];
  const settled = group.issues.find((one) => one.state !== 'open');
  return (
    <tr class="issue place" data-ids={ids.join(' ')} onDblClick={() => go(issueHref(app, top.id))}>
      <th scope="row">
        <span class="name">
          <Tick ids={ids} name={group.title} select={select} />
          <a href={issueHref(app, top.id)} data-row>
            <span class="id">{top.id}</span>
            <Name of={group.title} prefix={list.prefix} />
          </a>
          {group.scene !== '' && group.scene !== group.title ? (
            <span class="scene">
              {say('in')} {group.scene}
            </span>
          ) : null}
        </span>
        <span class="tags">
          {kindsOf(group.issues).map((one, i) => (
            <Kind key={one.kind} app={app} one={one} counted={group.issues.length > 1} link={i > 0} />
          ))}
          <ReasonTag reason={top.reason} />
          {top.subject ? <span class="tag subject">{top.subject}</span> : null}
          <NamelessTag row={top} />
          {settled ? <StateTag issue={settled} /> : null}
        </span>
      </th>
      <Numbers
        {...list}
        memory={memory}
        row={group}
        change={changeOf(group.issues, changes)}
        assignee={assignees.join(', ')}
      />
    </tr>
  );
}

/* hang, or of several killed 849, which leads to the issue of that kind. */
function Kind(props: { app: string; one: KindCount; counted: boolean; link: boolean }): JSX.Element {
  const { app, one, counted, link } = props;
  const text = counted ? `${kindWord(one.kind)} ${count(one.events, lang.value)}` : kindWord(one.kind);
  return link ? (
    <a class={`tag kind-${one.kind}`} href={issueHref(app, one.ids[0]!)} title={one.ids.join(', ')}>
      {text}
    </a>
  ) : (
    <span class={`tag kind-${one.kind}`}>{text}</span>
  );
}

export function GroupRows(props: GroupProps): JSX.Element {
  const { group, open, fold, ...list } = props;
  const { app, changes, columns, select } = list;
  const [from, setFrom] = useState(0);
  if (query.value.by === 'place')
    return (
      <tbody data-group={group.key}>
        <PlaceRow {...list} group={group} />
      </tbody>
    );
  const top = group.issues[0];
  const shown = group.issues.slice(from, from + SHOWN_ISSUES);
  const ids = group.issues.map((one) => one.id);
  return (
    <tbody data-group={group.key}>
      <tr class="group" data-ids={ids.join(' ')}>
        <th scope="rowgroup">
          <span class="name">
            <Tick ids={ids} name={group.title} select={select} />
            <button type="button" class="fold" data-row aria-expanded={open} onClick={fold}>
              <span class="twist" aria-hidden="true">
                {open ? '▾' : '▸'}
              </span>
              <Name of={query.value.by === 'category' ? kindWord(group.title) : group.title} prefix={list.prefix} />
              {group.image ? <span class="image">{base(group.image)}</span> : null}
            </button>
          </span>
          {!open && top ? (
            <p class="sub">
              <a href={issueHref(app, top.id)}>{top.id}</a> {top.caller2 ? `${say('in')} ${top.caller2}` : ''}{' '}
              {group.issues.length === 1 ? '' : `${say('and {n} more', { n: group.issues.length - 1 })} `}
              <Tags row={top} />
            </p>
          ) : null}
        </th>
        <Numbers {...list} row={group} change={changeOf(group.issues, changes)} assignee="" />
      </tr>
      {open
        ? shown.map((issue) => (
            <IssueRow key={issue.id} {...list} issue={issue} title={issue.caller1 === group.title ? 2 : 1} />
          ))
        : null}
      {open && group.issues.length > SHOWN_ISSUES ? (
        <tr class="issue">
          <th scope="row" colSpan={columns.length}>
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

function IssueRow(props: ListProps & { issue: IssueSummary; title: 1 | 2 }): JSX.Element {
  const { issue, title, ...list } = props;
  const { app, changes, select } = list;
  const to = issueHref(app, issue.id);
  const name = title === 1 || !issue.caller2 ? issue.caller1 : issue.caller2;
  return (
    <tr class="issue" data-ids={issue.id} onDblClick={() => go(to)}>
      <th scope="row">
        <span class="name">
          <Tick ids={[issue.id]} name={issue.id} select={select} />
          <a href={to} data-row>
            <span class="id">{issue.id}</span>
            {title === 2 && issue.caller2 ? <span class="dim">{say('in')} </span> : null}
            <Name of={name} prefix={list.prefix} />
          </a>
          {title === 1 && issue.caller2 ? (
            <span class="scene">
              {say('in')} {issue.caller2}
            </span>
          ) : null}
          <Tags row={issue} />
        </span>
      </th>
      <Numbers {...list} row={issue} change={changes.get(issue.id)} assignee={issue.assignee} />
    </tr>
  );
}

/* The same rows without groups, for the overview. */
export function IssueTable(props: { app: string; issues: readonly IssueSummary[]; memory?: boolean }): JSX.Element {
  const { app, issues, memory = false } = props;
  const what = say(counted(issues.map((issue) => issue.category)));
  const columns = columnsOf(memory, false);
  return (
    <table class="issues flat">
      <caption class="offscreen">{memory ? say('Memory issues') : say('Costliest issues')}</caption>
      <thead>
        <tr>
          {columns.map(([key, label, cell]) => (
            <th key={label} scope="col" class={cell}>
              {key === 'events' ? what : say(label)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {issues.map((issue) => (
          <IssueRow
            key={issue.id}
            app={app}
            memory={memory}
            issue={issue}
            title={1}
            changes={NO_CHANGES}
            sessions={null}
            columns={columns}
            select={null}
          />
        ))}
      </tbody>
    </table>
  );
}

const NO_CHANGES: ReadonlyMap<string, Change> = new Map();

/* resolved in 8.0.40, regressed in 8.0.41, ignored until 9.0 */
export function StateTag({ issue }: { issue: Pick<IssueSummary, 'state' | 'state_version'> }): JSX.Element {
  const version = issue.state_version;
  const words: Record<string, string> = {
    resolved: version === '' ? say('resolved') : say('resolved in {version}', { version }),
    regressed: version === '' ? say('regressed') : say('regressed in {version}', { version }),
    ignored: version === '' ? say('ignored') : say('ignored until {version}', { version }),
  };
  return <span class={`tag state-${issue.state}`}>{words[issue.state] ?? word(issue.state)}</span>;
}

/* An unknown reason has no tag. */
export function ReasonTag({ reason }: { reason: string }): JSX.Element | null {
  return reason === 'unknown' ? null : <span class={`tag reason-${reason}`}>{reasonWord(reason)}</span>;
}

/* The function to blame is an address. */
function NamelessTag({ row }: { row: IssueSummary }): JSX.Element | null {
  return namelessModule(row.caller1) === '' ? null : <span class="tag unnamed">{say('no symbols')}</span>;
}

function Tags({ row }: { row: IssueSummary }): JSX.Element {
  return (
    <>
      <span class={`tag kind-${row.category}`}>{kindWord(row.category)}</span>
      <ReasonTag reason={row.reason} />
      {row.subject ? <span class="tag subject">{row.subject}</span> : null}
      <NamelessTag row={row} />
      {row.state === 'open' ? null : <StateTag issue={row} />}
    </>
  );
}
