/* All rates as a table: of sessions or of user days, by version or by another facet. */

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api } from '../../api/client';
import type { Rate, Rates, RatesTotal, RatesUsers, RatesValue } from '../../api/types';
import { facetTitle } from '../../lib/facets';
import { lang, say } from '../../lib/i18n';
import { patch, query } from '../../lib/location';
import { useQuery } from '../../lib/query';
import { count } from '../../model/format';
import { RATES, type RateName } from '../../model/rates';
import { Exports } from '../exports';
import { fixed, wordsOf } from './rates';

type Of = 'sessions' | 'users';

const BY = ['version', 'os', 'os_version', 'arch', 'model', 'process', 'class', 'channel', 'country'] as const;
type Facet = (typeof BY)[number];

/* Hang time is of hours, never of days of users. */
function columnsOf(of: Of): RateName[] {
  return RATES.filter((name) => of === 'sessions' || name !== 'hang_s_per_hour');
}

function rateOf(sums: RatesTotal | RatesValue, of: Of, name: RateName): Rate {
  if (of === 'sessions') return sums[name];
  const users: RatesUsers | undefined = sums.users;
  return users && name !== 'hang_s_per_hour' ? users[name] : null;
}

export function RatesTable({ app, data }: { app: string; data: Rates }): JSX.Element {
  const { t, v } = query.value;
  const [of, setOf] = useState<Of>('sessions');
  const [chosen, setBy] = useState<Facet>('version');
  const by = v.length > 0 ? 'version' : chosen;
  return (
    <>
      <p class="rates-choice">
        <label>
          {say('Share of')}{' '}
          <select value={of} onChange={(event) => setOf(event.currentTarget.value as Of)}>
            <option value="sessions">{say('sessions')}</option>
            <option value="users">{say('user days')}</option>
          </select>
        </label>{' '}
        <label>
          {say('by')}{' '}
          <select value={by} disabled={v.length > 0} onChange={(event) => setBy(event.currentTarget.value as Facet)}>
            {BY.map((facet) => (
              <option key={facet} value={facet}>
                {facetTitle(facet)}
              </option>
            ))}
          </select>
        </label>
      </p>
      {of === 'users' ? (
        <p class="dim small">
          {say(
            'A user day is a day on which an installation had a session. An interval counts each installation once.',
          )}
        </p>
      ) : null}
      {by === 'version' ? (
        <>
          <Table
            of={of}
            head={facetTitle(by)}
            data={data}
            rows={data.versions.map((row) => ({ ...row, name: row.version }))}
            pick
          />
          <Exports path={`apps/${app}/rates`} asked={{ t, v }} of={say('Rates')} />
        </>
      ) : (
        <ByFacet app={app} t={t} by={by} of={of} />
      )}
    </>
  );
}

function ByFacet({ app, t, by, of }: { app: string; t: string; by: Facet; of: Of }): JSX.Element {
  const { data } = useQuery(['rates', app, t, by], (signal) => api.rates(app, { t, v: [], by }, signal));
  if (!data) return <div class="rates-room" aria-hidden="true" />;
  const rows = (data.values ?? []).map((row) => ({ ...row, name: row.value === '' ? say('not known') : row.value }));
  return (
    <>
      <Table of={of} head={facetTitle(by)} data={data} rows={rows} />
      <Exports path={`apps/${app}/rates`} asked={{ t, by }} of={say('Rates')} />
    </>
  );
}

interface Named {
  name: string;
}

function Table(props: {
  of: Of;
  head: string;
  data: Rates;
  rows: ((RatesTotal | RatesValue) & Named)[];
  pick?: boolean;
}): JSX.Element {
  const { of, head, data, rows, pick } = props;
  return (
    <div class="scroll" role="region" aria-label={say('Rates table')} tabIndex={0}>
      <table class="tight rates">
        <thead>
          <tr>
            <th scope="col">{head}</th>
            <th scope="col" class="num">
              {of === 'users' ? say('User days') : say('Sessions')}
            </th>
            {columnsOf(of).map((name) => (
              <th scope="col" class="num" key={name}>
                {of === 'users' && name === 'lag_percent' ? say('With a hang') : wordsOf(name).title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <Row name={say('all')} sums={data.total} of={of} />
          {rows.map((row) => (
            <Row key={row.name} name={row.name} sums={row} of={of} pick={pick ? row.name : undefined} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row(props: { name: string; sums: RatesTotal | RatesValue; of: Of; pick?: string | undefined }): JSX.Element {
  const { name, sums, of, pick } = props;
  const known = of === 'sessions' ? sums.sessions : sums.users?.days;
  return (
    <tr>
      <th scope="row">
        {pick === undefined ? (
          name
        ) : (
          <button type="button" class="link" onClick={() => patch({ v: [pick] }, true)}>
            {name}
          </button>
        )}
      </th>
      <td class="num">
        {known === undefined ? <span class="dim">{say('not known')}</span> : count(known, lang.value)}
      </td>
      {columnsOf(of).map((column) => (
        <td class="num" key={column}>
          <Cell rate={rateOf(sums, of, column)} unit={wordsOf(column).unit} />
        </td>
      ))}
    </tr>
  );
}

function Cell({ rate, unit }: { rate: Rate; unit: string }): JSX.Element {
  if (!rate) return <span class="dim">{say('not known')}</span>;
  const [value, low, high] = [rate.value, rate.low, rate.high].map((number) => fixed(number, rate, lang.value));
  return (
    <>
      {`${value}${unit}`}
      <br />
      <span class="dim small">{`${low} – ${high}`}</span>
    </>
  );
}
