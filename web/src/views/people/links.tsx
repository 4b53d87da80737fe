/* Settings of an app: where its source is, and where tickets are made. */

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api } from '../../api/client';
import type { AppSettings } from '../../api/types';
import { say } from '../../lib/i18n';
import { client, useQuery } from '../../lib/query';
import { announce, Loaded, Panel } from '../parts';
import { Field, Form, useAttempt } from './forms';

export function Links({ app }: { app: string }): JSX.Element {
  const result = useQuery(['settings', app], (signal) => api.settings(app, signal));
  return (
    <Panel title={say('Source and tickets')}>
      <Loaded result={result} rows={6} label={say('settings')}>
        {(settings) => <Source app={app} settings={settings} />}
      </Loaded>
    </Panel>
  );
}

function Source({ app, settings }: { app: string; settings: AppSettings }): JSX.Element {
  const [link, setLink] = useState(settings.source_link);
  const [root, setRoot] = useState(settings.source_root);
  const [form, setForm] = useState(settings.ticket_link);
  const run = useAttempt();
  return (
    <Form
      run={run}
      submit={say('Save')}
      done={async () => {
        const { name, retention_days } = settings;
        await api.setSettings(app, {
          name,
          retention_days,
          source_link: link.trim(),
          source_root: root.trim(),
          ticket_link: form.trim(),
        });
        announce(say('Saved'));
        await Promise.all([
          client.invalidateQueries({ queryKey: ['settings', app] }),
          client.invalidateQueries({ queryKey: ['releases', app] }),
        ]);
      }}
    >
      <Field
        label={say('Address of a line')}
        value={link}
        set={setLink}
        optional
        note={say('With the placeholders {names}, such as {example}', {
          names: '{commit} {file} {line} {version}',
          example: 'https://git.example/shop/blob/{commit}/{file}#L{line}',
        })}
      />
      <Field
        label={say('Folder of the build')}
        value={root}
        set={setRoot}
        optional
        note={say(
          'The repository’s folder on the machine that builds the app. It is removed from the paths of frames.',
        )}
      />
      <Field
        label={say('Form for a new ticket')}
        value={form}
        set={setForm}
        optional
        note={say('With the placeholders {names}, such as {example}', {
          names: '{title} {body} {link} {issue}',
          example: 'https://git.example/shop/issues/new?title={title}&body={body}',
        })}
      />
      <p class="dim small">
        {say('The commit of a version is that of its newest mark: {command}', {
          command: 'mire release create',
        })}
      </p>
    </Form>
  );
}
