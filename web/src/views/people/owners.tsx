/* Settings of an app: the rules by which new issues are assigned. */

import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { api } from '../../api/client';
import type { AppSettings } from '../../api/types';
import { say } from '../../lib/i18n';
import { client, useQuery } from '../../lib/query';
import { announce, Loaded, Panel } from '../parts';
import { Form, useAttempt } from './forms';

export function Owners({ app }: { app: string }): JSX.Element {
  const result = useQuery(['settings', app], (signal) => api.settings(app, signal));
  return (
    <Panel title={say('Owners')}>
      <p class="dim">
        {say(
          'A new issue is assigned to the first owner with a role in the app. The last line that fits decides. The rules are those of a CODEOWNERS file.',
        )}
      </p>
      <Loaded result={result} rows={6} label={say('settings')}>
        {(settings) => <Rules app={app} settings={settings} />}
      </Loaded>
    </Panel>
  );
}

const EXAMPLE = '*.kt @kim\n/app/src/cart/ @acme/cart\nfunction:com.acme.pay.* @lee\nmodule:libads*.so @lee';

function Rules({ app, settings }: { app: string; settings: AppSettings }): JSX.Element {
  const [owners, setOwners] = useState(settings.owners);
  const run = useAttempt();
  useEffect(() => setOwners(settings.owners), [settings.owners]);
  return (
    <Form
      run={run}
      submit={say('Save')}
      done={async () => {
        const { name, retention_days } = settings;
        await api.setSettings(app, { name, retention_days, owners });
        announce(say('Saved'));
        await client.invalidateQueries({ queryKey: ['settings', app] });
      }}
    >
      <label class="field">
        {say('One rule a line: a file, a folder, function:NAME or module:NAME, and its owners')}
        <textarea
          rows={10}
          maxLength={65_536}
          spellcheck={false}
          autocapitalize="off"
          value={owners}
          placeholder={EXAMPLE}
          onInput={(event) => setOwners(event.currentTarget.value)}
        />
      </label>
      <p class="dim small">
        {say(
          'Open issues that nobody has are assigned within a minute. The activity shows the line, and one click undoes it.',
        )}
      </p>
    </Form>
  );
}
