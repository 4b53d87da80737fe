/* /:app/rollout - the rules of the app's rollout, how the devices answered, ramps, one device, and every change. */

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api } from '../../api/client';
import type { RolloutRule, RolloutRules } from '../../api/types';
import { gap, lang, say } from '../../lib/i18n';
import { useQuery } from '../../lib/query';
import { useTitle } from '../../lib/title';
import { useSignIn } from '../../lib/who';
import { exact } from '../../model/format';
import { PLUGINS, percentOf, probabilityOf, shareChanges, whenOf, withShare } from '../../model/rollout';
import { may } from '../../model/who';
import { Loaded, Moment, Panel } from '../parts';
import { Field, Form, useAttempt } from '../people/forms';
import { Devices, OneDevice } from './devices';
import { History } from './history';
import { type Author, held, pluginName } from './parts';
import { Ramps } from './ramps';

export function RolloutPage({ app }: { app: string }): JSX.Element {
  useTitle(say('Rollout of {app}', { app }));
  const who = useSignIn()?.who;
  const result = useQuery(['rollout', app], (signal) => api.rollout(app, signal), {
    again: (data) => (data?.ramps.some((ramp) => ramp.state === 'running') ? 60_000 : false),
  });
  return (
    <>
      <h1>{say('Rollout')}</h1>
      <p class="dim">
        {say(
          'The rollout decides which installations run which part of Mire. A change reaches a device at its next request.',
        )}
      </p>
      <Loaded result={result} rows={16} label={say('rollout')}>
        {(rollout) => {
          const author: Author = {
            app,
            rollout,
            allowed: may(who, app, 'admin'),
            name: who?.has_account ? who.name : '',
          };
          return (
            <>
              <Killed {...author} />
              <Rules key={rollout.version} {...author} />
              <Ramps {...author} />
              <Devices rollout={rollout} />
              <OneDevice app={app} version={rollout.version} />
              <History {...author} />
            </>
          );
        }}
      </Loaded>
    </>
  );
}

/* Everything off, everywhere: said first, with the way back. */
function Killed({ app, rollout, allowed, name }: Author): JSX.Element | null {
  const run = useAttempt();
  const [typed, setTyped] = useState('');
  const [reason, setReason] = useState('');
  if (!rollout.rules.kill) return null;
  return (
    <div class="notice bad" role="alert">
      <div>
        <strong>{say('Everything is off on all devices.')}</strong>
        <p>
          {rollout.reason} — {rollout.author}, {rollout.made_at ? <Moment at={rollout.made_at} /> : null}
        </p>
        {allowed ? (
          <Form
            run={run}
            submit={say('Switch it on again')}
            done={async () => {
              const rules = { ...rollout.rules, kill: false };
              const { version } = await api.changeRollout(app, {
                base: rollout.version,
                author: name || typed,
                reason,
                rules,
              });
              await held(app, version);
            }}
          >
            {name === '' ? <Field label={say('Author')} value={typed} set={setTyped} /> : null}
            <Field label={say('Reason')} value={reason} set={setReason} />
          </Form>
        ) : null}
      </div>
    </div>
  );
}

/* The conditions of a rule, as people say them. */
export function ruleWords(rule: RolloutRule): string {
  return whenOf(
    rule,
    {
      everyone: say('everyone'),
      whitelist: (n) => say('{n|installation|installations} of a whitelist', { n: exact(n, lang.value) }),
      between: (from, to) => say('{from} to {to}', { from, to }),
      from: (from) => say('from {from} on', { from }),
      to: (to) => say('up to {to}', { to }),
      share: (from, to) => say('installations {from} to {to} %', { from, to }),
    },
    { version: say('version'), os_version: say('system') },
  );
}

/* Rules from the top with their shares; an admin changes a share in its place, sees the difference, and says why. */
function Rules(author: Author): JSX.Element {
  const { rollout, allowed } = author;
  const [typed, setTyped] = useState<Record<string, string>>({});
  const [text, setText] = useState<string | null>(null);
  let draft: RolloutRules | null = rollout.rules;
  let wrong = false;
  for (const [place, value] of Object.entries(typed)) {
    const [rule, plugin] = place.split('\t') as [string, string];
    const share = probabilityOf(value);
    if (share === null) wrong = true;
    else draft = withShare(draft, rule, plugin, share);
  }
  if (text !== null) draft = parse(text);
  const changed = draft !== null && JSON.stringify(draft) !== JSON.stringify(rollout.rules);
  const discard = () => {
    setTyped({});
    setText(null);
  };
  return (
    <Panel
      title={say('Rules')}
      aside={
        <span class="dim small">
          {rollout.version === 0
            ? say('the default; nobody has changed it')
            : say('version {n}', { n: exact(rollout.version, lang.value) })}
        </span>
      }
    >
      <RulesTable rules={rollout.rules} typed={typed} set={allowed && text === null ? setTyped : null} />
      <p class="dim small">
        {say(
          'For each part, the first rule that fits an installation and names the part decides. Installations stay in: raising 1 % to 5 % keeps the 1 %.',
        )}
        {gap()}
        {say('Devices ask every {n} minutes.', { n: Math.round((rollout.rules.fetch_s ?? 3600) / 60) })}
      </p>
      {allowed ? (
        <details class="small">
          <summary>{say('Edit conditions and parameters as JSON')}</summary>
          <textarea
            rows={14}
            spellcheck={false}
            aria-label={say('Rules as JSON')}
            value={text ?? JSON.stringify(rollout.rules, null, 2)}
            onInput={(event) => setText(event.currentTarget.value)}
          />
          {draft === null ? <p class="bad-text">{say('This is not valid JSON.')}</p> : null}
        </details>
      ) : null}
      {changed && draft ? (
        <Change author={author} draft={draft} wrong={wrong} discard={discard} />
      ) : wrong ? (
        <p class="bad-text">{say('A share is a number from 0 to 100.')}</p>
      ) : null}
      {allowed && !rollout.rules.kill ? <Stop {...author} /> : null}
    </Panel>
  );
}

