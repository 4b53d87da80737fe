/* Grouping: similar issues, the parts of this one, and merge, split and undo, each with a preview. */

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api, ProblemError } from '../../api/client';
import type { Act, Provenance, Regrouped, Similar, Suggestion, Tree } from '../../api/types';
import { lang, say } from '../../lib/i18n';
import { query } from '../../lib/location';
import { recall, remember } from '../../lib/memory';
import { client, useQuery } from '../../lib/query';
import { useSignIn } from '../../lib/who';
import { exact, percent } from '../../model/format';
import { type Row, rows } from '../../model/grouping';
import { base } from '../../model/name';
import { carried, href } from '../../model/view';
import { may } from '../../model/who';
import { Exports } from '../exports';
import { Ago, announce, Loaded, Panel } from '../parts';
import { WouldBe } from './regroup';

/** An action, with the words of its button. */
interface Deed {
  title: string;
  /** The reason if the user gives none. */
  otherwise: string;
  send: (who: { author: string; reason: string; preview: boolean }) => Promise<Regrouped>;
}

interface Doing {
  /** Show the changes of an action, and do it after confirmation. */
  ask: (deed: Deed) => void;
  busy: boolean;
  /** Whether the person may: what is not allowed is left out. */
  allowed: boolean;
}

export function GroupingTab({ app, id }: { app: string; id: string }): JSX.Element {
  const { t, v } = query.value;
  const scope = { t, v };
  const similar = useQuery(['similar', app, id, t, v], (signal) => api.similar(app, id, scope, signal));
  const made = useQuery(['provenance', app, id, t, v], (signal) => api.provenance(app, id, scope, signal));
  const who = useSignIn()?.who;
  const [typed, setTyped] = useState(recall('author') ?? '');
  const author = who?.has_account ? who.name : typed;
  const allowed = may(who, app, 'triager');
  const [reason, setReason] = useState('');
  const [busy, setBusy] = useState(false);
  const [asked, setAsked] = useState<{ deed: Deed; seen: Regrouped } | null>(null);
  const [notice, setNotice] = useState<{ text: string; bad: boolean } | null>(null);
  const tell = (text: string, bad: boolean) => {
    setNotice({ text, bad });
    announce(text);
  };
  const send = ({ send, otherwise }: Deed, preview: boolean, done: (seen: Regrouped) => void) => {
    setBusy(true);
    setNotice(null);
    send({ author: author.trim() || 'preview', reason: reason.trim() || otherwise, preview })
      .then(done, (error: unknown) =>
        tell(
          error instanceof ProblemError ? error.detail || error.title : say('The server could not be reached'),
          true,
        ),
      )
      .finally(() => setBusy(false));
  };
  const ask = (deed: Deed) => send(deed, true, (seen) => setAsked({ deed, seen }));
  const confirm = (deed: Deed) => {
    if (author.trim() === '') {
      tell(say('Enter your name. It is recorded with your changes.'), true);
      return;
    }
    send(deed, false, ({ reports }) => {
      setAsked(null);
      tell(say('Done: {n|report|reports} moved.', { n: exact(reports, lang.value) }), false);
      void client.invalidateQueries();
    });
  };
  const doing: Doing = { ask, busy, allowed };
  return (
    <>
      <div class="who-why" role="group" aria-label={say('Who and why')} hidden={!allowed}>
        {who?.has_account ? null : (
          <label>
            {say('Your name')}{' '}
            <input
              value={typed}
              maxLength={128}
              autocomplete="name"
              onInput={(event) => {
                setTyped(event.currentTarget.value);
                remember('author', event.currentTarget.value);
              }}
            />
          </label>
        )}
        <label>
          {say('Why (if you like)')}{' '}
          <input value={reason} maxLength={2000} onInput={(event) => setReason(event.currentTarget.value)} />
        </label>
      </div>
      {notice ? (
        <div class={notice.bad ? 'notice bad' : 'notice'} role={notice.bad ? 'alert' : 'status'}>
          {notice.text}
        </div>
      ) : null}
      {asked ? (
        <WouldBe
          title={asked.deed.title}
          seen={asked.seen}
          busy={busy}
          confirm={() => confirm(asked.deed)}
          leave={() => setAsked(null)}
        />
      ) : null}
      <Loaded result={similar} rows={2} label={say('similar issues')}>
        {(data) => <Alike app={app} id={id} data={data} doing={doing} />}
      </Loaded>
      <Loaded result={made} rows={8} label={say('parts')}>
        {(data) => <Parts app={app} id={id} data={data} doing={doing} />}
      </Loaded>
    </>
  );
}

