/* Settings of the server: accounts, and the configuration that it runs with. */

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api, type Role } from '../../api/client';
import type { Account } from '../../api/types';
import { say } from '../../lib/i18n';
import { client, useQuery } from '../../lib/query';
import { useTitle } from '../../lib/title';
import { Exports } from '../exports';
import { Ago, Loaded, Panel } from '../parts';
import { type Attempt, Choice, Field, Form, Secret, Sure, useAttempt } from './forms';
import { roleOptions } from './members';

const refresh = () => client.invalidateQueries({ queryKey: ['accounts'] });

function everywhere(account: Account): '' | Role {
  return account.roles.find((one) => one.app === '*')?.role ?? '';
}

export function ServerPage(): JSX.Element {
  useTitle(say('Server'));
  const result = useQuery(['accounts'], api.accounts);
  const [link, setLink] = useState('');
  const run = useAttempt();
  const show = (made: { link: string }) => setLink(location.origin + made.link);
  return (
    <>
      <h1>{say('Server')}</h1>
      <p>
        <a href="/-/new">{say('New app')}</a> · <a href="/-/health">{say('Health')}</a>
      </p>
      <Panel title={say('Accounts')} aside={<a href="/-/audit">{say('Audit')}</a>}>
        <Loaded result={result} rows={2} label={say('accounts')}>
          {({ accounts }) => (
            <>
              <div
                class="scroll"
                tabIndex={0}
                role="region"
                aria-label={say('{what} table', { what: say('Accounts') })}
              >
                <table>
                  <thead>
                    <tr>
                      <th scope="col">{say('Name')}</th>
                      <th scope="col">{say('Server')}</th>
                      <th scope="col">{say('In every app')}</th>
                      <th scope="col">{say('Roles')}</th>
                      <th scope="col">{say('Last visit')}</th>
                      <th scope="col">{say('Action')}</th>
                    </tr>
                  </thead>
                  <tbody>
                    {accounts.map((account) => (
                      <Row key={account.name} account={account} run={run} show={show} />
                    ))}
                  </tbody>
                </table>
              </div>
              <Exports path="accounts" of={say('Accounts')} />
            </>
          )}
        </Loaded>
        {link === '' ? null : <Secret label={say('Link to set a password, good for three days')} text={link} />}
        <p role="alert" class="bad-text">
          {run.fault}
        </p>
      </Panel>
      <Add show={show} />
      <Configuration />
    </>
  );
}

function Row({
  account,
  run,
  show,
}: {
  account: Account;
  run: Attempt;
  show: (made: { link: string }) => void;
}): JSX.Element {
  const change = (part: Partial<{ is_server_admin: boolean; is_disabled: boolean; role: '' | Role }>) =>
    void run.attempt(async () => {
      const { is_server_admin, is_disabled } = account;
      await api.changeAccount(account.name, { is_server_admin, is_disabled, role: everywhere(account), ...part });
      await refresh();
    });
  const others = account.roles.filter((one) => one.app !== '*');
  return (
    <tr class={account.is_disabled ? 'dim' : undefined}>
      <td>
        {account.name}{' '}
        {account.source === 'local' ? null : (
          <span class="tag">{account.source === 'proxy' ? say('by proxy') : 'OpenID'}</span>
        )}
      </td>
      <td>
        <label class="check">
          <input
            type="checkbox"
            checked={account.is_server_admin}
            aria-label={say('{name} is admin of the server', { name: account.name })}
            onChange={(event) => change({ is_server_admin: event.currentTarget.checked })}
          />
          {say('admin')}
        </label>
      </td>
      <td>
        <Choice<'' | Role>
          bare
          label={say('Role of {name} in every app', { name: account.name })}
          value={everywhere(account)}
          set={(role) => change({ role })}
          options={[['', say('none')], ...roleOptions()]}
        />
      </td>
      <td>{others.map((one) => `${one.app}: ${say(one.role)}`).join(', ') || '–'}</td>
      <td>{account.seen_at ? <Ago at={account.seen_at} /> : '–'}</td>
      <td>
        {account.is_disabled ? (
          <button
            type="button"
            class="quiet"
            aria-label={`${say('Enable')} ${account.name}`}
            onClick={() => change({ is_disabled: false })}
          >
            {say('Enable')}
          </button>
        ) : (
          <>
            <button
              type="button"
              class="quiet"
              aria-label={`${say('New link')} ${account.name}`}
              onClick={() => void run.attempt(async () => show(await api.makeLink(account.name)))}
            >
              {say('New link')}
            </button>{' '}
            <Sure text={say('Disable')} what={account.name} run={() => change({ is_disabled: true })} />
          </>
        )}
      </td>
    </tr>
  );
}

function Add({ show }: { show: (made: { link: string }) => void }): JSX.Element {
  const [name, setName] = useState('');
  const [role, setRole] = useState<'' | Role>('viewer');
  const [isAdmin, setIsAdmin] = useState(false);
  const run = useAttempt();
  return (
    <Panel title={say('New account')}>
      <Form
        run={run}
        submit={say('Make the account and a link')}
        done={async () => {
          show(await api.addAccount({ name: name.trim(), is_server_admin: isAdmin, role }));
          setName('');
          await refresh();
        }}
      >
        <Field label={say('Name or e-mail')} value={name} set={setName} />
        <Choice<'' | Role>
          label={say('Role in every app')}
          value={role}
          set={setRole}
          options={[['', say('none')], ...roleOptions()]}
        />
        <label class="check">
          <input type="checkbox" checked={isAdmin} onChange={(event) => setIsAdmin(event.currentTarget.checked)} />
          {say('admin of the server')}
        </label>
      </Form>
    </Panel>
  );
}

function origin(from: 'default' | 'file' | 'environment' | 'flag', name: string, file: string): JSX.Element {
  if (from === 'default') return <span class="dim">{say('default')}</span>;
  if (from === 'file') return <code>{file}</code>;
  return <code>{from === 'flag' ? `--${name.replaceAll('_', '-')}` : `MIRED_${name.toUpperCase()}`}</code>;
}

/* Read only: it is set where mired is started, and holds from the next start on. */
function Configuration(): JSX.Element {
  const result = useQuery(['server'], api.server);
  return (
    <Panel title={say('Configuration')}>
      <p class="dim">
        {say(
          'The settings that this process runs with, and where each is set. Change them there and restart mired; docs/configuration.md describes them.',
        )}
      </p>
      <Loaded result={result} rows={12} label={say('settings')}>
        {({ version, file, settings }) => (
          <>
            <p>
              {say('Version')} <code>{version}</code>
            </p>
            <div
              class="scroll"
              tabIndex={0}
              role="region"
              aria-label={say('{what} table', { what: say('Configuration') })}
            >
              <table>
                <thead>
                  <tr>
                    <th scope="col">{say('Setting')}</th>
                    <th scope="col">{say('Value')}</th>
                    <th scope="col">{say('Set in')}</th>
                  </tr>
                </thead>
                <tbody>
                  {settings.map((one) => (
                    <tr key={one.name}>
                      <th scope="row">
                        <code>{one.name}</code>
                      </th>
                      <td class="long">{one.value === '' ? <span class="dim">{say('empty')}</span> : one.value}</td>
                      <td>{origin(one.from, one.name, file)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          </>
        )}
      </Loaded>
    </Panel>
  );
}
