/* A rule while it is made, and what it would have found in the past month. */

import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { api, ProblemError } from '../../api/client';
import type { AlertChannel, AlertKind, AlertMeasure, AlertRule, AlertRuleBody } from '../../api/types';
import { lang, say } from '../../lib/i18n';
import { useQuery } from '../../lib/query';
import {
  clockOf,
  conditionOf,
  isFact,
  KINDS,
  kindName,
  MEASURES,
  measureName,
  minutesOf,
  preset,
  scopeName,
  unitOf,
} from '../../model/alert';
import { day } from '../../model/format';
import { Panel } from '../parts';
import { Choice, Field, Form, useAttempt } from '../people/forms';
import { Replay } from './replay';

interface Draft {
  name: string;
  kind: AlertKind;
  measure: AlertMeasure;
  scope: 'newest' | 'each' | 'all';
  against: '' | 'week';
  bound: string;
  window: string; // days of new, else hours
  versions: string;
  hold: string; // minutes
  repeat: string; // hours
  notifies: number[];
  escalates: number[];
  escalate: string; // minutes
  from: string;
  to: string;
  zone: string;
}

const HERE = Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';

function begin(rule: AlertRule | null): Draft {
  const quiet = rule !== null && rule.quiet_from !== null && rule.quiet_to !== null;
  return {
    name: rule?.name ?? '',
    kind: rule?.kind ?? 'rate',
    measure: (rule?.measure || 'lag') as AlertMeasure,
    scope: (rule?.scope || 'newest') as Draft['scope'],
    against: rule?.against ?? '',
    bound: String(rule?.bound ?? preset('rate').bound),
    window: String(rule ? rule.window_s / (rule.kind === 'new' ? 86_400 : 3_600) : 24),
    versions: rule?.versions ?? '',
    hold: String((rule?.hold_s ?? 0) / 60),
    repeat: String((rule?.repeat_s ?? 86_400) / 3_600),
    notifies: rule?.notifies ?? [],
    escalates: rule?.escalates ?? [],
    escalate: String((rule?.escalate_s ?? 0) / 60),
    from: quiet ? clockOf(rule.quiet_from!) : '',
    to: quiet ? clockOf(rule.quiet_to!) : '',
    zone: rule?.quiet_zone ?? HERE,
  };
}

function bodyOf(draft: Draft): AlertRuleBody {
  const from = minutesOf(draft.from);
  const to = minutesOf(draft.to);
  const rate = draft.kind === 'rate';
  const body: AlertRuleBody = {
    name: draft.name.trim() || conditionOf({ ...draft, bound: Number(draft.bound) }),
    kind: draft.kind,
    bound: Number(draft.bound),
    window_s: Math.round(Number(draft.window) * (draft.kind === 'new' ? 86_400 : 3_600)),
    versions: draft.versions.replaceAll(' ', ''),
    hold_s: Math.round(Number(draft.hold) * 60),
    repeat_s: Math.round(Number(draft.repeat) * 3_600),
    escalate_s: draft.escalates.length > 0 ? Math.round(Number(draft.escalate) * 60) : 0,
    notifies: draft.notifies,
    escalates: draft.escalates,
    quiet_zone: draft.zone,
  };
  if (rate) Object.assign(body, { measure: draft.measure, scope: draft.scope, against: draft.against });
  if (from !== undefined && to !== undefined) Object.assign(body, { quiet_from: from, quiet_to: to });
  return body;
}

/* The value, once it has not changed for a while. */
function useSettled<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value);
  const shape = JSON.stringify(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [shape]);
  return settled;
}