function Alike({ app, id, data, doing }: { app: string; id: string; data: Similar; doing: Doing }): JSX.Element {
  return (
    <Panel title={say('Similar issues')}>
      {data.suggestions.length === 0 ? (
        <p class="dim">
          {data.trees === 0
            ? say('No stack of this issue is kept, so it cannot be compared.')
            : say('No other issue has a similar stack.')}
        </p>
      ) : (
        data.suggestions.map((one) => <Card key={one.issue.id} app={app} id={id} one={one} doing={doing} />)
      )}
      <Exports
        path={`apps/${app}/issues/${id}/similar`}
        asked={{ t: query.value.t, v: query.value.v }}
        of={say('Similar issues')}
      />
    </Panel>
  );
}

function Card({ app, id, one, doing }: { app: string; id: string; one: Suggestion; doing: Doing }): JSX.Element {
  const { issue } = one;
  const n = exact(issue.totals.reports, lang.value);
  const share = percent(one.likeness, lang.value);
  const { t, v } = query.value;
  const merge: Deed = {
    title: say('Merge {id} into this: {n|report|reports}', { id: issue.id, n }),
    otherwise: `stacks alike by ${one.likeness.toFixed(2)}`,
    send: (who) => api.merge(app, id, { t, v }, { ...who, issues: [issue.id] }),
  };
  return (
    <section class="alike" aria-label={issue.id}>
      <p class="under-title">
        <a class="id" href={href({ name: 'issue', app, id: issue.id }, carried(query.value))}>
          {issue.id}
        </a>
        <span class="fn">{issue.caller1}</span>
        <span>
          {say('in')} <span class="fn">{issue.caller2}</span>
        </span>
        <span class="tag">{say('{share} similar', { share })}</span>
        {one.suggested ? <span class="tag">{say('likely the same')}</span> : null}
        <span class="grow" />
        <button type="button" hidden={!doing.allowed} disabled={doing.busy} onClick={() => doing.ask(merge)}>
          {merge.title}
        </button>
      </p>
      <details>
        <summary>{say('The two stacks, {n|frame|frames} in common', { n: one.aligned.length })}</summary>
        <Aligned id={id} other={issue.id} lines={rows(one)} />
      </details>
    </section>
  );
}

