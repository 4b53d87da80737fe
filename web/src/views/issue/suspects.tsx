/* Commits of a version that changed a file of the stack. */

import type { JSX } from 'preact';
import { api } from '../../api/client';
import { say } from '../../lib/i18n';
import { query } from '../../lib/location';
import { useQuery } from '../../lib/query';
import { base } from '../../model/name';
import { Exports } from '../exports';
import { Ago, Panel } from '../parts';

/* Nothing, if nobody told the commits of the version. */
export function Suspects({ app, id }: { app: string; id: string }): JSX.Element | null {
  const { t, v } = query.value;
  const { data } = useQuery(['suspects', app, id, t, v], (signal) => api.suspects(app, id, { t, v }, signal));
  if (!data || data.commits === 0) return null;
  const title = say('Suspect commits of {version}', { version: data.version });
  return (
    <Panel title={title}>
      {data.suspects.length === 0 ? (
        <p class="dim">
          {say('None of {n|commit|commits} changed a file of these stacks.', { n: String(data.commits) })}
        </p>
      ) : (
        <ul class="suspects">
          {data.suspects.map((one) => (
            <li key={one.commit}>
              <code>{one.commit.slice(0, 10)}</code> {one.subject}
              <br />
              <span class="dim small">
                {one.author}, <Ago at={one.committed_at} />: <code title={one.file}>{base(one.file)}</code>
              </span>
            </li>
          ))}
        </ul>
      )}
      <Exports path={`apps/${app}/issues/${id}/suspects`} asked={{ t, v }} of={title} />
    </Panel>
  );
}
