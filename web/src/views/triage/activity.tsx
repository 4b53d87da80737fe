/* The activity of an issue: states, assignments, regressions, merges and comments, newest first. */

import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { api, ProblemError } from '../../api/client';
import type { Activity, ActivityAct } from '../../api/types';
import { lang, say } from '../../lib/i18n';
import { useKeys } from '../../lib/keys';
import { useQuery } from '../../lib/query';
import { useSignIn } from '../../lib/who';
import { moment } from '../../model/format';
import { may } from '../../model/who';
import { Exports } from '../exports';
import { Ago, Loaded } from '../parts';
import { refresh, undo } from './act';
import { useMayTriage } from './buttons';
import { Markdown } from './markdown';

interface OfIssue {
  app: string;
  id: string;
}

export function ActivityTab({ app, id }: OfIssue): JSX.Element {
  const result = useQuery(['activity', app, id], (signal) => api.activity(app, id, signal));
  const mayTriage = useMayTriage(app);
  return (
    <>
      {mayTriage ? <CommentForm app={app} id={id} /> : null}
      <Loaded result={result} rows={6} label={say('activity')}>
        {(data) => <Acts app={app} id={id} data={data} />}
      </Loaded>
    </>
  );
}

function Acts({ app, id, data }: OfIssue & { data: Activity }): JSX.Element {
  if (data.acts.length === 0) return <p class="dim">{say('This issue has no activity yet.')}</p>;
  return (
    <>
      <ol class="activity">
        {data.acts.map((act) => (
          <li key={`${act.kind}${act.id}`} class={act.undone_at ? 'undone' : undefined}>
            <p>
              <strong>{act.who === 'mire' ? 'Mire' : act.who}</strong> {sentence(act)} <Ago at={act.at} />
              {act.undone_at ? <span class="dim"> · {say('undone by {who}', { who: act.undone_by })}</span> : null}{' '}
              <Way app={app} id={id} act={act} />
            </p>
            {act.kind === 'comment' ? <Markdown text={act.body} /> : null}
            {act.kind === 'state' || act.kind === 'merged' || act.kind === 'split' ? (
              act.body !== '' ? (
                <p class="dim">{act.body}</p>
              ) : null
            ) : null}
          </li>
        ))}
      </ol>
      <Exports path={`apps/${app}/issues/${id}/activity`} of={say('Activity')} />
    </>
  );
}

/* The actions on a row: undo the act, or remove the comment. */
function Way({ app, id, act }: OfIssue & { act: ActivityAct }): JSX.Element | null {
  const who = useSignIn()?.who;
  const mayTriage = useMayTriage(app);
  if (act.undone_at || !mayTriage) return null;
  if (act.kind === 'state' || act.kind === 'assigned')
    return (
      <button type="button" class="link" onClick={() => void undo(act.batch, app)}>
        {say('Undo')}
      </button>
    );
  if (act.kind !== 'comment' || !(act.who === who?.name || may(who, app, 'admin'))) return null;
  const remove = async () => {
    await api.removeComment(app, id, act.id).catch(() => {});
    refresh();
  };
  return (
    <button type="button" class="link" onClick={() => void remove()}>
      {say('Remove')}
    </button>
  );
}

function sentence(act: ActivityAct): string {
  const { kind, after } = act;
  const version = after?.state_version ?? '';
  if (kind === 'comment') return say('wrote');
  if (kind === 'assigned')
    return after?.assignee ? say('assigned it to {who}', { who: after.assignee }) : say('assigned it to nobody');
  if (kind === 'regressed') return say('opened it again: regressed in {version}', { version: act.body });
  if (kind === 'returned') return say('opened it: {why} was reached', { why: returned(act.body) });
  if (kind === 'merged') return say('merged {issues}', { issues: act.issues });
  if (kind === 'split') return say('split trees of {issues} off', { issues: act.issues });
  if (after?.state === 'resolved') return say('resolved it in {version}', { version });
  if (after?.state === 'ignored') return `${say('ignored it')} ${until(act)}`.trim();
  return say('opened it');
}

/* "time", "12 devices", "4.2 per 1,000" or a version, as the server writes it. */
function returned(why: string): string {
  const devices = /^(\d+) devices$/.exec(why);
  const rate = /^([\d.e+]+) per 1,000$/.exec(why);
  if (why === 'time') return say('the time');
  if (devices) return devices[1] === '1' ? say('its next report') : say('{n} devices', { n: devices[1]! });
  if (rate) return say('{n} hits per 1,000 sessions', { n: rate[1]! });
  return why;
}

function until({ after }: ActivityAct): string {
  const parts = [
    after?.state_version ? say('until {version}', { version: after.state_version }) : '',
    after?.until_at ? say('until {time}', { time: moment(new Date(after.until_at), 'local', lang.value) }) : '',
    after?.until_devices === 1 ? say('until its next report') : '',
    after?.until_devices && after.until_devices > 1 ? say('until {n} devices have it', { n: after.until_devices }) : '',
    after?.until_per_1000 ? say('until {n} hits per 1,000 sessions', { n: after.until_per_1000 }) : '',
  ];
  return parts.filter((one) => one !== '').join(say(' or '));
}

/* The key for a comment was pressed on another tab: the field takes the focus when it is there. */
export const wantsComment = signal(false);

function CommentForm({ app, id }: OfIssue): JSX.Element {
  const field = useRef<HTMLTextAreaElement>(null);
  const [error, setError] = useState('');
  useKeys({ comment: () => field.current?.focus() });
  useEffect(() => {
    if (wantsComment.value) field.current?.focus();
    wantsComment.value = false;
  }, []);
  const submit = async (event: Event) => {
    event.preventDefault();
    const text = field.current?.value ?? '';
    if (text.trim() === '') return field.current?.focus();
    try {
      await api.comment(app, id, text);
      if (field.current) field.current.value = '';
      setError('');
    } catch (fault) {
      setError(fault instanceof ProblemError ? fault.detail || fault.title : say('The server could not be reached'));
    }
    refresh();
  };
  return (
    <form class="comment" onSubmit={submit}>
      <label>
        {say('Comment')}
        <textarea ref={field} rows={3} maxLength={10_000} aria-keyshortcuts="c" />
      </label>
      {error === '' ? null : <p role="alert">{error}</p>}
      <p class="row">
        <button type="submit">{say('Add the comment')}</button>
        <span class="dim small">{say('Markdown: **strong**, *emphasis*, `code`, lists, links')}</span>
      </p>
    </form>
  );
}
