/* Alerts of an app: what fires, the rules, where messages go, and what fired before. */

import '../../style/alerts.css';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api } from '../../api/client';
import type { Alert, AlertMessage, AlertRule, Alerts } from '../../api/types';
import { listed, say } from '../../lib/i18n';
import { idle } from '../../lib/live';
import { client, useQuery } from '../../lib/query';
import { useTitle } from '../../lib/title';
import { useSignIn } from '../../lib/who';
import { word } from '../../lib/words';
import { conditionOf, windowOf } from '../../model/alert';
import { may } from '../../model/who';
import { Exports } from '../exports';
import { Older } from '../older';
import { Ago, announce, Loaded, Moment, Panel } from '../parts';
import { Choice, Sure, useAttempt } from '../people/forms';
import { Channels } from './channels';
import { RuleForm } from './rule-form';

export function AlertsPage({ app }: { app: string }): JSX.Element {
  useTitle(say('Alerts'));
  const who = useSignIn()?.who;
  const result = useQuery(['alerts', app], (signal) => api.alerts(app, signal), { again: () => idle(15_000) });
  const [edited, setEdited] = useState<AlertRule | 'new' | null>(null);
  const refresh = () => client.invalidateQueries({ queryKey: ['alerts', app] });
  const triages = may(who, app, 'triager');
  return (
    <>
      <h1>{say('Alerts')}</h1>
      <Loaded result={result} rows={10} label={say('alerts')}>
        {(data) => (
          <>
            <Open app={app} alerts={data.open} triages={triages} refresh={refresh} />
            <Rules app={app} data={data} triages={triages} edit={setEdited} refresh={refresh} />
            {edited === null ? null : (
              <RuleForm
                key={edited === 'new' ? 'new' : edited.id}
                app={app}
                rule={edited === 'new' ? null : edited}
                channels={data.channels}
                done={async () => {
                  setEdited(null);
                  await refresh();
                }}
              />
            )}
            <Channels app={app} channels={data.channels} admin={may(who, app, 'admin')} refresh={refresh} />
            <Messages messages={data.messages} />
          </>
        )}
      </Loaded>
      {result.isPending ? null : <History app={app} />}
    </>
  );
}

function Open(props: { app: string; alerts: Alert[]; triages: boolean; refresh: () => Promise<void> }): JSX.Element {
  const run = useAttempt();
  return (
    <Panel title={say('Firing now')}>
      {props.alerts.length === 0 ? (
        <p>{say('No alert is firing.')}</p>
      ) : (
        <ul class="alerts">
          {props.alerts.map((alert) => (
            <li key={alert.id} class={alert.state}>
              <Found alert={alert} />
              <span class="actions">
                {alert.acked_at === null && props.triages ? (
                  <button
                    type="button"
                    aria-label={say('Acknowledge alert {id}', { id: alert.id })}
                    onClick={() =>
                      void run.attempt(async () => {
                        await api.ackAlert(props.app, alert.id);
                        announce(say('Acknowledged'));
                        await props.refresh();
                      })
                    }
                  >
                    {say('Acknowledge')}
                  </button>
                ) : null}
                <a class="button" href={alert.page} aria-label={say('Open the page of alert {id}', { id: alert.id })}>
                  {say('Open the page')}
                </a>
              </span>
            </li>
          ))}
        </ul>
      )}
      <p role="alert" class="bad-text">
        {run.fault}
      </p>
    </Panel>
  );
}

/* One alert in words. */
export function Found({ alert }: { alert: Alert }): JSX.Element {
  const states = { waiting: say('waiting'), firing: say('firing'), over: say('over') };
  return (
    <div class="found">
      <p>
        <span class={`tag ${alert.state === 'firing' ? 'hot' : ''}`}>{states[alert.state]}</span>{' '}
        <strong>{alert.rule_name}</strong>{' '}
        <span class="dim small">
          {say('since')} <Moment at={alert.began_at} />
          {alert.over_at === null ? null : (
            <>
              {' – '}
              <Moment at={alert.over_at} />
            </>
          )}
          {alert.acked_at === null ? null : ` · ${say('acknowledged: {who}', { who: alert.acked_by || '–' })}`}
        </span>
      </p>
      <p>
        {alert.verdict}{' '}
        <span class="spark-text" aria-hidden="true">
          {alert.spark.trimStart()}
        </span>
      </p>
    </div>
  );
}

const SNOOZES: readonly [string, number][] = [
  ['1 h', 1],
  ['8 h', 8],
  ['24 h', 24],
  ['7 d', 168],
];

