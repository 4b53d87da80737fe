/* The audit log of an app, or of the server. */

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api } from '../../api/client';
import type { Audit } from '../../api/types';
import { say } from '../../lib/i18n';
import { useQuery } from '../../lib/query';
import { useTitle } from '../../lib/title';
import { Exports } from '../exports';
import { Older } from '../older';
import { Loaded, Moment, Panel } from '../parts';
import { Field } from './forms';

export function AuditPage(): JSX.Element {
  useTitle(say('Audit'));
  return (
    <>
      <h1>{say('Audit')}</h1>
      <AuditPanel app={null} />
    </>
  );
}

export function AuditPanel({ app }: { app: string | null }): JSX.Element {
  const [action, setAction] = useState('');
  const [who, setWho] = useState('');
  const [before, setBefore] = useState(0);
  const asked = { action: action.trim(), who: who.trim(), ...(before > 0 ? { before } : {}) };
  const result = useQuery(['audit', app, asked.action, asked.who, before], (signal) => api.audit(app, asked, signal));
  const path = app === null ? 'audit' : `apps/${app}/audit`;
  return (
    <Panel title={say('Changes and sign-ins')}>
      <div class="fields">
        <Field
          label={say('Action begins with')}
          value={action}
          set={(text) => {
            setAction(text);
            setBefore(0);
          }}
          optional
        />
        <Field
          label={say('Who')}
          value={who}
          set={(text) => {
            setWho(text);
            setBefore(0);
          }}
          optional
        />
      </div>
      <Loaded result={result} rows={12} label={say('changes')}>
        {(data) => (
          <>
            {data.rows.length === 0 ? (
              <p>{say('Nothing was changed.')}</p>
            ) : (
              <Rows rows={data.rows} withApp={app === null} />
            )}
            <Exports
              path={path}
              asked={{ action: asked.action, who: asked.who, limit: 10_000 }}
              of={say('Changes and sign-ins')}
            />
            <Older before={before} set={setBefore} more={data.has_more} rows={data.rows} />
          </>
        )}
      </Loaded>
    </Panel>
  );
}

function Rows({ rows, withApp }: { rows: Audit['rows']; withApp: boolean }): JSX.Element {
  return (
    <div
      class="scroll"
      tabIndex={0}
      role="region"
      aria-label={say('{what} table', { what: say('Changes and sign-ins') })}
    >
      <table class="audit">
        <thead>
          <tr>
            <th scope="col">{say('When')}</th>
            <th scope="col">{say('Who')}</th>
            <th scope="col">{say('From where')}</th>
            {withApp ? <th scope="col">{say('App')}</th> : null}
            <th scope="col">{say('Action')}</th>
            <th scope="col">{say('Before')}</th>
            <th scope="col">{say('After')}</th>
            <th scope="col">{say('Reason')}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id}>
              <td>
                <Moment at={row.at} seconds />
              </td>
              <td>
                {row.who || '–'} <span class="dim small">{row.via}</span>
              </td>
              <td>{row.address || '–'}</td>
              {withApp ? <td>{row.app || '–'}</td> : null}
              <td>
                <code>{row.action}</code> {row.subject}
              </td>
              <td class="long">
                <Value text={row.before} />
              </td>
              <td class="long">
                <Value text={row.after} />
              </td>
              <td class="long">{row.reason}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/* A document is folded. */
function Value({ text }: { text: string }): JSX.Element {
  if (text.length <= 120) return <>{text}</>;
  return (
    <details>
      <summary>{text.slice(0, 60)}…</summary>
      <code class="small">{text}</code>
    </details>
  );
}