export function RuleForm(props: {
  app: string;
  rule: AlertRule | null;
  channels: AlertChannel[];
  done: () => Promise<void>;
}): JSX.Element {
  const [draft, setDraft] = useState(() => begin(props.rule));
  const run = useAttempt();
  const set = (change: Partial<Draft>) => setDraft({ ...draft, ...change });
  const kind = (kind: AlertKind) => {
    const numbers = preset(kind);
    set({
      kind,
      bound: String(numbers.bound),
      window: String(numbers.window_s! / (kind === 'new' ? 86_400 : 3_600)),
      against: '',
    });
  };
  const body = bodyOf(draft);
  return (
    <Panel
      title={props.rule ? say('Change the rule') : say('New rule')}
      aside={
        <button type="button" class="quiet" onClick={() => void props.done()}>
          {say('Cancel')}
        </button>
      }
    >
      <Form
        run={run}
        submit={say('Save the rule')}
        done={async () => {
          await (props.rule ? api.changeAlertRule(props.app, props.rule.id, body) : api.makeAlertRule(props.app, body));
          await props.done();
        }}
      >
        <Choice
          label={say('When')}
          value={draft.kind}
          set={kind}
          options={KINDS.map((one) => [one, kindName(one)] as const)}
        />
        {draft.kind === 'rate' ? (
          <>
            <Choice
              label={say('Rate')}
              value={draft.measure}
              set={(measure) => set({ measure })}
              options={MEASURES.map((one) => [one as AlertMeasure, measureName(one)] as const)}
            />
            <Choice
              label={say('Of')}
              value={draft.scope}
              set={(scope) => set({ scope })}
              options={(['newest', 'each', 'all'] as const).map((one) => [one, scopeName(one)] as const)}
            />
            <Choice
              label={say('Compared with')}
              value={draft.against}
              set={(against) => set({ against, bound: against === 'week' ? '1.25' : '2.5' })}
              options={[
                ['', say('a value')],
                ['week', say('the week before')],
              ]}
            />
          </>
        ) : null}
        {isFact(draft.kind) ? null : (
          <Field
            label={`${draft.kind === 'silence' ? say('Is below') : say('Is above')} (${unitOf(draft)})`}
            value={draft.bound}
            set={(bound) => set({ bound })}
            note={say('The whole 95 % interval must be beyond it.')}
          />
        )}
        {draft.kind === 'new' || draft.kind === 'growth' || draft.kind === 'silence' ? (
          <Field
            label={draft.kind === 'new' ? say('In its first days') : say('In hours')}
            value={draft.window}
            set={(window) => set({ window })}
            type="number"
          />
        ) : null}
        <Field
          label={say('Versions')}
          value={draft.versions}
          set={(versions) => set({ versions })}
          optional
          note={say('8.0.39,8.0.40 or !8.0.1; empty for all')}
        />
        <Field
          label={say('Name')}
          value={draft.name}
          set={(name) => set({ name })}
          optional
          note={conditionOf({ ...draft, bound: Number(draft.bound) })}
        />
        <Field
          label={say('After minutes above the bound')}
          value={draft.hold}
          set={(hold) => set({ hold })}
          type="number"
        />
        <Field
          label={say('Repeat after hours')}
          value={draft.repeat}
          set={(repeat) => set({ repeat })}
          type="number"
          note={say('0: never')}
        />
        <Picks
          label={say('Notify')}
          none={say('all channels')}
          channels={props.channels}
          value={draft.notifies}
          set={(notifies) => set({ notifies })}
        />
        <Picks
          label={say('Escalate to')}
          none={say('nobody')}
          channels={props.channels}
          value={draft.escalates}
          set={(escalates) => set({ escalates, escalate: Number(draft.escalate) > 0 ? draft.escalate : '60' })}
        />
        {draft.escalates.length > 0 ? (
          <Field
            label={say('Escalate after minutes')}
            value={draft.escalate}
            set={(escalate) => set({ escalate })}
            type="number"
          />
        ) : null}
        <Field
          label={say('Quiet from')}
          value={draft.from}
          set={(from) => set({ from })}
          optional
          note={say('22:00; empty: never quiet')}
        />
        <Field label={say('Quiet until')} value={draft.to} set={(to) => set({ to })} optional note={draft.zone} />
      </Form>
      <Tried app={props.app} body={body} />
    </Panel>
  );
}

/* Channels to choose: none chosen means what `none` says. */
function Picks(props: {
  label: string;
  none: string;
  channels: AlertChannel[];
  value: number[];
  set: (value: number[]) => void;
}): JSX.Element {
  return (
    <fieldset class="field picks">
      <legend>{props.label}</legend>
      {props.channels.map((one) => (
        <label key={one.id} class="check">
          <input
            type="checkbox"
            checked={props.value.includes(one.id)}
            onChange={(event) =>
              props.set(
                event.currentTarget.checked ? [...props.value, one.id] : props.value.filter((id) => id !== one.id),
              )
            }
          />
          {one.name}
        </label>
      ))}
      {props.value.length === 0 ? <span class="dim small">{props.none}</span> : null}
    </fieldset>
  );
}

function Tried({ app, body }: { app: string; body: AlertRuleBody }): JSX.Element {
  const asked = useSettled({ ...body, name: 'x', notifies: [], escalates: [], escalate_s: 0 }, 400);
  const result = useQuery(['alert-replay', app, JSON.stringify(asked)], (signal) =>
    api.replayAlertRule(app, asked, signal),
  );
  const data = result.data;
  const fired =
    data?.subjects.flatMap((one) =>
      one.points.filter((point) => point.fired).map((point) => ({ at: point.at, of: one.title })),
    ) ?? [];
  return (
    <div class="tried" aria-live="polite">
      <h3>{say('The past 30 days')}</h3>
      {result.isError ? (
        <p class="bad-text">
          {result.error instanceof ProblemError
            ? result.error.detail || result.error.title
            : say('The server could not be reached')}
        </p>
      ) : data === undefined ? (
        <p class="dim">{say('Trying the rule …')}</p>
      ) : (
        <>
          <p>
            <strong>
              {data.times === 0
                ? say('It would not have fired.')
                : say('It would have fired {n|time|times}:', { n: data.times })}
            </strong>{' '}
            {fired
              .slice(0, 8)
              .map((one) => `${day(new Date(one.at), 'utc', lang.value)} ${one.of}`)
              .join('; ')}
            {fired.length > 8 || data.more > 0 ? ' …' : ''}
          </p>
          {data.subjects.length === 0 ? <p class="dim">{say('There is no data to check.')}</p> : null}
          {data.subjects.slice(0, 6).map((one) => (
            <Replay key={one.subject} subject={one} />
          ))}
        </>
      )}
    </div>
  );
}
