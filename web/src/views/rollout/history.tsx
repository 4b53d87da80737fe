/* Every version of a rollout: who made it, when and why, and the way back to its rules. */

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api } from '../../api/client';
import { say } from '../../lib/i18n';
import { useQuery } from '../../lib/query';
import { percentOf, shareChanges } from '../../model/rollout';
import { Exports } from '../exports';
import { Moment, Panel } from '../parts';
import { Field, Form, useAttempt } from '../people/forms';
import { type Author, held, pluginName } from './parts';

const SHOWN = 10;

export function History(author: Author): JSX.Element {
  const { rollout, allowed } = author;
  const [all, setAll] = useState(false);
  const [to, setTo] = useState<number | null>(null);
  if (rollout.history.length === 0)
    return (
      <Panel title={say('History')}>
        <p class="dim">{say('Nobody has changed the default.')}</p>
      </Panel>
    );
  return (
    <Panel title={say('History')}>
      <div class="scroll" role="region" aria-label={say('Table of all versions')} tabIndex={0}>
        <table class="tight">
          <thead>
            <tr>
              <th scope="col">{say('Version')}</th>
              <th scope="col">{say('When')}</th>
              <th scope="col">{say('Who')}</th>
              <th scope="col">{say('Why')}</th>
              <th scope="col">
                <span class="offscreen">{say('Back')}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {(all ? rollout.history : rollout.history.slice(0, SHOWN)).map((one) => (
              <tr key={one.version}>
                <th scope="row">{one.version}</th>
                <td class="nowrap">{one.made_at ? <Moment at={one.made_at} /> : null}</td>
                <td>{one.author === 'ramp' ? say('the ramp') : one.author}</td>
                <td>{one.reason}</td>
                <td>
                  {allowed && one.version !== rollout.version ? (
                    <button type="button" class="link" onClick={() => setTo(to === one.version ? null : one.version)}>
                      {say('Back to version {n}', { n: one.version })}
                    </button>
                  ) : null}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Exports path={`apps/${author.app}/rollout`} of={say('History')} />
      {rollout.history.length > SHOWN ? (
        <button type="button" class="link small" onClick={() => setAll(!all)}>
          {all ? say('Show fewer') : say('Show all {n}', { n: rollout.history.length })}
        </button>
      ) : null}
      {to === null ? null : <Back key={to} {...author} to={to} done={() => setTo(null)} />}
    </Panel>
  );
}

function Back({ app, rollout, name, to, done }: Author & { to: number; done: () => void }): JSX.Element {
  const run = useAttempt();
  const [typed, setTyped] = useState('');
  const [reason, setReason] = useState('');
  const { data } = useQuery(['rollout', app, to], (signal) => api.rollout(app, signal, to));
  const shares = data ? shareChanges(rollout.rules, data.rules) : [];
  return (
    <section class="draft" aria-label={say('Back to version {n}', { n: to })}>
      <h3>{say('Back to version {n}', { n: to })}</h3>
      <ul>
        {shares.map((one) => (
          <li key={`${one.rule} ${one.plugin}`}>
            {say('{plugin}: {from} → {to} % in the rule {rule}', {
              plugin: pluginName(one.plugin),
              from: percentOf(one.from),
              to: percentOf(one.to),
              rule: one.rule,
            })}
          </li>
        ))}
        {data && data.rules.kill !== rollout.rules.kill ? (
          <li class="bad-text">
            {data.rules.kill ? say('Everything is off on all devices.') : say('Switch it on again')}
          </li>
        ) : null}
      </ul>
      <Form
        run={run}
        submit={say('Restore this version')}
        done={async () => {
          const { version } = await api.undoRollout(app, {
            base: rollout.version,
            author: name || typed,
            reason,
            to,
          });
          done();
          await held(app, version);
        }}
      >
        {name === '' ? <Field label={say('Author')} value={typed} set={setTyped} /> : null}
        <Field label={say('Reason')} value={reason} set={setReason} />
      </Form>
    </section>
  );
}
