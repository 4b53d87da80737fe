/* Ramps: shares that the server raises step by step while no guard trips. */

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api } from '../../api/client';
import type { Ramp } from '../../api/types';
import { lang, say } from '../../lib/i18n';
import { ago, exact, precise } from '../../model/format';
import { nextStepAt, PLUGINS, type Plugin, percentOf, stepsOf } from '../../model/rollout';
import { Ago, now, Panel } from '../parts';
import { Choice, Field, Form, useAttempt } from '../people/forms';
import { type Author, held, pluginName } from './parts';

export function Ramps(author: Author): JSX.Element {
  const { rollout, allowed } = author;
  const [begins, setBegins] = useState(false);
  return (
    <Panel
      title={say('Ramps')}
      aside={
        allowed ? (
          <button type="button" aria-expanded={begins} onClick={() => setBegins(!begins)}>
            {say('Begin a ramp')}
          </button>
        ) : null
      }
    >
      {rollout.ramps.length === 0 ? (
        <p class="dim">{say('No share is raised step by step.')}</p>
      ) : (
        rollout.ramps.map((ramp) => <One key={ramp.plugin} ramp={ramp} author={author} />)
      )}
      {begins ? <Begin {...author} done={() => setBegins(false)} /> : null}
    </Panel>
  );
}

function stateWord(state: Ramp['state']): string {
  const words = { running: say('running'), paused: say('paused'), done: say('done'), stopped: say('stopped') };
  return words[state];
}

function One({ ramp, author }: { ramp: Ramp; author: Author }): JSX.Element {
  const [asks, setAsks] = useState<'pause' | 'resume' | 'back' | null>(null);
  const next = nextStepAt(ramp);
  const waits = next !== null && next > now.value && ramp.step + 1 < ramp.steps_ppm.length;
  const after = waits ? say('next step {when} at the earliest', { when: ago(next, now.value, lang.value) }) : '';
  const words = { pause: say('Pause'), resume: say('Resume'), back: say('Back to the share before') };
  const ways =
    ramp.state === 'running'
      ? (['pause', 'back'] as const)
      : ramp.state === 'paused'
        ? (['resume', 'back'] as const)
        : [];
  return (
    <section class="ramp" aria-label={pluginName(ramp.plugin)}>
      <p>
        <b>{pluginName(ramp.plugin)}</b> {say('in the rule {rule}', { rule: ramp.rule })}{' '}
        <span class={`tag ramp-${ramp.state}`}>{stateWord(ramp.state)}</span>{' '}
        {ramp.tripped_at ? (
          <span class="bad-text">
            {say('a guard tripped')} <Ago at={ramp.tripped_at} />
          </span>
        ) : null}
      </p>
      <ol class="steps">
        {ramp.steps_ppm.map((ppm, i) => (
          <li
            key={ppm}
            class={i < ramp.step ? 'past' : i === ramp.step ? 'here' : undefined}
            aria-current={i === ramp.step ? 'step' : undefined}
          >
            {percentOf(ppm / 1e6)} %
          </li>
        ))}
      </ol>
      <p class="dim small">{[ramp.note, after].filter((one) => one !== '').join(' · ')}</p>
      <Guards ramp={ramp} />
      {author.allowed && ways.length > 0 ? (
        <p class="row">
          {ways.map((way) => (
            <button
              key={way}
              type="button"
              aria-expanded={asks === way}
              onClick={() => setAsks(asks === way ? null : way)}
            >
              {words[way]}
            </button>
          ))}
        </p>
      ) : null}
      {asks ? (
        <Act key={asks} author={author} ramp={ramp} action={asks} label={words[asks]} done={() => setAsks(null)} />
      ) : null}
    </section>
  );
}

