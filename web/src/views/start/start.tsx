/* The first minutes of an app: its key, the lines that connect it, and what of it has arrived, as it arrives. */

import { signal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api, ProblemError } from '../../api/client';
import type { Start } from '../../api/types';
import { say } from '../../lib/i18n';
import { query } from '../../lib/location';
import { client, useQuery } from '../../lib/query';
import { useTitle } from '../../lib/title';
import { PLATFORMS, type Platform, snippet, testReport } from '../../model/snippets';
import { carried, href, isMemory } from '../../model/view';
import { announce, copy, Moment, Panel } from '../parts';
import { Form, Secret, useAttempt } from '../people/forms';

/* Keys made on these pages, by app: only the memory of this tab has them. */
const made = signal<Record<string, string>>({});

export async function makeKey(app: string): Promise<void> {
  const { secret } = await api.makeKey(app, { scope: 'ingest', label: say('Getting started'), days: 0 });
  made.value = { ...made.value, [app]: secret };
  await client.invalidateQueries({ queryKey: ['keys', app] });
}

export function StartPage({ app }: { app: string }): JSX.Element {
  useTitle(say('Connect {app}', { app }));
  return (
    <>
      <h1>{say('Connect {app}', { app })}</h1>
      <Connect app={app} />
    </>
  );
}

export function Connect({ app }: { app: string }): JSX.Element {
  const secret = made.value[app];
  const start = useQuery(['start', app], (signal) => api.start(app, signal), {
    again: (data) => (data?.report_at && data.session_at ? false : 2_000),
  });
  const run = useAttempt();
  return (
    <div class="start">
      <Panel title={say('1. A key')}>
        {secret ? (
          <Secret label={say('Ingest key')} text={secret} />
        ) : (
          <Form run={run} submit={say('Make a key')} done={() => makeKey(app)}>
            <p class="dim">
              {say(
                'The app sends its reports with an ingest key. The key can send and cannot read: it is safe in an app.',
              )}
            </p>
          </Form>
        )}
      </Panel>
      <Panel title={say('2. Lines for your app')}>
        <Lines app={app} secret={secret ?? 'mk_…'} />
      </Panel>
      <Panel title={say('3. What has arrived')}>
        {start.data ? <Arrived app={app} start={start.data} /> : <div aria-busy="true" />}
      </Panel>
    </div>
  );
}

const PLATFORM_NAMES: Record<Platform, () => string> = {
  android: () => 'Android',
  ios: () => 'iOS',
  linux: () => say('Linux: link it'),
  run: () => say('Linux: run it'),
  cmake: () => 'CMake',
  curl: () => say('curl: a test report'),
};

function Lines({ app, secret }: { app: string; secret: string }): JSX.Element {
  const [platform, setPlatform] = useState<Platform>('android');
  const lines = snippet(platform, { server: location.origin, app, key: secret });
  return (
    <>
      <div class="row" role="group" aria-label={say('Platform')}>
        {PLATFORMS.map((one) => (
          <button
            key={one}
            type="button"
            class={one === platform ? 'primary' : undefined}
            aria-pressed={one === platform}
            onClick={() => setPlatform(one)}
          >
            {PLATFORM_NAMES[one]()}
          </button>
        ))}
      </div>
      <pre tabIndex={0} role="region" aria-label={PLATFORM_NAMES[platform]()}>
        {lines}
      </pre>
      <button type="button" onClick={() => void copy(lines, say('Copied'))}>
        {say('Copy')}
      </button>
    </>
  );
}

function Tick(props: { done: string | null; text: string; waits: string; children?: ComponentChildren }): JSX.Element {
  return (
    <li class={props.done ? 'done' : undefined}>
      <span class="tick" aria-hidden="true">
        {props.done ? '✓' : '○'}
      </span>
      <div>
        <strong>{props.text}</strong>{' '}
        {props.done ? (
          <>
            <Moment at={props.done} seconds /> {props.children}
          </>
        ) : (
          <span class="dim">{props.waits}</span>
        )}
      </div>
    </li>
  );
}

function Arrived({ app, start }: { app: string; start: Start }): JSX.Element {
  const carry = carried(query.value);
  return (
    <>
      <ul class="ticks" aria-live="polite">
        <Tick done={start.contact_at} text={say('Contact')} waits={say('no request with a key of this app yet')} />
        <Tick done={start.session_at} text={say('Session')} waits={say('sent when a run ends, or at the next start')} />
        <Tick done={start.report_at} text={say('Report')} waits={say('Waiting for the first report')}>
          {start.issue ? (
            <a href={href({ name: 'issue', app, id: start.issue }, carry)}>
              {isMemory(start.issue) ? say('Open the memory issue') : say('Open the issue')}
            </a>
          ) : null}
          <span class="dim small"> {say('installation {id}', { id: (start.install ?? '').slice(0, 8) })}</span>
        </Tick>
      </ul>
      {start.report_at ? (
        <p>
          <a href={href({ name: 'overview', app }, carry)}>{say('Overview of {app}', { app })}</a>
        </p>
      ) : (
        <Help app={app} />
      )}
    </>
  );
}

/* A report like that of curl, sent by this page with the key made here: one is made first if there is none. */
async function sendTest(app: string): Promise<void> {
  if (!made.value[app]) await makeKey(app);
  const answer = await fetch('/api/v1/reports', {
    method: 'POST',
    headers: { Authorization: `Bearer ${made.value[app]}`, 'Content-Type': 'text/vnd.android.anr' },
    body: testReport(app, new Date()),
  });
  if (!answer.ok)
    throw new ProblemError(
      answer.status,
      say('The test hang was refused with {status}', { status: `${answer.status}` }),
      '',
      '',
    );
  announce(say('The test hang is on its way'));
}

function Help({ app }: { app: string }): JSX.Element {
  const run = useAttempt();
  return (
    <>
      <p>
        {say('Nothing hangs? Call {call} in the app, or send a test hang from this page.', { call: 'mire_test()' })}{' '}
        <button type="button" aria-disabled={run.busy} onClick={() => void run.attempt(() => sendTest(app))}>
          {say('Send a test hang')}
        </button>
      </p>
      <p role="alert" class="bad-text">
        {run.fault}
      </p>
      <details>
        <summary>{say('Nothing arrives? Four checks')}</summary>
        <ul>
          <li>{say('The device reaches the address {address}.', { address: location.origin })}</li>
          <li>{say('The key in the app is the one above: a wrong key is refused with 401 in the log of the app.')}</li>
          <li>{say('The clock of the device is off by less than a day.')}</li>
          <li>{say('Consent is given where the app requires it.')}</li>
        </ul>
      </details>
    </>
  );
}
