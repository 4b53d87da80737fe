/* Rules of an app's own: the version in force, a draft with its preview on stored reports, every change, and the
 * built-in packs. */

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api, ProblemError } from '../../api/client';
import type { Rules, RulesJob } from '../../api/types';
import { gap, lang, say } from '../../lib/i18n';
import { idle } from '../../lib/live';
import { client, useQuery } from '../../lib/query';
import { useSignIn } from '../../lib/who';
import { kindWord, reasonWord } from '../../lib/words';
import { exact } from '../../model/format';
import { ownRule } from '../../model/stack';
import { may } from '../../model/who';
import { Copyable } from '../copyable';
import { announce, Loaded, Moment, Panel } from '../parts';

export function RulesPage({ app }: { app: string }): JSX.Element {
  const result = useQuery(['rules', app], (signal) => api.rules(app, null, signal), {
    again: (data) =>
      data?.jobs.some((job) => job.state !== 'done' && job.state !== 'cancelled') ? 1_000 : idle(30_000),
  });
  return (
    <>
      <h1>{say('Rules')}</h1>
      <p class="dim">
        {say(
          'Rules decide which function an issue blames. The first rule that fits a function decides; those of the app come first.',
        )}
      </p>
      <Loaded result={result} rows={14} label={say('rules')}>
        {(rules) => (
          <>
            <Editor key={rules.version} app={app} rules={rules} />
            <Jobs rules={rules} />
            <Proposed rules={rules} />
            <History app={app} rules={rules} />
            <Packs rules={rules} />
          </>
        )}
      </Loaded>
    </>
  );
}

/* The key stays here: it is asked for again when the page is. */
function Editor({ app, rules }: { app: string; rules: Rules }): JSX.Element {
  const [draft, setDraft] = useState(rules.rules);
  const [key, setKey] = useState('');
  const who = useSignIn()?.who;
  const [typed, setTyped] = useState('');
  const author = who?.has_account ? who.name : typed;
  const allowed = may(who, app, 'admin');
  const lacks = !who?.has_account && key === '';
  const [reason, setReason] = useState('');
  const [job, setJob] = useState<number | null>(null);
  const [fault, setFault] = useState('');
  const [busy, setBusy] = useState(false);
  const attempt = async (what: () => Promise<void>) => {
    setBusy(true);
    setFault('');
    try {
      await what();
    } catch (error) {
      setFault(error instanceof ProblemError ? error.detail || error.title : say('The server could not be reached'));
    }
    setBusy(false);
  };
  const preview = () => attempt(async () => setJob((await api.previewRules(app, key, draft)).job));
  const save = () =>
    attempt(async () => {
      const { version } = await api.changeRules(app, key, { base: rules.version, author, reason, rules: draft });
      announce(say('Version {n} is in force', { n: exact(version, lang.value) }));
      await client.invalidateQueries({ queryKey: ['rules', app] });
    });
  const field = (label: string, value: string, set: (text: string) => void, type: 'text' | 'password' = 'text') => (
    <label class="field">
      {label}
      <input
        type={type as 'text'}
        value={value}
        autocomplete="off"
        required
        onInput={(event) => set((event.currentTarget as HTMLInputElement).value)}
      />
    </label>
  );
  return (
    <Panel
      title={say('Rules of this app')}
      aside={
        <span class="dim">
          {rules.version === 0 ? say('none yet') : say('version {n}', { n: exact(rules.version, lang.value) })}
        </span>
      }
    >
      <form
        class="rules-form"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <label class="field">
          {say('One rule a line: class, conditions, module, function')}
          <textarea
            rows={12}
            spellcheck={false}
            readOnly={!allowed}
            value={draft}
            placeholder="container my-app cart_*"
            onInput={(event) => setDraft((event.currentTarget as HTMLTextAreaElement).value)}
          />
        </label>
        <div class="fields" hidden={!allowed}>
          {who?.has_account ? null : field(say('Rules key'), key, setKey, 'password')}
          {who?.has_account ? null : field(say('Author'), typed, setTyped)}
          {field(say('Reason'), reason, setReason)}
        </div>
        <div class="buttons" hidden={!allowed}>
          <button type="button" aria-disabled={busy || lacks} onClick={() => !busy && !lacks && void preview()}>
            {say('Preview on stored reports')}
          </button>
          <button type="submit" class="primary">
            {say('Save')}
          </button>
        </div>
        <p role="alert" class="bad-text">
          {fault}
        </p>
      </form>
      {job === null ? null : <Preview app={app} job={job} />}
    </Panel>
  );
}