/* The bounds of the guards, and what was measured since the step began. */
function Guards({ ramp }: { ramp: Ramp }): JSX.Element {
  const { measured } = ramp;
  const number = (value: number) => precise(value, lang.value);
  const known = measured.records_with > 0 && measured.records_without > 0;
  return (
    <ul class="guards small">
      {ramp.crash_points > 0 ? (
        <li class={known && measured.excess_points > ramp.crash_points ? 'bad-text' : undefined}>
          {known
            ? say('bad ends {with} % with it, {without} % without; the guard trips at {bound} points more', {
                with: number(measured.bad_percent_with),
                without: number(measured.bad_percent_without),
                bound: number(ramp.crash_points),
              })
            : say('bad ends: no sessions to compare yet; the guard trips at {bound} points more', {
                bound: number(ramp.crash_points),
              })}
        </li>
      ) : null}
      {ramp.cpu_percent > 0 ? (
        <li class={measured.cpu_percent > ramp.cpu_percent ? 'bad-text' : undefined}>
          {say('processor {now} %, bound {bound} %', {
            now: number(measured.cpu_percent),
            bound: number(ramp.cpu_percent),
          })}
        </li>
      ) : null}
      {ramp.reports_per_hour > 0 ? (
        <li class={measured.reports_last_hour > ramp.reports_per_hour ? 'bad-text' : undefined}>
          {say('reports in the last hour {now}, bound {bound}', {
            now: exact(measured.reports_last_hour, lang.value),
            bound: exact(ramp.reports_per_hour, lang.value),
          })}
        </li>
      ) : null}
      <li class="dim">
        {say('{with} session records with it, {without} without, since the step began', {
          with: exact(measured.records_with, lang.value),
          without: exact(measured.records_without, lang.value),
        })}
      </li>
    </ul>
  );
}

interface ActProps {
  author: Author;
  ramp: Ramp;
  action: 'pause' | 'resume' | 'back';
  label: string;
  done: () => void;
}

function Act({ author, ramp, action, label, done }: ActProps): JSX.Element {
  const { app, rollout, name } = author;
  const run = useAttempt();
  const [typed, setTyped] = useState('');
  const [reason, setReason] = useState('');
  return (
    <Form
      run={run}
      submit={label}
      done={async () => {
        const change = { base: rollout.version, author: name || typed, reason, action };
        const { version } = await api.actOnRamp(app, ramp.plugin, change);
        done();
        await held(app, version);
      }}
    >
      {name === '' ? <Field label={say('Author')} value={typed} set={setTyped} /> : null}
      <Field label={say('Reason')} value={reason} set={setReason} />
    </Form>
  );
}

function Begin({ app, rollout, name, done }: Author & { done: () => void }): JSX.Element {
  const run = useAttempt();
  const [plugin, setPlugin] = useState<Plugin>('hang');
  const rules = rollout.rules.rules.filter((one) => one.plugins?.[plugin]).map((one) => one.name);
  const [rule, setRule] = useState(rules.at(-1) ?? '');
  const [steps, setSteps] = useState('1, 5, 20, 100');
  const [hold, setHold] = useState('24');
  const [crash, setCrash] = useState('0.1');
  const [cpu, setCpu] = useState('1');
  const [reports, setReports] = useState('');
  const [backs, setBacks] = useState<'pause' | 'back'>('pause');
  const [typed, setTyped] = useState('');
  const [reason, setReason] = useState('');
  const shares = stepsOf(steps);
  const held_rule = rules.includes(rule) ? rule : (rules.at(-1) ?? '');
  return (
    <Form
      run={run}
      submit={say('Begin the ramp')}
      done={async () => {
        if (!shares) return;
        const { version } = await api.beginRamp(app, plugin, {
          base: rollout.version,
          author: name || typed,
          reason,
          rule: held_rule,
          steps: shares,
          hold_s: Math.round(Number(hold) * 3600),
          crash_points: Number(crash) || 0,
          cpu_percent: Number(cpu) || 0,
          reports_per_hour: Number(reports) || 0,
          backs: backs === 'back',
        });
        done();
        await held(app, version);
      }}
    >
      <Choice
        label={say('Part')}
        value={plugin}
        set={setPlugin}
        options={PLUGINS.map((one) => [one, pluginName(one)] as const)}
      />
      <Choice label={say('Rule')} value={held_rule} set={setRule} options={rules.map((one) => [one, one] as const)} />
      <Field
        label={say('Steps, percent')}
        value={steps}
        set={setSteps}
        note={shares ? say('the first step applies at once') : say('rising numbers from 0 to 100')}
      />
      <Field label={say('Hours of each step')} value={hold} set={setHold} type="number" />
      <Field
        label={say('Guard: bad ends, points')}
        value={crash}
        set={setCrash}
        optional
        note={say('empty: not checked')}
      />
      <Field label={say('Guard: processor, percent')} value={cpu} set={setCpu} optional />
      <Field label={say('Guard: reports an hour')} value={reports} set={setReports} optional />
      <Choice
        label={say('When a guard trips')}
        value={backs}
        set={setBacks}
        options={[
          ['pause', say('pause')],
          ['back', say('back to the share before')],
        ]}
      />
      {name === '' ? <Field label={say('Author')} value={typed} set={setTyped} /> : null}
      <Field label={say('Reason')} value={reason} set={setReason} />
    </Form>
  );
}
