/* The list beside an issue, in a wide window: a row an issue or place, of which the shown one is marked. */

import type { JSX } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { Change, IssueList, IssueSummary } from '../../api/types';
import { lang, say } from '../../lib/i18n';
import { query } from '../../lib/location';
import { kindWord } from '../../lib/words';
import { count, exact } from '../../model/format';
import { sharedPrefix } from '../../model/prefix';
import { carried, href, isMemory } from '../../model/view';
import { useChanges, useListOf } from '../issues/issues';
import { Badge, changeOf, Name } from '../issues/rows';
import { Loaded } from '../parts';

interface OfIssue {
  app: string;
  id: string;
}

/* Rows shown at once, around the marked one: groups of a function or a kind may have any number of issues. */
const ROWS = 60;

interface Row {
  issue: IssueSummary;
  /** All of a place; otherwise the issue alone. */
  issues: readonly IssueSummary[];
  scene: string;
  events: number;
}

function rowsOf(data: IssueList): Row[] {
  if (data.groups.every((group) => group.scene === ''))
    return data.groups.flatMap((group) =>
      group.issues.map((issue) => ({ issue, issues: [issue], scene: issue.caller2, events: issue.totals.events })),
    );
  return data.groups.map(({ issues, scene, totals }) => ({ issue: issues[0]!, issues, scene, events: totals.events }));
}

export function Beside({ app, id }: OfIssue): JSX.Element {
  const result = useListOf(app, isMemory(id));
  return (
    <Loaded result={result} rows={18} label={say('issues')}>
      {(data) => <List app={app} id={id} data={data} />}
    </Loaded>
  );
}

function List({ app, id, data }: OfIssue & { data: IssueList }): JSX.Element {
  const list = useRef<HTMLOListElement>(null);
  const { changes } = useChanges(app, data.sessions !== null && !data.faceted);
  const all = useMemo(() => rowsOf(data), [data]);
  const prefix = useMemo(() => sharedPrefix(all.map((row) => row.issue.caller1)), [data]);
  const at = all.findIndex((row) => row.issues.some((issue) => issue.id === id));
  const from = Math.max(0, Math.min(at - ROWS / 2, all.length - ROWS));
  const rows = all.slice(from, from + ROWS);
  const links = () => [...(list.current?.querySelectorAll('a') ?? [])];
  const move = (by: 1 | -1) => {
    const now = links().indexOf(document.activeElement as HTMLAnchorElement);
    links()[now < 0 ? Math.max(0, at - from) : now + by]?.focus();
  };
  /* The marked row is seen, however far down the list it is. */
  useEffect(() => {
    const [pane, row] = [
      list.current?.closest<HTMLElement>('.pane'),
      list.current?.querySelector<HTMLElement>('[aria-current]'),
    ];
    if (!pane || !row) return;
    const above = row.getBoundingClientRect().top - pane.getBoundingClientRect().top;
    if (above < 0 || above + row.offsetHeight > pane.clientHeight) pane.scrollTop += above - pane.clientHeight / 3;
  }, [id, data]);
  const onKey = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (by !== 0) move(by);
    else if (event.key === 'Escape') document.getElementById('main')?.focus({ preventScroll: true });
    else return;
    event.preventDefault();
  };
  return (
    <nav aria-label={say('The list beside the issue')} onKeyDown={onKey}>
      <ol ref={list}>
        {rows.map((row, i) => (
          <li key={row.issue.id}>
            <ListRow
              app={app}
              row={row}
              prefix={prefix}
              shown={from + i === at}
              first={i === Math.max(0, at - from)}
              changes={changes}
            />
          </li>
        ))}
      </ol>
      {data.next === null && rows.length === all.length ? null : (
        <p class="dim small">
          {say('{n} of {total}', { n: rows.length, total: exact(data.issues_total, lang.value) })}
        </p>
      )}
    </nav>
  );
}

interface ListRowProps {
  app: string;
  row: Row;
  prefix: string;
  shown: boolean;
  /** The one that Tab comes to: arrows lead on. */
  first: boolean;
  changes: ReadonlyMap<string, Change>;
}

function ListRow({ app, row, prefix, shown, first, changes }: ListRowProps): JSX.Element {
  const { issue } = row;
  const change = changeOf(row.issues, changes);
  const to = href({ name: 'issue', app, id: issue.id }, { ...carried(query.value), tab: query.value.tab });
  return (
    <a href={to} aria-current={shown ? 'page' : undefined} tabIndex={first ? 0 : -1}>
      <span class="line">
        <span class="id">{issue.id}</span> <Name of={issue.caller1} prefix={prefix} />
      </span>
      <span class="line dim small">
        <span class="where">
          {row.scene && row.scene !== issue.caller1 ? `${say('in')} ${row.scene}` : kindWord(issue.category)}
        </span>{' '}
        {change ? <Badge change={change} /> : null} <span class="num">{count(row.events, lang.value)}</span>
      </span>
    </a>
  );
}
