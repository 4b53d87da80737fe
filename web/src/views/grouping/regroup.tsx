/* The changes of a merge, a split or an undo, from the server, before it is done. */

import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { IssueSummary, Regrouped } from '../../api/types';
import { Spark } from '../../charts/spark';
import { lang, say } from '../../lib/i18n';
import { word } from '../../lib/words';
import { exact } from '../../model/format';
import { type Change, changes } from '../../model/grouping';
import { Panel } from '../parts';

interface Props {
  title: string;
  seen: Regrouped;
  busy: boolean;
  confirm: () => void;
  leave: () => void;
}

export function WouldBe({ title, seen, busy, confirm, leave }: Props): JSX.Element {
  const first = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    first.current?.focus();
    first.current?.scrollIntoView?.({ block: 'center' });
  }, [seen]);
  return (
    <Panel title={say('What would change')} class="would-be">
      <p>
        {say('Nothing has changed yet. {n|report|reports} would be shown as another issue.', {
          n: exact(seen.reports, lang.value),
        })}
      </p>
      <table class="tight">
        <thead>
          <tr>
            <th scope="col">{say('Issue')}</th>
            <th scope="col">{say('Before')}</th>
            <th scope="col">{say('After')}</th>
          </tr>
        </thead>
        <tbody>
          {changes(seen).map((one) => (
            <Line key={one.issue.id} change={one} />
          ))}
        </tbody>
      </table>
      <p class="under-title">
        <button ref={first} type="button" class="primary" disabled={busy} onClick={confirm}>
          {title}
        </button>
        <button type="button" disabled={busy} onClick={leave}>
          {say('Cancel')}
        </button>
      </p>
    </Panel>
  );
}

/* A split gives its new issue a number only when it is done. */
function Line({ change: { issue, before, after } }: { change: Change }): JSX.Element {
  const opened = !before && issue.split_from !== null;
  return (
    <tr>
      <th scope="row">
        <span class="id">{opened ? say('A new issue') : issue.id}</span> <span class="fn">{issue.caller1}</span>{' '}
        {say('in')} <span class="fn">{issue.caller2}</span>
      </th>
      <td>
        {before ? <Counts of={before} /> : <span class="dim">{opened ? say('not there yet') : say('merged')}</span>}
      </td>
      <td>{after ? <Counts of={after} /> : <span class="dim">{say('merged')}</span>}</td>
    </tr>
  );
}

function Counts({ of: { totals, trend, state } }: { of: IssueSummary }): JSX.Element {
  return (
    <>
      <Spark values={trend} lang={lang.value} what={say('events')} />{' '}
      {say('{n|report|reports}', { n: exact(totals.reports, lang.value) })},{' '}
      {say('{n|device|devices}', { n: exact(totals.devices, lang.value) })}{' '}
      {state === 'open' ? null : <span class="tag">{word(state)}</span>}
    </>
  );
}
