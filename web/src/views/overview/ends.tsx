/* Why sessions ended: a bar of all ends a version, and the same in words. */

import '../../style/ends.css';
import type { JSX } from 'preact';
import { api } from '../../api/client';
import { lang, say } from '../../lib/i18n';
import { query } from '../../lib/location';
import { useQuery } from '../../lib/query';
import { type Ending, endingsOf } from '../../model/endings';
import { percent } from '../../model/format';
import { Panel } from '../parts';

function wordOf(ending: Ending): string {
  const words: Record<Ending, string> = {
    normal: say('ended by itself or its user'),
    upgrade: say('upgrade or restart'),
    background: say('killed in the background'),
    crash: say('crash'),
    hung: say('killed while hung'),
    memory: say('out of memory'),
    system: say('killed by the system'),
    unknown: say('not known'),
  };
  return words[ending];
}

/* Nothing, where no end is known. */
export function EndsPanel({ app }: { app: string }): JSX.Element | null {
  const { t, v } = query.value;
  const { data } = useQuery(['rates', app, t, v], (signal) => api.rates(app, { t, v }, signal));
  const rows = data ? endingsOf(data) : [];
  if (rows.length === 0) return null;
  return (
    <Panel title={say('Why sessions ended')}>
      <table class="tight ends">
        <thead>
          <tr>
            <th scope="col">{say('Version')}</th>
            <th scope="col">{say('Share of its ends')}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ version, shares }) => (
            <tr key={version}>
              <th scope="row">{version}</th>
              <td>
                <span class="ends-bar" aria-hidden="true">
                  {shares.map(([ending, share]) => (
                    <span
                      key={ending}
                      class={`end-${ending}`}
                      style={{ flexGrow: share }}
                      title={`${wordOf(ending)} ${percent(share, lang.value)}`}
                    />
                  ))}
                </span>
                <span class="ends-text">
                  {shares.map(([ending, share]) => (
                    <span key={ending}>
                      <i class={`end-${ending}`} aria-hidden="true" /> {wordOf(ending)}{' '}
                      <span class="num">{percent(share, lang.value)}</span>
                    </span>
                  ))}
                </span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}
