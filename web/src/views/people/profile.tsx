/* The reader's own account: password, sign-ins, personal tokens. */

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api } from '../../api/client';
import type { Token } from '../../api/types';
import { gap, say } from '../../lib/i18n';
import { client, useQuery } from '../../lib/query';
import { useTitle } from '../../lib/title';
import { useSignIn } from '../../lib/who';
import { Ago, announce, Loaded, Panel } from '../parts';
import { Choice, Field, Form, Secret, Sure, useAttempt } from './forms';

/* The page is loaded again, so that none of the person's data stays in memory. */
async function leave(end: () => Promise<{ leave?: string | null }>): Promise<void> {
  const { leave } = await end();
  location.assign(leave ?? '/-/sign-in');
}

export function ProfilePage(): JSX.Element {
  useTitle(say('Profile'));
  const who = useSignIn()?.who;
  const run = useAttempt();
  return (
    <>
      <h1>{who?.name ?? say('Profile')}</h1>
      {who && !who.has_account ? (
        <div class="notice">
          {say(
            'This server runs for the user of this machine alone, without accounts and passwords. To let others in, run: mire user add NAME --server-admin',
          )}
        </div>
      ) : who ? (
        <>
          <Panel title={say('Roles')}>
            <ul>
              {who.is_server_admin ? <li>{say('admin of the server')}</li> : null}
              {who.roles.map((one) => (
                <li key={one.app}>
                  {one.app === '*' ? say('every app') : one.app}: {say(one.role)}
                </li>
              ))}
            </ul>
          </Panel>
          {who.via === 'sign-in' && who.has_password ? <Password /> : null}
          <SignIns />
          <Code />
          <Tokens />
          {who.via === 'sign-in' ? (
            <p class="buttons">
              <button type="button" onClick={() => void run.attempt(() => leave(api.signOut))}>
                {say('Sign out')}
              </button>
              <Sure
                text={say('Sign out everywhere')}
                what=""
                run={() => void run.attempt(() => leave(api.signOutEverywhere))}
              />
            </p>
          ) : null}
          <p role="alert" class="bad-text">
            {run.fault}
          </p>
        </>
      ) : null}
    </>
  );
}

function Password(): JSX.Element {
  const [old, setOld] = useState('');
  const [fresh, setFresh] = useState('');
  const run = useAttempt();
  return (
    <Panel title={say('Password')}>
      <Form
        run={run}
        submit={say('Change the password')}
        done={async () => {
          await api.changePassword({ old, new: fresh });
          setOld('');
          setFresh('');
          announce(say('The password is changed; all other sign-ins ended. Personal tokens stay valid.'));
          await client.invalidateQueries({ queryKey: ['sign-ins'] });
        }}
      >
        <Field label={say('Old password')} value={old} set={setOld} type="password" autocomplete="current-password" />
        <Field
          label={say('New password')}
          value={fresh}
          set={setFresh}
          type="password"
          autocomplete="new-password"
          note={say('At least 10 characters.')}
        />
      </Form>
    </Panel>
  );
}