function Aligned({ id, other, lines }: { id: string; other: string; lines: Row[] }): JSX.Element {
  return (
    <table class="tight aligned">
      <thead>
        <tr>
          <th scope="col">{id}</th>
          <th scope="col">{other}</th>
          <th scope="col" class="num">
            {say('Worth')}
          </th>
        </tr>
      </thead>
      <tbody>
        {lines.map((line, i) => (
          <tr key={i} class={line.weight === null ? 'apart' : 'same'}>
            <td class="fn">
              {line.ours ? `${line.ours.function}${line.oursIsCaller1 ? ` ◂ ${say('Culprit')}` : ''}` : ''}
            </td>
            <td class="fn">
              {line.theirs ? `${line.theirs.function}${line.theirsIsCaller1 ? ` ◂ ${say('Culprit')}` : ''}` : ''}
            </td>
            <td class="num">{line.weight === null ? '' : percent(line.weight, lang.value)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Parts({ app, id, data, doing }: { app: string; id: string; data: Provenance; doing: Doing }): JSX.Element {
  const [chosen, setChosen] = useState<string[]>([]);
  const there = chosen.filter((one) => data.trees.some((tree) => tree.id === one));
  const moved = data.trees.filter((tree) => there.includes(tree.id)).reduce((sum, tree) => sum + tree.reports, 0);
  const { t, v } = query.value;
  const split: Deed = {
    title: say('Split off as a separate issue: {n|report|reports}', { n: exact(moved, lang.value) }),
    otherwise: 'another way to the same function',
    send: (who) => api.split(app, id, { t, v }, { ...who, trees: there }),
  };
  const out = (member: string): Deed => ({
    title: say('Unmerge {id}', { id: member }),
    otherwise: 'not the same',
    send: (who) => api.unmerge(app, id, { t, v }, { ...who, issues: [member] }),
  });
  const undo = (act: Act): Deed => ({
    title: say('Undo {what}', { what: act.what }),
    otherwise: 'taken back',
    send: (who) => api.unmerge(app, id, { t, v }, { ...who, act: act.act }),
  });
  return (
    <>
      {data.members.length > 1 ? (
        <Panel title={say('Shown as this issue')}>
          <ul class="members">
            {data.members.map((one) => (
              <li key={one.id}>
                <span class="id">{one.id}</span> <span class="fn">{one.caller1}</span> {say('in')}{' '}
                <span class="fn">{one.caller2}</span>{' '}
                <span class="dim">{say('{n|report|reports}', { n: exact(one.reports, lang.value) })}</span>{' '}
                {one.id === data.id ? null : (
                  <button
                    type="button"
                    hidden={!doing.allowed}
                    disabled={doing.busy}
                    onClick={() => doing.ask(out(one.id))}
                  >
                    {out(one.id).title}
                  </button>
                )}
              </li>
            ))}
          </ul>
        </Panel>
      ) : null}
      <Panel title={say('Call paths')}>
        <ul class="trees">
          {data.trees.map((tree) => (
            <TreeLine
              key={tree.id}
              tree={tree}
              chosen={there.includes(tree.id)}
              choose={(on) => setChosen(on ? [...there, tree.id] : there.filter((one) => one !== tree.id))}
            />
          ))}
        </ul>
        {data.other_reports > 0 ? (
          <p class="dim">{say('{n|report|reports} by other ways', { n: exact(data.other_reports, lang.value) })}</p>
        ) : null}
        {there.length > 0 ? (
          <button type="button" hidden={!doing.allowed} disabled={doing.busy} onClick={() => doing.ask(split)}>
            {split.title}
          </button>
        ) : null}
      </Panel>
      {data.acts.length > 0 ? (
        <Panel title={say('Merged and split')}>
          <ul class="acts">
            {data.acts.map((act) => (
              <ActLine key={`${act.act} ${act.what}`} act={act} undo={undo(act)} doing={doing} />
            ))}
          </ul>
        </Panel>
      ) : null}
    </>
  );
}

interface TreeLineProps {
  tree: Tree;
  chosen: boolean;
  choose: (on: boolean) => void;
}

function TreeLine({ tree, chosen, choose }: TreeLineProps): JSX.Element {
  const from = tree.frames.slice(tree.caller1 ?? 0, (tree.caller1 ?? 0) + 4);
  return (
    <li>
      <label>
        <input type="checkbox" checked={chosen} onChange={(event) => choose(event.currentTarget.checked)} />{' '}
        <span class="fn">{from.map((frame) => frame.function).join(' ‹ ') || '—'}</span>
      </label>{' '}
      <span class="dim">
        {base(from[0]?.image ?? '')} · {say('{n|report|reports}', { n: exact(tree.reports, lang.value) })} · {tree.id}
      </span>
    </li>
  );
}

function ActLine({ act, undo, doing }: { act: Act; undo: Deed; doing: Doing }): JSX.Element {
  return (
    <li>
      {act.what} → {act.into}: {act.author}, <Ago at={act.at} />: {act.reason}{' '}
      {act.undone_at ? (
        <span class="dim">
          {say('undone by {who}', { who: act.undone_by })}, <Ago at={act.undone_at} />: {act.undone_why}
        </span>
      ) : (
        <button type="button" hidden={!doing.allowed} disabled={doing.busy} onClick={() => doing.ask(undo)}>
          {undo.title}
        </button>
      )}
    </li>
  );
}
