/* How often sessions lag, hang and die, by version: estimates, each with the interval that the sample leaves open. */

import type { JSX } from 'preact';
import { api } from '../../api/client';
import type { Rate, Rates, RatesTotal } from '../../api/types';
import { lang, say } from '../../lib/i18n';
import { patch, query } from '../../lib/location';
import { useQuery } from '../../lib/query';
import { count, exact, precise } from '../../model/format';
import { Panel } from '../parts';

const COLUMNS = ['lag_percent', 'hang_s_per_hour', 'foom_percent', 'watchdog_percent', 'crash_percent'] as const;

/* Nothing, where no session was ever told: then there is nothing to divide by. */
export function RatesPanel({ app }: { app: string }): JSX.Element | null {
  const { t, v } = query.value;
  const { data } = useQuery(['rates', app, t, v], (signal) => api.rates(app, { t, v }, signal));
  if (!data || (data.total.records === 0 && data.losses.length === 0)) return null;
  return (
    <Panel title={say('Rates per session')}>
      {data.total.records > 0 && <RatesTable data={data} />}
      <p class="dim small">
        {say('From {n|session record|session records}; below each rate where the true one lies, 95 times of 100.', {
          n: exact(data.total.records, lang.value),
        })}
      </p>
      <Losses losses={data.losses} />
    </Panel>
  );
}

/* Records that never came, by the devices' own count: what the figures above do not know of. */
function Losses({ losses }: { losses: Rates['losses'] }): JSX.Element | null {
  if (losses.length === 0) return null;
  const why: Record<string, string> = {
    full: say('no room in the store'),
    age: say('too old to be sent'),
    write: say('not written: disk full or read-only'),
    refused: say('refused by the server'),
    broken: say('damaged on the device'),
    big: say('too large'),
    format: say('of a newer version of the library'),
    consent: say('no consent'),
    filtered: say('held back by the app'),
    short: say('stack too short'),
    suppressed: say('the same stack just before'),
    daily: say('stack sent often enough that day'),
  };
  return (
    <p class="small">
      {say('Not sent by devices:')}{' '}
      {losses.map(({ reason, count: lost }) => `${why[reason] ?? reason} ${exact(lost, lang.value)}`).join(' · ')}
    </p>
  );
}

function RatesTable({ data }: { data: Rates }): JSX.Element {
  return (
    <div class="scroll" role="region" aria-label={say('Rates table')} tabIndex={0}>
      <table class="tight rates">
        <thead>
          <tr>
            <th scope="col">{say('Version')}</th>
            <th scope="col" class="num">
              {say('Sessions')}
            </th>
            {[
              say('Lag'),
              say('Hang seconds an hour'),
              say('Out of memory'),
              say('Killed while stuck'),
              say('Crashes'),
            ].map((title) => (
              <th scope="col" class="num" key={title}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <Row name={say('all')} sums={data.total} />
          {data.versions.map((row) => (
            <Row key={row.version} name={row.version} sums={row} pick={row.version} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ name, sums, pick }: { name: string; sums: RatesTotal; pick?: string }): JSX.Element {
  return (
    <tr>
      <th scope="row">
        {pick === undefined ? (
          name
        ) : (
          <button type="button" class="link" onClick={() => patch({ v: [pick] })}>
            {name}
          </button>
        )}
      </th>
      <td class="num">{count(sums.sessions, lang.value)}</td>
      {COLUMNS.map((column) => (
        <td class="num" key={column}>
          <Cell rate={sums[column]} unit={column === 'hang_s_per_hour' ? ' s' : '%'} />
        </td>
      ))}
    </tr>
  );
}

function Cell({ rate, unit }: { rate: Rate; unit: string }): JSX.Element {
  if (!rate) return <span class="dim">{say('not known')}</span>;
  const [value, low, high] = [rate.value, rate.low, rate.high].map((number) => precise(number, lang.value));
  return (
    <>
      {`${value}${unit}`}
      <br />
      <span class="dim small">{`${low} – ${high}`}</span>
    </>
  );
}