function Rules(props: {
  app: string;
  data: Alerts;
  triages: boolean;
  edit: (rule: AlertRule | 'new') => void;
  refresh: () => Promise<void>;
}): JSX.Element {
  const { app, data, triages } = props;
  const run = useAttempt();
  const act = (what: () => Promise<unknown>, said: string) =>
    void run.attempt(async () => {
      await what();
      announce(said);
      await props.refresh();
    });
  return (
    <Panel
      title={say('Rules')}
      aside={
        triages ? (
          <button type="button" onClick={() => props.edit('new')}>
            {say('New rule')}
          </button>
        ) : undefined
      }
    >
      {data.rules.length === 0 ? (
        <p>{say('There is no rule, so nothing is checked.')}</p>
      ) : (
        <div class="scroll" tabIndex={0} role="region" aria-label={say('{what} table', { what: say('Rules') })}>
          <table class="alert-rules">
            <thead>
              <tr>
                <th scope="col">{say('Name')}</th>
                <th scope="col">{say('Condition')}</th>
                <th scope="col">{say('Notifies')}</th>
                <th scope="col">{say('Checked')}</th>
                {triages ? <th scope="col">{say('Actions')}</th> : null}
              </tr>
            </thead>
            <tbody>
              {data.rules.map((rule) => (
                <tr key={rule.id}>
                  <th scope="row">
                    {word(rule.name)} {rule.is_default ? <span class="tag">{say('default')}</span> : null}
                  </th>
                  <td class="long">
                    {conditionOf(rule)} <span class="dim small">{windowOf(rule)}</span>
                  </td>
                  <td>{notifiedOf(rule, data)}</td>
                  <td>
                    {rule.looked_at === null ? '–' : <Ago at={rule.looked_at} />}
                    {rule.fault === '' ? null : <span class="bad-text"> {rule.fault}</span>}
                  </td>
                  {triages ? (
                    <td class="actions">
                      {rule.snoozed_until !== null && new Date(rule.snoozed_until) > new Date() ? (
                        <button
                          type="button"
                          class="quiet"
                          onClick={() =>
                            act(() => api.snoozeAlertRule(app, rule.id, 0), say('Notifications are on again'))
                          }
                        >
                          {say('Wake')} {rule.name}
                        </button>
                      ) : (
                        <Choice
                          bare
                          label={say('Snooze {name}', { name: rule.name })}
                          value=""
                          set={(hours) =>
                            hours === ''
                              ? undefined
                              : act(() => api.snoozeAlertRule(app, rule.id, Number(hours)), say('Snoozed'))
                          }
                          options={[
                            ['', say('Snooze')],
                            ...SNOOZES.map(([text, h]) => [String(h), text] as [string, string]),
                          ]}
                        />
                      )}
                      <button
                        type="button"
                        class="quiet"
                        aria-label={say('Change {name}', { name: rule.name })}
                        onClick={() => props.edit(rule)}
                      >
                        {say('Change')}
                      </button>
                      <Sure
                        text={say('Remove')}
                        what={rule.name}
                        run={() => act(() => api.removeAlertRule(app, rule.id), say('Removed'))}
                      />
                    </td>
                  ) : null}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <p role="alert" class="bad-text">
        {run.fault}
      </p>
    </Panel>
  );
}

function notifiedOf(rule: AlertRule, data: Alerts): string {
  if (data.channels.length === 0) return say('nobody: no channel exists');
  if (rule.notifies.length === 0) return say('all channels');
  return listed(data.channels.filter((one) => rule.notifies.includes(one.id)).map((one) => one.name));
}

function Messages({ messages }: { messages: AlertMessage[] }): JSX.Element | null {
  if (messages.length === 0) return null;
  return (
    <Panel title={say('Messages')}>
      <div class="scroll" tabIndex={0} role="region" aria-label={say('{what} table', { what: say('Messages') })}>
        <table>
          <thead>
            <tr>
              <th scope="col">{say('When')}</th>
              <th scope="col">{say('Channel')}</th>
              <th scope="col">{say('Message')}</th>
              <th scope="col">{say('State')}</th>
            </tr>
          </thead>
          <tbody>
            {messages.map((one) => (
              <tr key={one.id}>
                <td>
                  <Moment at={one.made_at} seconds />
                </td>
                <td>{one.channel_name}</td>
                <td class="long">{one.title}</td>
                <td class="long">
                  {one.sent_at !== null ? (
                    say('sent')
                  ) : one.failed_at !== null ? (
                    <span class="bad-text">{say('given up: {why}', { why: one.fault })}</span>
                  ) : one.tries > 0 ? (
                    say('failed {n|time|times}, will be tried again: {why}', { n: one.tries, why: one.fault })
                  ) : (
                    say('on its way')
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}

function History({ app }: { app: string }): JSX.Element {
  const [before, setBefore] = useState(0);
  const result = useQuery(['alert-history', app, before], (signal) => api.alertHistory(app, before, signal));
  return (
    <Panel title={say('History')}>
      <Loaded result={result} rows={6} label={say('alerts')}>
        {(data) => (
          <>
            {data.alerts.length === 0 ? (
              <p>{say('No alert has fired.')}</p>
            ) : (
              <ul class="alerts">
                {data.alerts.map((alert) => (
                  <li key={alert.id}>
                    <Found alert={alert} />
                  </li>
                ))}
              </ul>
            )}
            <Exports
              path={`apps/${app}/alerts/history`}
              asked={before > 0 ? { before, limit: 500 } : { limit: 500 }}
              of={say('History')}
            />
            <Older before={before} set={setBefore} more={data.has_more} rows={data.alerts} />
          </>
        )}
      </Loaded>
    </Panel>
  );
}
