/* Settings of an app: its keys. */

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api, type Scopes } from '../../api/client';
import type { Key } from '../../api/types';
import { say } from '../../lib/i18n';
import { client, useQuery } from '../../lib/query';
import { Exports } from '../exports';
import { Ago, Loaded, Panel } from '../parts';
import { Choice, Field, Form, Secret, Sure, useAttempt } from './forms';

const SCOPES: readonly Scopes[] = ['ingest', 'symbols', 'rollout', 'rules', 'read', 'admin'];

export function Keys({ app }: { app: string }): JSX.Element {
  const result = useQuery(['keys', app], (signal) => api.keys(app, signal));
  const [scope, setScope] = useState<Scopes>('ingest');
  const [label, setLabel] = useState('');
  const [days, setDays] = useState('0');
  const [secret, setSecret] = useState('');
  const run = useAttempt();
  const refresh = () => client.invalidateQueries({ queryKey: ['keys', app] });
  const change = (what: () => Promise<{ secret?: string }>) =>
    void run.attempt(async () => {
      setSecret((await what()).secret ?? '');
      await refresh();
    });
  return (
    <Panel title={say('API keys')}>
      <p class="dim">
        {say(
          'An ingest key is shipped in the app: everyone who has the app has the key. Others stay with CI and robots.',
        )}
      </p>
      <Loaded result={result} rows={1} label={say('keys')}>
        {({ keys }) =>
          keys.length === 0 ? (
            <p>{say('None yet.')}</p>
          ) : (
            <>
              <KeyTable
                keys={keys}
                rotate={(id) => change(() => api.rotateKey(app, id))}
                revoke={(id) => change(async () => (await api.revokeKey(app, id)) as object)}
              />
              <Exports path={`apps/${app}/keys`} of={say('API keys')} />
            </>
          )
        }
      </Loaded>
      {secret === '' ? null : <Secret label={say('New key')} text={secret} />}
      <Form
        run={run}
        submit={say('Make a key')}
        done={async () => {
          setSecret((await api.makeKey(app, { scope, label, days: Number(days) })).secret);
          setLabel('');
          await refresh();
        }}
      >
        <Choice label={say('Scope')} value={scope} set={setScope} options={SCOPES.map((one) => [one, one])} />
        <Field label={say('Purpose')} value={label} set={setLabel} optional />
        <Field
          label={say('Days until it expires')}
          value={days}
          set={setDays}
          type="number"
          note={say('0: it does not expire')}
        />
      </Form>
    </Panel>
  );
}

function state(key: Key): string {
  if (key.revoked_at) return say('revoked');
  return key.expires_at && Date.parse(key.expires_at) <= Date.now() ? say('expired') : say('good');
}

function KeyTable(props: {
  keys: readonly Key[];
  rotate: (id: number) => void;
  revoke: (id: number) => void;
}): JSX.Element {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={say('{what} table', { what: say('API keys') })}>
      <table>
        <thead>
          <tr>
            <th scope="col">{say('Begins')}</th>
            <th scope="col">{say('Scope')}</th>
            <th scope="col">{say('State')}</th>
            <th scope="col">{say('Purpose')}</th>
            <th scope="col">{say('Made')}</th>
            <th scope="col">{say('Last used')}</th>
            <th scope="col">{say('Expires')}</th>
            <th scope="col">{say('Action')}</th>
          </tr>
        </thead>
        <tbody>
          {props.keys.map((key) => (
            <tr key={key.id} class={state(key) === say('good') ? undefined : 'dim'}>
              <td>
                <code>{key.prefix}…</code>
              </td>
              <td>{key.scope}</td>
              <td>{state(key)}</td>
              <td class="long">{key.label}</td>
              <td>
                <Ago at={key.made_at} />
              </td>
              <td>{key.used_at ? <Ago at={key.used_at} /> : '–'}</td>
              <td>{key.expires_at?.slice(0, 10) ?? '–'}</td>
              <td>
                {state(key) === say('good') ? (
                  <>
                    <Sure text={say('Rotate')} what={key.prefix} run={() => props.rotate(key.id)} />{' '}
                    <Sure text={say('Revoke')} what={key.prefix} run={() => props.revoke(key.id)} />
                  </>
                ) : (
                  '–'
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
