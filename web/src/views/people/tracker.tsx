/* Settings of an app: the tracker in which the server makes tickets, and which tells how they fare. */

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api } from '../../api/client';
import type { Tracker, TrackerBody } from '../../api/types';
import { say } from '../../lib/i18n';
import { client, useQuery } from '../../lib/query';
import { announce, Loaded, Panel } from '../parts';
import { Choice, Field, Form, Secret, Sure, useAttempt } from './forms';

type Kind = TrackerBody['kind'];

const KINDS: readonly [Kind, string][] = [
  ['github', 'GitHub'],
  ['gitlab', 'GitLab'],
  ['jira', 'Jira'],
  ['linear', 'Linear'],
];

/* Where the API of a tracker is, unless a company has its own. */
const ADDRESSES: Record<Kind, string> = {
  github: 'https://api.github.com',
  gitlab: 'https://gitlab.com',
  jira: '',
  linear: 'https://api.linear.app/graphql',
};

export function TrackerSettings({ app }: { app: string }): JSX.Element {
  const result = useQuery(['tracker', app], (signal) => api.tracker(app, signal));
  const [secret, setSecret] = useState(''); // outlives the form, which begins anew with a tracker of another kind
  return (
    <Panel title={say('Tracker')}>
      <Loaded result={result} rows={3} label={say('settings')}>
        {(answer) => <Settings key={answer.tracker?.kind ?? ''} app={app} tracker={answer.tracker} tell={setSecret} />}
      </Loaded>
      {secret === '' ? null : (
        <Secret
          text={secret}
          label={say('Secret of the webhook')}
          note={say('It is shown once. Enter it in the webhook of the tracker.')}
        />
      )}
    </Panel>
  );
}

interface SettingsProps {
  app: string;
  tracker: Tracker | null;
  tell: (secret: string) => void;
}

function noteOf(kind: Kind): string {
  return {
    github: say('owner/name'),
    gitlab: say('Path or number of the project'),
    jira: say('Key of the project'),
    linear: say('Id of the team'),
  }[kind];
}

function tokenNote(kind: Kind, tracker: Tracker | null): string {
  if (tracker?.kind === kind) return say('Empty: keep the stored token.');
  return kind === 'jira' ? say('In the cloud e-mail:token.') : '';
}

function Settings({ app, tracker, tell }: SettingsProps): JSX.Element {
  const [kind, setKind] = useState<Kind>(tracker?.kind ?? 'github');
  const [address, setAddress] = useState(tracker?.address ?? ADDRESSES.github);
  const [project, setProject] = useState(tracker?.project ?? '');
  const [token, setToken] = useState('');
  const [resolves, setResolves] = useState(tracker?.closed_resolves ?? true);
  const [opens, setOpens] = useState(tracker?.reopened_opens ?? true);
  const [own, setOwn] = useState('');
  const run = useAttempt();
  const refresh = () =>
    Promise.all([
      client.invalidateQueries({ queryKey: ['tracker', app] }),
      client.invalidateQueries({ queryKey: ['releases', app] }),
    ]);
  return (
    <>
      <Form
        run={run}
        submit={say('Save')}
        done={async () => {
          const asked = { kind, address, project, closed_resolves: resolves, reopened_opens: opens };
          const answer = await api.setTracker(app, {
            ...asked,
            ...(token === '' ? {} : { token }),
            ...(own === '' ? {} : { secret: own }),
          });
          setOwn('');
          if (answer.secret) tell(answer.secret);
          setToken('');
          announce(say('Saved'));
          await refresh();
        }}
      >
        <Choice
          label={say('Kind')}
          value={kind}
          set={(next) => {
            setKind(next);
            setAddress(ADDRESSES[next]);
          }}
          options={KINDS}
        />
        <Field label={say('Address of the API')} value={address} set={setAddress} />
        <Field label={say('Project')} value={project} set={setProject} note={noteOf(kind)} />
        <Field
          label={say('Token')}
          type="password"
          value={token}
          set={setToken}
          optional={tracker?.kind === kind && tracker.address === address}
          note={tokenNote(kind, tracker)}
        />
        <Field
          label={say('Secret of the webhook')}
          type="password"
          value={own}
          set={setOwn}
          optional
          note={say('Only if the tracker made it, as Linear does.')}
        />
        <label class="check">
          <input type="checkbox" checked={resolves} onChange={(event) => setResolves(event.currentTarget.checked)} />{' '}
          {say('Closing a ticket resolves its issue')}
        </label>
        <label class="check">
          <input type="checkbox" checked={opens} onChange={(event) => setOpens(event.currentTarget.checked)} />{' '}
          {say('Reopening a ticket opens its issue')}
        </label>
      </Form>
      {tracker ? (
        <p class="dim small long">
          {say('Address for the webhook of the tracker, with events of issues as JSON: {address}', {
            address: `${location.origin}/api/v1/apps/${app}/tracker/calls`,
          })}{' '}
          <Sure
            text={say('Remove')}
            what={say('Tracker')}
            run={() =>
              void run.attempt(async () => {
                await api.removeTracker(app);
                tell('');
                await refresh();
              })
            }
          />
        </p>
      ) : null}
    </>
  );
}
