/* How the server is: findings with the next step, apps that send too much, queries that took long. */

import type { JSX } from 'preact';
import { api } from '../../api/client';
import type { ServerHealth } from '../../api/types';
import { lang, say } from '../../lib/i18n';
import { query } from '../../lib/location';
import { useQuery } from '../../lib/query';
import { useTitle } from '../../lib/title';
import { duration } from '../../lib/units';
import { exact, percent } from '../../model/format';
import { carried, href } from '../../model/view';
import { Ago, Loaded, Panel } from '../parts';
import { findingText } from './findings';

const AGAIN_MS = 15_000;
const GRADES = ['bad', 'look', 'ok'] as const;

export function HealthPage(): JSX.Element {
  useTitle(say('Health'));
  const result = useQuery(['health'], api.serverHealth, { again: () => AGAIN_MS });
  return (
    <>
      <h1>{say('Health')}</h1>
      <p class="dim">{say('The same findings as those of mired doctor on the machine itself.')}</p>
      <Loaded result={result} rows={20} label={say('Health')}>
        {(health) => (
          <>
            <Findings health={health} />
            <Floods health={health} />
            <Slow health={health} />
          </>
        )}
      </Loaded>
    </>
  );
}

function Grade({ grade }: { grade: (typeof GRADES)[number] }): JSX.Element {
  if (grade === 'bad') return <span class="bad-text">{say('act now')}</span>;
  if (grade === 'look') return <span class="warn-text">{say('act soon')}</span>;
  return <span class="dim">{say('well')}</span>;
}

interface TableProps {
  title: string;
  heads: readonly (readonly [text: string, kind?: 'num'])[];
  children: JSX.Element[];
}

function Table({ title, heads, children }: TableProps): JSX.Element {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={say('{what} table', { what: title })}>
      <table>
        <thead>
          <tr>
            {heads.map(([text, kind]) => (
              <th key={text} scope="col" class={kind}>
                {text}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

function Findings({ health }: { health: ServerHealth }): JSX.Element {
  const title = say('Findings');
  const all = GRADES.flatMap((grade) => health.findings.filter((one) => one.grade === grade));
  return (
    <Panel title={title}>
      <p role="status">
        {health.bad + health.look === 0
          ? say('All is well.')
          : say('{bad} to act on now, {look} soon.', { bad: health.bad, look: health.look })}
      </p>
      <Table title={title} heads={[[say('Area')], [say('State')], [say('Found')], [say('Next step')]]}>
        {all.map((one) => (
          <tr key={one.about}>
            <th scope="row">{findingText(one.about)}</th>
            <td>
              <Grade grade={one.grade} />
            </td>
            <td class="long">{findingText(one.text, one.values)}</td>
            <td class="long">{one.next === '' ? '–' : findingText(one.next)}</td>
          </tr>
        ))}
      </Table>
    </Panel>
  );
}

function Floods({ health }: { health: ServerHealth }): JSX.Element {
  const title = say('Apps and keys that flood');
  const number = (n: number) => exact(n, lang.value);
  return (
    <Panel title={title}>
      {health.floods.length === 0 ? (
        <p class="dim">{say('No report was refused today.')}</p>
      ) : (
        <Table
          title={title}
          heads={[
            [say('App')],
            [say('Stored today'), 'num'],
            [say('Too often'), 'num'],
            [say('Beyond the budget'), 'num'],
            [say('Most by key')],
          ]}
        >
          {health.floods.map((one) => (
            <tr key={one.app}>
              <th scope="row">
                <a href={href({ name: 'settings', app: one.app, part: 'keys' }, carried(query.value))}>{one.app}</a>
              </th>
              <td class="num">{number(one.stored)}</td>
              <td class="num">{number(one.too_often)}</td>
              <td class="num">{number(one.beyond_quota)}</td>
              <td>{one.key === '' ? '–' : `${one.key} (${percent(one.key_share, lang.value)})`}</td>
            </tr>
          ))}
        </Table>
      )}
    </Panel>
  );
}

function Slow({ health }: { health: ServerHealth }): JSX.Element {
  const title = say('Slow queries');
  return (
    <Panel title={title}>
      <p class="dim">{say('Queries that took longer than a second in the last day. They delay only each other.')}</p>
      {health.slow.length === 0 ? (
        <p>{say('There were none.')}</p>
      ) : (
        <Table
          title={title}
          heads={[
            [say('Query')],
            [say('App')],
            [say('Days'), 'num'],
            [say('Times'), 'num'],
            [say('Longest'), 'num'],
            [say('Last')],
          ]}
        >
          {health.slow.map((one) => (
            <tr key={`${one.route} ${one.app} ${one.days}`}>
              <th scope="row">
                <code>{one.route}</code>
              </th>
              <td>{one.app === '' ? '–' : one.app}</td>
              <td class="num">{one.days}</td>
              <td class="num">{one.times}</td>
              <td class="num">{duration(one.longest_ms)}</td>
              <td>
                <Ago at={one.last_at} />
              </td>
            </tr>
          ))}
        </Table>
      )}
    </Panel>
  );
}