function SignIns(): JSX.Element {
  const result = useQuery(['sign-ins'], api.signIns);
  const run = useAttempt();
  const end = (id: number) =>
    void run.attempt(async () => {
      await api.endSignIn(id);
      await client.invalidateQueries({ queryKey: ['sign-ins'] });
    });
  return (
    <Panel title={say('Signed in')}>
      <Loaded result={result} rows={3} label={say('sign-ins')}>
        {({ sign_ins }) => (
          <div class="scroll" tabIndex={0} role="region" aria-label={say('{what} table', { what: say('Signed in') })}>
            <table>
              <thead>
                <tr>
                  <th scope="col">{say('Browser')}</th>
                  <th scope="col">{say('Address')}</th>
                  <th scope="col">{say('Since')}</th>
                  <th scope="col">{say('Last used')}</th>
                  <th scope="col">{say('Action')}</th>
                </tr>
              </thead>
              <tbody>
                {sign_ins.map((one) => (
                  <tr key={one.id}>
                    <td class="long">{one.browser}</td>
                    <td>{one.address}</td>
                    <td>
                      <Ago at={one.made_at} />
                    </td>
                    <td>{one.used_at ? <Ago at={one.used_at} /> : '–'}</td>
                    <td>
                      {one.is_this ? (
                        say('this one')
                      ) : (
                        <Sure text={say('End')} what={one.address} run={() => end(one.id)} />
                      )}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Loaded>
    </Panel>
  );
}

function Code(): JSX.Element {
  const [code, setCode] = useState('');
  const run = useAttempt();
  return (
    <Panel title={say('Command line')}>
      <p class="dim">{say('mire login asks for a code. It signs you in there, once, within five minutes.')}</p>
      {code === '' ? null : <Secret label={say('Code')} text={code} />}
      <Form run={run} submit={say('Make a code')} done={async () => setCode((await api.makeCode()).code)}>
        {null}
      </Form>
    </Panel>
  );
}

function Tokens(): JSX.Element {
  const result = useQuery(['tokens'], api.tokens);
  const [label, setLabel] = useState('');
  const [scope, setScope] = useState<'read' | 'triage' | 'admin'>('read');
  const [days, setDays] = useState('90');
  const [secret, setSecret] = useState('');
  const run = useAttempt();
  const refresh = () => client.invalidateQueries({ queryKey: ['tokens'] });
  const revoke = (id: number) =>
    void run.attempt(async () => {
      await api.revokeToken(id);
      await refresh();
    });
  return (
    <Panel title={say('Personal tokens')}>
      <p class="dim">
        {say('For the command line (mire login makes one) and robots. A token has your rights, up to its scope.')}
        {gap()}
        {say(
          'Neither a new password nor signing out everywhere ends a token: it is valid until it expires or is revoked here.',
        )}
      </p>
      <Loaded result={result} rows={3} label={say('tokens')}>
        {({ tokens }) =>
          tokens.length === 0 ? <p>{say('None yet.')}</p> : <TokenTable tokens={tokens} end={revoke} />
        }
      </Loaded>
      {secret === '' ? null : <Secret label={say('New token')} text={secret} />}
      <Form
        run={run}
        submit={say('Make a token')}
        done={async () => {
          const made = await api.makeToken({ label, scope, days: Number(days) });
          setSecret(made.secret);
          setLabel('');
          await refresh();
        }}
      >
        <Field label={say('Purpose')} value={label} set={setLabel} />
        <Choice
          label={say('Scope')}
          value={scope}
          set={setScope}
          options={[
            ['read', say('read')],
            ['triage', say('triage')],
            ['admin', say('all my rights')],
          ]}
        />
        <Field label={say('Days until it expires')} value={days} set={setDays} type="number" />
      </Form>
    </Panel>
  );
}

function TokenTable({ tokens, end }: { tokens: readonly Token[]; end: (id: number) => void }): JSX.Element {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={say('{what} table', { what: say('Personal tokens') })}>
      <table>
        <thead>
          <tr>
            <th scope="col">{say('Begins')}</th>
            <th scope="col">{say('Scope')}</th>
            <th scope="col">{say('Purpose')}</th>
            <th scope="col">{say('Last used')}</th>
            <th scope="col">{say('Expires')}</th>
            <th scope="col">{say('Action')}</th>
          </tr>
        </thead>
        <tbody>
          {tokens.map((one) => (
            <tr key={one.id}>
              <td>
                <code>{one.prefix}…</code>
              </td>
              <td>{say(one.scope)}</td>
              <td class="long">{one.label}</td>
              <td>{one.used_at ? <Ago at={one.used_at} /> : '–'}</td>
              <td>{one.expires_at?.slice(0, 10) ?? '–'}</td>
              <td>
                <Sure text={say('Revoke')} what={one.prefix} run={() => end(one.id)} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
