/* Where messages go. */

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api } from '../../api/client';
import type { AlertChannel, AlertChannelKind } from '../../api/types';
import { say } from '../../lib/i18n';
import { announce, Panel } from '../parts';
import { Choice, Field, Form, Secret, Sure, useAttempt } from '../people/forms';

const KINDS: readonly [AlertChannelKind, string][] = [
  ['webhook', 'Webhook'],
  ['email', 'E-mail'],
  ['slack', 'Slack'],
  ['teams', 'Microsoft Teams'],
  ['pagerduty', 'PagerDuty'],
  ['dingtalk', 'DingTalk'],
  ['feishu', 'Feishu'],
  ['wecom', 'WeCom'],
];

const nameOf = (kind: AlertChannelKind) => KINDS.find(([one]) => one === kind)?.[1] ?? kind;

export function Channels(props: {
  app: string;
  channels: AlertChannel[];
  admin: boolean;
  refresh: () => Promise<void>;
}): JSX.Element {
  const { app, channels } = props;
  const run = useAttempt();
  return (
    <Panel title={say('Channels')}>
      {channels.length === 0 ? (
        <p>{say('There is no channel, so nobody is notified.')}</p>
      ) : (
        <ul class="alerts">
          {channels.map((one) => (
            <li key={one.id}>
              <div class="found">
                <p>
                  <strong>{one.name}</strong> <span class="tag">{nameOf(one.kind)}</span>{' '}
                  <span class="dim small">{one.target}</span>
                </p>
                {one.failed_at === null ? null : (
                  <p class="bad-text">{say('A message was given up: {why}', { why: one.failed_as })}</p>
                )}
              </div>
              {props.admin ? (
                <span class="actions">
                  <button
                    type="button"
                    aria-label={say('Send a test to {name}', { name: one.name })}
                    onClick={() =>
                      void run.attempt(async () => {
                        await api.testAlertChannel(app, one.id);
                        announce(say('The test is on its way'));
                        await props.refresh();
                      })
                    }
                  >
                    {say('Send a test')}
                  </button>
                  <Sure
                    text={say('Remove')}
                    what={one.name}
                    run={() =>
                      void run.attempt(async () => {
                        await api.removeAlertChannel(app, one.id);
                        await props.refresh();
                      })
                    }
                  />
                </span>
              ) : null}
            </li>
          ))}
        </ul>
      )}
      <p role="alert" class="bad-text">
        {run.fault}
      </p>
      {props.admin ? <NewChannel app={app} refresh={props.refresh} /> : null}
    </Panel>
  );
}

function NewChannel({ app, refresh }: { app: string; refresh: () => Promise<void> }): JSX.Element {
  const [kind, setKind] = useState<AlertChannelKind>('webhook');
  const [name, setName] = useState('');
  const [target, setTarget] = useState('');
  const [secret, setSecret] = useState('');
  const [made, setMade] = useState('');
  const run = useAttempt();
  const takesSecret = kind === 'pagerduty' || kind === 'dingtalk' || kind === 'feishu';
  return (
    <>
      {made === '' ? null : (
        <Secret
          label={say('Secret that messages are signed with')}
          text={made}
          note={say('It is shown once. The receiver needs it to check the signatures.')}
        />
      )}
      <Form
        run={run}
        submit={say('Add the channel')}
        done={async () => {
          const answer = await api.makeAlertChannel(app, { kind, name, target, ...(secret ? { secret } : {}) });
          setMade(answer.secret ?? '');
          setName('');
          setTarget('');
          setSecret('');
          await refresh();
        }}
      >
        <Choice label={say('Kind')} value={kind} set={setKind} options={KINDS} />
        <Field label={say('Name of the channel')} value={name} set={setName} />
        {kind === 'pagerduty' ? null : (
          <Field
            label={kind === 'email' ? say('Addresses') : say('Address of the hook')}
            value={target}
            set={setTarget}
            note={kind === 'email' ? say('separated by commas') : 'https://…'}
          />
        )}
        {takesSecret ? (
          <Field
            label={kind === 'pagerduty' ? say('Routing key') : say('Secret of the robot')}
            value={secret}
            set={setSecret}
            optional={kind !== 'pagerduty'}
          />
        ) : null}
      </Form>
    </>
  );
}