function parse(text: string): RolloutRules | null {
  try {
    return JSON.parse(text) as RolloutRules;
  } catch {
    return null;
  }
}

interface TableProps {
  rules: RolloutRules;
  typed: Record<string, string>;
  set: ((typed: Record<string, string>) => void) | null;
}

function RulesTable({ rules, typed, set }: TableProps): JSX.Element {
  const share = (rule: RolloutRule, plugin: string) => {
    const given = rule.plugins?.[plugin];
    if (!given) return <span class="dim">—</span>;
    const place = `${rule.name}\t${plugin}`;
    const now = percentOf(given.probability);
    if (!set) return <>{now} %</>;
    const value = typed[place] ?? now;
    return (
      <span class="share-field">
        <input
          type="text"
          inputMode="decimal"
          class={value === now ? undefined : 'touched'}
          aria-label={say('Share of {plugin} in the rule {rule}, percent', {
            plugin: pluginName(plugin),
            rule: rule.name,
          })}
          aria-invalid={probabilityOf(value) === null}
          value={value}
          onInput={(event) => {
            const { [place]: _, ...rest } = typed;
            const text = event.currentTarget.value;
            set(text === now ? rest : { ...rest, [place]: text });
          }}
        />{' '}
        %
      </span>
    );
  };
  return (
    <div class="scroll" role="region" aria-label={say('Rules table')} tabIndex={0}>
      <table class="tight rollout-rules">
        <thead>
          <tr>
            <th scope="col">{say('Rule')}</th>
            <th scope="col">{say('Installations')}</th>
            {PLUGINS.map((plugin) => (
              <th scope="col" class="num" key={plugin}>
                {pluginName(plugin)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rules.rules.map((rule, i) => (
            <tr key={rule.name}>
              <th scope="row">
                {i + 1} {rule.name}
              </th>
              <td>
                {ruleWords(rule)}
                {rule.leave_out?.length ? (
                  <div class="dim small">{say('reports leave out {parts}', { parts: rule.leave_out.join(', ') })}</div>
                ) : null}
              </td>
              {PLUGINS.map((plugin) => (
                <td class="num" key={plugin}>
                  {share(rule, plugin)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface ChangeProps {
  author: Author;
  draft: RolloutRules;
  wrong: boolean;
  discard: () => void;
}

/* The change that is not made yet: the difference in words, and who makes it and why. */
function Change({ author, draft, wrong, discard }: ChangeProps): JSX.Element {
  const { app, rollout, name } = author;
  const run = useAttempt();
  const [typed, setTyped] = useState('');
  const [reason, setReason] = useState('');
  const shares = shareChanges(rollout.rules, draft);
  return (
    <section class="draft" aria-label={say('Unsaved change')}>
      <h3>{say('Unsaved change')}</h3>
      <ul>
        {shares.map((one) => (
          <li key={`${one.rule} ${one.plugin}`}>
            {say('{plugin}: {from} → {to} % in the rule {rule}', {
              plugin: pluginName(one.plugin),
              from: percentOf(one.from),
              to: percentOf(one.to),
              rule: one.rule,
            })}
          </li>
        ))}
        {shares.length === 0 ? <li>{say('conditions or parameters')}</li> : null}
      </ul>
      {wrong ? (
        <p class="bad-text">{say('A share is a number from 0 to 100.')}</p>
      ) : (
        <Form
          run={run}
          submit={say('Make the change')}
          done={async () => {
            const change = { base: rollout.version, author: name || typed, reason, rules: draft };
            await held(app, (await api.changeRollout(app, change)).version);
          }}
        >
          {name === '' ? <Field label={say('Author')} value={typed} set={setTyped} /> : null}
          <Field label={say('Reason')} value={reason} set={setReason} />
        </Form>
      )}
      <button type="button" class="quiet" onClick={discard}>
        {say('Discard')}
      </button>
    </section>
  );
}

/* The kill switch: the name of the app is typed, so that no click alone does it. */
function Stop({ app, rollout, name }: Author): JSX.Element {
  const run = useAttempt();
  const [typed, setTyped] = useState('');
  const [reason, setReason] = useState('');
  const [sure, setSure] = useState('');
  const [open, setOpen] = useState(false);
  return (
    <details class="stop small" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{say('Stop everything')}</summary>
      <p>
        {say('Every part of Mire stops on every device, and nothing is sent, until somebody switches it on again.')}
      </p>
      {open ? (
        <Form
          run={run}
          submit={say('Stop everything')}
          done={async () => {
            if (sure !== app) return;
            const rules = { ...rollout.rules, kill: true };
            const change = { base: rollout.version, author: name || typed, reason, rules };
            await held(app, (await api.changeRollout(app, change)).version);
          }}
        >
          {name === '' ? <Field label={say('Author')} value={typed} set={setTyped} /> : null}
          <Field label={say('Reason')} value={reason} set={setReason} />
          <Field
            label={say('Name of the app')}
            value={sure}
            set={setSure}
            note={sure !== '' && sure !== app ? say('Type {app} to stop it.', { app }) : say('to be sure')}
          />
        </Form>
      ) : null}
    </details>
  );
}
