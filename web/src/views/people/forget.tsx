/* The form that takes reports out again, after a count of them, and the list of such requests. */

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api, type ForgetBody } from '../../api/client';
import type { ForgetAsked, ForgetJob } from '../../api/types';
import { lang, say } from '../../lib/i18n';
import { client, useQuery } from '../../lib/query';
import { exact } from '../../model/format';
import { Ago, announce, Loaded, Panel } from '../parts';
import { Choice, Field, Form, Sure, useAttempt } from './forms';

type What = ForgetJob['what'];

function whats(): [What, string][] {
  return [
    ['install', say('Of an installation')],
    ['key', say('Sent with a key')],
    ['report', say('One report')],
  ];
}

export function ForgetPanel({ app }: { app: string }): JSX.Element {
  const jobs = useQuery(['forget', app], (signal) => api.forgets(app, signal), {
    again: (data) => (data?.jobs.some((job) => job.state !== 'done') ? 1_000 : false),
  });
  return (
    <Panel title={say('Forget reports')}>
      <p class="dim">
        {say(
          'The reports are deleted with all rows derived from them and their share of every figure: at a user’s request, or because they are forged. Revoke a stolen key first.',
        )}
      </p>
      <ForgetForm app={app} />
      <h3>{say('Requests to forget reports')}</h3>
      <Loaded result={jobs} rows={3} label={say('requests')}>
        {(data) => (data.jobs.length === 0 ? <p class="dim">{say('None yet.')}</p> : <Jobs jobs={data.jobs} />)}
      </Loaded>
    </Panel>
  );
}

function ForgetForm({ app }: { app: string }): JSX.Element {
  const [what, setWhat] = useState<What>('install');
  const [of, setOf] = useState('');
  const [range, setRange] = useState('');
  const [reason, setReason] = useState('');
  const [counted, setCounted] = useState<{ asked: ForgetBody; found: ForgetAsked }>();
  const run = useAttempt();
  /* A count is of the question that it was asked for. */
  const change = <T,>(set: (value: T) => void) => {
    return (value: T) => {
      setCounted(undefined);
      set(value);
    };
  };
  const take = (asked: ForgetBody) =>
    run.attempt(async () => {
      await api.forget(app, { ...asked, preview: false });
      setCounted(undefined);
      setOf('');
      announce(say('The reports are being forgotten'));
      await client.invalidateQueries({ queryKey: ['forget', app] });
    });
  return (
    <>
      <Form
        run={run}
        submit={say('Count them')}
        done={async () => {
          const asked = bodyOf(what, of.trim(), range.trim(), reason.trim());
          setCounted({ asked, found: await api.forget(app, asked) });
        }}
      >
        <Choice label={say('Which reports')} value={what} set={change(setWhat)} options={whats()} />
        {what === 'key' ? (
          <KeyChoice app={app} value={of} set={change(setOf)} />
        ) : (
          <Field
            label={what === 'install' ? say('Installation') : say('Report')}
            value={of}
            set={change(setOf)}
            note={
              what === 'install'
                ? say('32 hex digits: the file install in the store on the device, or the facts of a report.')
                : say('The id of the report.')
            }
          />
        )}
        <Field
          label={say('Received in')}
          value={range}
          set={change(setRange)}
          optional
          note={say('24h, 14d, or 2026-11-01T00Z..2026-11-08T00Z. Empty: at any time before now.')}
        />
        <Field label={say('Why')} value={reason} set={change(setReason)} note={say('It stays in the audit log.')} />
      </Form>
      {counted ? <Counted {...counted} take={take} /> : null}
    </>
  );
}

function bodyOf(what: What, of: string, t: string, reason: string): ForgetBody {
  return {
    ...(what === 'install' ? { install: of.toLowerCase() } : what === 'key' ? { key: Number(of) } : { report: of }),
    ...(t === '' ? {} : { t }),
    reason,
    preview: true,
  };
}

function KeyChoice({ app, value, set }: { app: string; value: string; set: (key: string) => void }): JSX.Element {
  const keys = useQuery(['keys', app], (signal) => api.keys(app, signal));
  return (
    <Loaded result={keys} rows={1} label={say('keys')}>
      {(data) => (
        <Choice
          label={say('Key')}
          value={value}
          set={set}
          options={[
            ['', say('Choose one')],
            ...data.keys
              .filter((key) => key.scope === 'ingest')
              .map((key): [string, string] => [String(key.id), `${key.prefix}… ${key.label}`]),
          ]}
        />
      )}
    </Loaded>
  );
}

function Counted(props: {
  asked: ForgetBody;
  found: ForgetAsked;
  take: (asked: ForgetBody) => Promise<void>;
}): JSX.Element {
  const { asked, found } = props;
  const number = (n: number) => exact(n, lang.value);
  return (
    <div class="notice" role="status">
      <div>
        <strong>{say('{n|report|reports} would be forgotten', { n: number(found.reports) })}</strong>
        <p>
          {say('They represent {events|event|events} and {sessions|session|sessions}.', {
            events: number(found.events),
            sessions: number(found.sessions),
          })}
        </p>
        {asked.install && found.waiting > 0 ? (
          <p class="dim small">
            {say('{n} reports of the app are waiting to be processed; those of the installation are removed too.', {
              n: number(found.waiting),
            })}
          </p>
        ) : null}
      </div>
      <Sure
        text={say('Forget them')}
        what={asked.install ?? asked.report ?? String(asked.key)}
        run={() => void props.take(asked)}
      />
    </div>
  );
}

function stateOf(job: ForgetJob): string {
  if (job.state === 'done') return say('done');
  return job.state === 'queueing' ? say('reports are being searched') : say('under way');
}

function Jobs({ jobs }: { jobs: readonly ForgetJob[] }): JSX.Element {
  const names = new Map(whats());
  return (
    <div
      class="scroll"
      tabIndex={0}
      role="region"
      aria-label={say('{what} table', { what: say('Requests to forget reports') })}
    >
      <table>
        <thead>
          <tr>
            <th scope="col">{say('Asked')}</th>
            <th scope="col">{say('Who')}</th>
            <th scope="col">{say('Which reports')}</th>
            <th scope="col">{say('Why')}</th>
            <th scope="col">{say('State')}</th>
            <th scope="col" class="num">
              {say('Forgotten')}
            </th>
          </tr>
        </thead>
        <tbody>
          {jobs.map((job) => (
            <tr key={job.job}>
              <td>
                <Ago at={job.asked_at} />
              </td>
              <td>{job.author}</td>
              <td class="long">
                {names.get(job.what)} <code>{job.of}</code>
              </td>
              <td class="long">{job.reason}</td>
              <td>{stateOf(job)}</td>
              <td class="num">
                {job.state === 'done'
                  ? exact(job.done, lang.value)
                  : say('{n} of {total}', { n: exact(job.done, lang.value), total: exact(job.queued, lang.value) })}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
