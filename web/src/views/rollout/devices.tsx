/* How devices answered the rollout, and the decision for one installation. */

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api } from '../../api/client';
import type { Rollout } from '../../api/types';
import { Spark } from '../../charts/spark';
import { gap, lang, say } from '../../lib/i18n';
import { useQuery } from '../../lib/query';
import { count, percent } from '../../model/format';
import { answeredBy, PLUGINS, percentOf } from '../../model/rollout';
import { Panel } from '../parts';
import { Field } from '../people/forms';
import { pluginName } from './parts';

export function Devices({ rollout }: { rollout: Rollout }): JSX.Element {
  const rows = answeredBy(rollout.answered);
  return (
    <Panel title={say('How devices answered')}>
      {rows.length === 0 ? (
        <p class="dim">{say('No session record came in the last seven days.')}</p>
      ) : (
        <>
          <div class="scroll" role="region" aria-label={say('Answers by channel')} tabIndex={0}>
            <table class="tight answered">
              <thead>
                <tr>
                  <th scope="col">{say('Channel')}</th>
                  <th scope="col" class="num">
                    {say('Sessions')}
                  </th>
                  {PLUGINS.map((plugin) => (
                    <th scope="col" class="num" key={plugin}>
                      {pluginName(plugin)}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {rows.map((row) => (
                  <tr key={row.channel}>
                    <th scope="row">{row.channel}</th>
                    <td class="num">{count(row.sessions, lang.value)}</td>
                    {PLUGINS.map((plugin) => (
                      <td class="num" key={plugin}>
                        <Spark values={row.days[plugin]} lang={lang.value} what={say('share of sessions by day')} />{' '}
                        {percent(row.share[plugin], lang.value)}
                      </td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          <p class="dim small">
            {say(
              'Share of the sessions of yesterday and today in which the part ran from beginning to end, with the last seven days as bars.',
            )}
            {gap()}
            {say('Only installations that send sessions are counted, so the share of Sessions is always 100 %.')}
          </p>
        </>
      )}
    </Panel>
  );
}

const FACTS = ['install', 'channel', 'version', 'os', 'os_version', 'class', 'arch'] as const;
type Fact = (typeof FACTS)[number];

/* The decision for one installation, of which the facts are typed. */
export function OneDevice({ app, version }: { app: string; version: number }): JSX.Element {
  const [facts, setFacts] = useState<Partial<Record<Fact, string>>>({});
  const install = facts.install?.trim().toLowerCase() ?? '';
  const wrong = install !== '' && !/^[0-9a-f]{32}$/.test(install);
  const asked = Object.fromEntries(
    Object.entries({ ...facts, install }).filter(([, value]) => value.trim() !== ''),
  ) as Partial<Record<Fact, string>>;
  const { data } = useQuery(
    ['rollout-device', app, version, asked],
    (signal) => api.rolloutDevice(app, asked, signal),
    { enabled: !wrong },
  );
  const labels: Record<Fact, string> = {
    install: say('Installation'),
    channel: say('Channel'),
    version: say('Version'),
    os: say('Operating system'),
    os_version: say('System version'),
    class: say('Device class'),
    arch: say('Architecture'),
  };
  const notes: Partial<Record<Fact, string>> = {
    install: wrong ? say('32 hex digits, as reports have it') : say('empty: the shares alone'),
    channel: say('empty: public'),
    os: 'android, ios, linux',
    class: '512mb, 2gb, 6gb',
  };
  return (
    <Panel title={say('Try one device')}>
      <div class="fields">
        {FACTS.map((fact) => (
          <Field
            key={fact}
            label={labels[fact]}
            value={facts[fact] ?? ''}
            set={(text) => setFacts({ ...facts, [fact]: text })}
            optional
            {...(notes[fact] ? { note: notes[fact] } : {})}
          />
        ))}
      </div>
      {data ? (
        <ul class="decided" aria-live="polite">
          {data.plugins.map((one) => (
            <li key={one.plugin}>
              <b>{pluginName(one.plugin)}</b>{' '}
              {one.rule === null
                ? say('no rule applies: the options of the app decide')
                : one.on === null
                  ? say('{share} % by the rule {rule}', { share: percentOf(one.ppm! / 1e6), rule: one.rule })
                  : say('{on}: position {bucket} of 1; the rule {rule} switches on all below {share}', {
                      on: one.on ? say('on') : say('off'),
                      bucket: (one.bucket! / 1e6).toFixed(3),
                      share: (one.ppm! / 1e6).toFixed(3),
                      rule: one.rule,
                    })}
            </li>
          ))}
          {data.kill ? <li class="bad-text">{say('Everything is off on all devices.')}</li> : null}
        </ul>
      ) : null}
    </Panel>
  );
}