function Preview({ app, job }: { app: string; job: number }): JSX.Element {
  const result = useQuery(['rules-job', app, job], (signal) => api.rulesJob(app, job, signal), {
    keep: false,
    again: (data) => (data && (data.state === 'done' || data.state === 'cancelled') ? false : 500),
  });
  return (
    <Loaded result={result} rows={4} label={say('preview')}>
      {(found) => (
        <>
          <p role="status">
            {found.state === 'done'
              ? say('{moved} of {n|report|reports} would move; {new} issues would appear, {gone} vanish.', {
                  moved: exact(found.moved, lang.value),
                  n: exact(found.reports, lang.value),
                  new: exact(found.issues_new, lang.value),
                  gone: exact(found.issues_gone, lang.value),
                })
              : say('{done} of {n|report|reports} looked at…', {
                  done: exact(found.done, lang.value),
                  n: exact(found.reports, lang.value),
                })}
            {found.state === 'done' && found.exemplars < found.reports ? (
              <span class="dim">
                {gap()}
                {say('Estimated from {n} of them, some of each issue.', { n: exact(found.exemplars, lang.value) })}
              </span>
            ) : null}
          </p>
          <Flows job={found} />
        </>
      )}
    </Loaded>
  );
}

function Flows({ job }: { job: RulesJob }): JSX.Element | null {
  const moving = job.flows.filter((flow) => flow.to_issue !== flow.from_issue);
  if (moving.length === 0) return null;
  return (
    <div class="scroll" role="region" aria-label={say('What would move')} tabIndex={0}>
      <table class="tight">
        <thead>
          <tr>
            <th scope="col" class="num">
              {say('Reports')}
            </th>
            <th scope="col">{say('From')}</th>
            <th scope="col">{say('To')}</th>
            <th scope="col">{say('In')}</th>
            <th scope="col">{say('Kind')}</th>
          </tr>
        </thead>
        <tbody>
          {moving.slice(0, 50).map((flow, i) => (
            <tr key={i}>
              <td class="num">{exact(flow.reports, lang.value)}</td>
              <td>{flow.from_caller1}</td>
              <td>
                {flow.caller1} {flow.to_issue === null ? <span class="dim">{say('(a new issue)')}</span> : null}
              </td>
              <td>{flow.caller2}</td>
              <td>
                {kindWord(flow.category)} · {reasonWord(flow.reason)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Jobs({ rules }: { rules: Rules }): JSX.Element | null {
  const running = rules.jobs.filter((job) => job.state === 'queueing' || job.state === 'running');
  if (running.length === 0) return null;
  return (
    <Panel title={say('Applied to stored reports')}>
      {running.map((job) => (
        <p key={job.job} role="status">
          {say('{done} of {n|report|reports} looked at…', {
            done: exact(job.done, lang.value),
            n: exact(job.reports, lang.value),
          })}{' '}
          <span class="dim">{job.detail}</span>
        </p>
      ))}
    </Panel>
  );
}

/* Modules that no other app's reports have. */
function Proposed({ rules }: { rules: Rules }): JSX.Element | null {
  if (rules.proposed.length === 0) return null;
  return (
    <Panel title={say('Modules that may be the app’s')}>
      <p class="dim">
        {say(
          'Their owner is unknown: the devices have no record of one, and no report of {n|other app|other apps} contains them. If they are part of the app, these rules assign their functions to the app.',
          { n: exact(rules.apps_compared, lang.value) },
        )}
      </p>
      <Copyable label={say('Rules to add')} text={rules.proposed.map((one) => ownRule(one.module)).join('\n')} />
    </Panel>
  );
}

function History({ app, rules }: { app: string; rules: Rules }): JSX.Element | null {
  const [shown, setShown] = useState<{ version: number; text: string } | null>(null);
  if (rules.history.length === 0) return null;
  const show = async (version: number) => setShown({ version, text: (await api.rules(app, version)).rules });
  return (
    <Panel title={say('Changes')}>
      <div class="scroll" role="region" aria-label={say('Changes')} tabIndex={0}>
        <table class="tight">
          <thead>
            <tr>
              <th scope="col">{say('Version')}</th>
              <th scope="col">{say('Made')}</th>
              <th scope="col">{say('Author')}</th>
              <th scope="col">{say('Reason')}</th>
            </tr>
          </thead>
          <tbody>
            {rules.history.map((row) => (
              <tr key={row.version}>
                <th scope="row">
                  <button type="button" class="link" onClick={() => void show(row.version)}>
                    {exact(row.version, lang.value)}
                  </button>
                </th>
                <td>{row.made_at ? <Moment at={row.made_at} /> : null}</td>
                <td>{row.author}</td>
                <td>{row.reason}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {shown ? (
        <pre
          class="rules-text"
          role="region"
          aria-label={say('version {n}', { n: String(shown.version) })}
          tabIndex={0}
        >
          {shown.text}
        </pre>
      ) : null}
    </Panel>
  );
}

function Packs({ rules }: { rules: Rules }): JSX.Element {
  return (
    <Panel title={say('Built-in packs')}>
      {rules.packs.map((pack) => (
        <details key={pack.name}>
          <summary>
            {pack.name}{' '}
            <span class="dim">
              {say('version {n}', { n: exact(pack.version, lang.value) })} ·{' '}
              {say('{n|rule|rules}', { n: exact(pack.rules, lang.value) })}
            </span>
          </summary>
          <pre class="rules-text" role="region" aria-label={pack.name} tabIndex={0}>
            {pack.text}
          </pre>
        </details>
      ))}
    </Panel>
  );
}
