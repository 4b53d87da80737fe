/* Settings of an app: its members and their roles. */

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api, type Role } from '../../api/client';
import type { Member } from '../../api/types';
import { say } from '../../lib/i18n';
import { client, useQuery } from '../../lib/query';
import { Exports } from '../exports';
import { announce, Loaded, Panel } from '../parts';
import { Choice, Field, Form, Sure, useAttempt } from './forms';

export function roleOptions(): [Role, string][] {
  return [
    ['viewer', say('viewer')],
    ['triager', say('triager')],
    ['admin', say('admin')],
  ];
}

export function Members({ app }: { app: string }): JSX.Element {
  const result = useQuery(['members', app], (signal) => api.members(app, signal));
  const [name, setName] = useState('');
  const [role, setRole] = useState<Role>('viewer');
  const run = useAttempt();
  const set = (whom: string, what: '' | Role) =>
    run.attempt(async () => {
      await api.setMember(app, whom, what);
      announce(say('{name}: changed', { name: whom }));
      await client.invalidateQueries({ queryKey: ['members', app] });
    });
  return (
    <Panel title={say('Members')}>
      <p class="dim">
        {say(
          'A viewer reads. A triager merges and splits issues too. An admin changes the rollout, rules and settings too. Admins of the server may do all of it.',
        )}
      </p>
      <Loaded result={result} rows={1} label={say('members')}>
        {({ members }) =>
          members.length === 0 ? (
            <p>{say('None yet.')}</p>
          ) : (
            <>
              <MemberTable members={members} set={set} />
              <Exports path={`apps/${app}/members`} of={say('Members')} />
            </>
          )
        }
      </Loaded>
      <Form
        run={run}
        submit={say('Add a member')}
        done={async () => {
          await api.setMember(app, name.trim(), role);
          setName('');
          await client.invalidateQueries({ queryKey: ['members', app] });
        }}
      >
        <Field
          label={say('Name of an account')}
          value={name}
          set={setName}
          note={say('Admins of the server make accounts.')}
        />
        <Choice label={say('Role')} value={role} set={setRole} options={roleOptions()} />
      </Form>
    </Panel>
  );
}

function MemberTable(props: {
  members: readonly Member[];
  set: (name: string, role: '' | Role) => Promise<void>;
}): JSX.Element {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={say('{what} table', { what: say('Members') })}>
      <table>
        <thead>
          <tr>
            <th scope="col">{say('Name')}</th>
            <th scope="col">{say('Role')}</th>
            <th scope="col">{say('Action')}</th>
          </tr>
        </thead>
        <tbody>
          {props.members.map((one) => (
            <tr key={`${one.name} ${one.in_every_app}`}>
              <td>{one.name}</td>
              <td>
                {one.in_every_app ? (
                  <>
                    {say(one.role)} <span class="dim small">{say('in every app')}</span>
                  </>
                ) : (
                  <Choice
                    bare
                    label={say('Role of {name}', { name: one.name })}
                    value={one.role}
                    set={(role) => void props.set(one.name, role)}
                    options={roleOptions()}
                  />
                )}
              </td>
              <td>
                {one.in_every_app ? (
                  '–'
                ) : (
                  <Sure text={say('Remove')} what={one.name} run={() => void props.set(one.name, '')} />
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
