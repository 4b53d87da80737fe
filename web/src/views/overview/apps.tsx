/* The app chooser; passed over when there is one app only. */

import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { api } from '../../api/client';
import { lang, say } from '../../lib/i18n';
import { go } from '../../lib/location';
import { useQuery } from '../../lib/query';
import { useTitle } from '../../lib/title';
import { exact } from '../../model/format';
import { Exports } from '../exports';
import { Late } from '../late';
import { Ago, Loaded } from '../parts';

const loadNew = () => import('../start/new').then((module) => module.NewAppPage);

export function Apps(): JSX.Element {
  useTitle('');
  const result = useQuery(['apps'], api.apps, { again: (data) => (data && data.apps.length > 0 ? 60_000 : 2_000) });
  const only = result.data?.apps.length === 1 ? result.data.apps[0]!.slug : null;
  useEffect(() => {
    if (only) go(`/${only}`, true);
  }, [only]);
  return (
    <>
      {result.data?.apps.length === 0 ? null : <h1>{say('Apps')}</h1>}
      <Loaded result={result} rows={4} label={say('apps')}>
        {({ apps }) =>
          apps.length === 0 ? (
            <Late load={loadNew} props={{}} label={say('New app')} />
          ) : (
            <>
              <ul class="apps">
                {apps.map((app) => (
                  <li key={app.slug}>
                    <a href={`/${app.slug}`}>
                      <strong>{app.name || app.slug}</strong>
                      <span class="dim">
                        {say('{n|report|reports} in 24 h', { n: exact(app.reports_24h, lang.value) })}
                        {app.last_seen_at ? (
                          <>
                            {' · '}
                            {say('last')} <Ago at={app.last_seen_at} />
                          </>
                        ) : null}
                      </span>
                    </a>
                  </li>
                ))}
              </ul>
              <p>
                <a href="/-/new">{say('New app')}</a>
              </p>
              <Exports path="apps" of={say('Apps')} />
            </>
          )
        }
      </Loaded>
    </>
  );
}
