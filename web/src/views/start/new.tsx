/* A new app: its name, then its key and the lines that connect it. */

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api } from '../../api/client';
import { say } from '../../lib/i18n';
import { go } from '../../lib/location';
import { client } from '../../lib/query';
import { useTitle } from '../../lib/title';
import { Panel } from '../parts';
import { Field, Form, useAttempt } from '../people/forms';
import { ShowDemo } from './demo';
import { makeKey } from './start';

/* "My Shop!" -> my-shop */
export function slugOf(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 63);
}

export function NewAppPage(): JSX.Element {
  useTitle(say('New app'));
  const [name, setName] = useState('');
  const [own, setOwn] = useState<string | null>(null);
  const slug = own ?? slugOf(name);
  const run = useAttempt();
  return (
    <>
      <h1>{say('New app')}</h1>
      <Panel title={say('App')}>
        <Form
          run={run}
          submit={say('Make the app and a key')}
          done={async () => {
            await api.makeApp({ slug, name });
            await makeKey(slug);
            await client.invalidateQueries({ queryKey: ['apps'] });
            go(`/${slug}/start`);
          }}
        >
          <Field label={say('Name')} value={name} set={setName} />
          <Field
            label={say('In addresses')}
            value={slug}
            set={setOwn}
            note={say('lower-case letters, digits and hyphens')}
          />
        </Form>
      </Panel>
      <ShowDemo />
    </>
  );
}
