/* A version against another one, or against another time: the rates on one scale, and the issues whose rate changed. */

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api } from '../../api/client';
import type { Change, Changes, Rate, VersionRow } from '../../api/types';
import { gap, lang, say } from '../../lib/i18n';
import { patch, query } from '../../lib/location';
import { useQuery } from '../../lib/query';
import { useSignIn } from '../../lib/who';
import { count, day } from '../../model/format';
import { absolute } from '../../model/range';
import { direction, RATES, type RateName } from '../../model/rates';
import { asked, note, olderOf, parseOther, scaleOf, sortChanges } from '../../model/versions';
import { carried, href } from '../../model/view';
import { may } from '../../model/who';
import { StillArriving } from '../complete';
import { Exports } from '../exports';
import { ChangeRow, sentence } from '../overview/changed';
import { fixed, signed, wordsOf } from '../overview/rates';
import { copy, Loaded, Panel } from '../parts';
import { triage } from '../triage/act';
import { Spreads } from './spreads';

const SHOWN = 10;

interface Props {
  app: string;
  version: string;
  rows: readonly VersionRow[];
}

export function Comparison({ app, version, rows }: Props): JSX.Element {
  const { t, kind, cmp } = query.value;
  const other = parseOther(cmp);
  const scope = { t, kind, v: [version], ...asked(other) };
  const result = useQuery(['changes', app, scope], (signal) => api.changes(app, scope, signal));
  return (
    <Panel
      title={say('{version} compared', { version })}
      class="comparison"
      aside={<Choose version={version} rows={rows} />}
    >
      <Loaded result={result} rows={10} label={say('comparison')}>
        {(data) => (
          <>
            <Body app={app} data={data} rows={rows} version={version} />
            <StillArriving days={data.completeness} />
            <Exports path={`apps/${app}/changes`} asked={scope} of={say('{version} compared', { version })} />
          </>
        )}
      </Loaded>
    </Panel>
  );
}

/* Of a side its name: a version, or all of them, with its days if both sides have one version. */
function sideName(data: Changes, side: 'before' | 'after'): string {
  const { version, from, to } = data[side];
  const same = data.before.from === data.after.from && data.before.to === data.after.to;
  const days = `${day(new Date(from), 'utc', lang.value)} – ${day(new Date(Date.parse(to) - 1), 'utc', lang.value)}`;
  if (same) return version ?? say('all versions');
  return version === null ? days : `${version}, ${days}`;
}

function Choose({ version, rows }: { version: string; rows: readonly VersionRow[] }): JSX.Element {
  const { cmp } = query.value;
  const other = parseOther(cmp);
  const [asks, setAsks] = useState(other.is === 'range');
  const older = olderOf(rows, version);
  const value = asks
    ? 'range'
    : other.is === 'version'
      ? `v:${other.version}`
      : other.is === 'week'
        ? 'week'
        : 'healthy';
  const pick = (to: string) => {
    setAsks(to === 'range');
    if (to !== 'range') patch({ cmp: to }, true);
  };
  const names = rows.map((row) => row.version).filter((one) => one !== version);
  if (other.is === 'version' && !names.includes(other.version)) names.push(other.version);
  return (
    <div class="row against">
      <label>
        {say('against')}{' '}
        <select value={value} onChange={(event) => pick(event.currentTarget.value)}>
          <option value="healthy" selected={value === 'healthy'}>
            {older ? say('version before ({version})', { version: older.version }) : say('version before')}
          </option>
          {names.map((one) => (
            <option key={one} value={`v:${one}`} selected={value === `v:${one}`}>
              {one}
            </option>
          ))}
          <option value="week" selected={value === 'week'}>
            {say('the week before')}
          </option>
          <option value="range" selected={value === 'range'}>
            {say('another time')}
          </option>
        </select>
      </label>
      {asks ? <Days given={other.is === 'range' ? other.t : ''} /> : null}
    </div>
  );
}

/* Two days, UTC, both included. */
function Days({ given }: { given: string }): JSX.Element {
  const [first, last] = given.split('..').map((one) => one.slice(0, 10));
  const [from, setFrom] = useState(first ?? '');
  const [to, setTo] = useState(
    last
      ? new Date(Date.parse(given.split('..')[1]!.replace(/T(\d\d)Z$/, 'T$1:00Z')) - 1).toISOString().slice(0, 10)
      : '',
  );
  const submit = (event: Event) => {
    event.preventDefault();
    const span = { from: new Date(`${from}T00:00:00Z`), to: new Date(Date.parse(`${to}T00:00:00Z`) + 86_400_000) };
    if (span.from < span.to) patch({ cmp: absolute(span) }, true);
  };
  return (
    <form class="row" onSubmit={submit}>
      <input
        type="date"
        required
        aria-label={say('First day (UTC)')}
        value={from}
        onInput={(e) => setFrom(e.currentTarget.value)}
      />
      <span aria-hidden="true">–</span>
      <input
        type="date"
        required
        aria-label={say('Last day (UTC)')}
        value={to}
        onInput={(e) => setTo(e.currentTarget.value)}
      />
      <button type="submit">{say('Compare')}</button>
    </form>
  );
}

function Body({ app, version, rows, data }: Props & { data: Changes }): JSX.Element {
  const { before, after } = data;
  const known = useSignIn();
  const names: [string, string] = [sideName(data, 'before'), sideName(data, 'after')];
  if (before.sessions <= 0 || after.sessions <= 0)
    return (
      <p class="dim">
        {before.version === null && parseOther(query.value.cmp).is === 'before'
          ? say('No earlier version has 1,000 sessions in this range.')
          : after.sessions <= 0
            ? say('{version} has no sessions in this range, so nothing can be compared.', { version })
            : say('The other side has no sessions, so nothing can be compared.')}
      </p>
    );
  const began = rows.find((row) => row.version === version)?.days[0]?.day;
  const since = () => began && patch({ t: absolute({ from: new Date(began), to: new Date() }) }, true);
  const share = () => {
    const titles = Object.fromEntries(RATES.map((name) => [name, wordsOf(name).title])) as Record<RateName, string>;
    const words = { worse: say('Worse'), better: say('Better'), of: (one: Change) => sentence(one, after.version) };
    const link = (id: string) => `${location.origin}/i/${id}`;
    const head = say('{after} against {before}, per session.', { after: names[1], before: names[0] });
    void copy(`${head}\n\n${note(data, titles, words, link)}\n`, say('Comparison copied'));
  };
  return (
    <>
      <RatesCompared data={data} names={names} />
      <Spreads
        of={[
          { name: names[0], spreads: before.rates.spreads ?? null },
          { name: names[1], spreads: after.rates.spreads ?? null },
        ]}
      />
      <Issues app={app} data={data} mayTriage={may(known?.who, app, 'triager')} />
      <p class="dim small">
        {say(
          'A hit is a day on which a device had the issue. An exact test decides, and at most 5 % of the changes shown are due to chance.',
        )}
        {gap()}
        {say(
          'Newer devices get a new version first. The comparison does not correct for operating systems and device classes.',
        )}
      </p>
      <div class="row">
        <button type="button" onClick={share}>
          {say('Copy as a release note')}
        </button>
        {began && !query.value.t.includes('..') ? (
          <button type="button" onClick={since}>
            {say('Only days since {version} began', { version })}
          </button>
        ) : null}
        <a class="button" href={href({ name: 'alerts', app }, carried(query.value))}>
          {say('Alert on a rate')}
        </a>
        <a class="button" href={href({ name: 'rollout', app }, carried(query.value))}>
          {say('Rollout')}
        </a>
      </div>
    </>
  );
}

const WIDTH = 220;

/* Dot and whisker of both sides on one scale; the value as text stands beside it. */
function Whiskers({ was, is, way }: { was: Rate; is: Rate; way: string }): JSX.Element | null {
  if (!was || !is) return null;
  const { at } = scaleOf([was.high, is.high], WIDTH - 12);
  const line = (rate: NonNullable<Rate>, y: number, kind: string) => (
    <g class={kind}>
      <path d={`M${(6 + at(rate.low)).toFixed(1)} ${y}H${(6 + at(rate.high)).toFixed(1)}`} />
      <circle cx={6 + at(rate.value)} cy={y} r="4" />
    </g>
  );
  return (
    <svg class="whiskers" viewBox={`0 0 ${WIDTH} 30`} aria-hidden="true">
      <path class="base" d={`M6 0V30M6 29.5H${WIDTH - 6}`} />
      {line(was, 9, 'was')}
      {line(is, 21, `is ${way}`)}
    </svg>
  );
}

function RatesCompared({ data, names }: { data: Changes; names: [string, string] }): JSX.Element {
  const { before, after } = data;
  return (
    <div class="scroll" role="region" aria-label={say('Rates compared')} tabIndex={0}>
      <table class="tight compared">
        <thead>
          <tr>
            <th scope="col">{say('Rate')}</th>
            <th scope="col" class="num">
              {names[0]}
            </th>
            <th scope="col" class="num">
              {names[1]}
            </th>
            <th scope="col" class="wide-only">
              <span class="offscreen">{say('Drawing')}</span>
            </th>
            <th scope="col">{say('Changed')}</th>
          </tr>
        </thead>
        <tbody>
          <tr>
            <th scope="row">{say('Sessions')}</th>
            <td class="num">{count(before.sessions, lang.value)}</td>
            <td class="num">{count(after.sessions, lang.value)}</td>
            <td class="wide-only" />
            <td />
          </tr>
          {RATES.map((name) => (
            <RateRow key={name} name={name} was={before.rates[name]} is={after.rates[name]} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function RateRow({ name, was, is }: { name: RateName; was: Rate; is: Rate }): JSX.Element {
  const { title, unit } = wordsOf(name);
  const way = direction(is, was ?? undefined);
  const text = (rate: Rate) =>
    rate
      ? `${fixed(rate.value, rate, lang.value)}${unit} ±${fixed((rate.high - rate.low) / 2, rate, lang.value)}`
      : '—';
  const by = was && is ? signed(is.value - was.value, is, lang.value) : '';
  const words = { worse: say('worse'), better: say('better'), same: say('no change'), unknown: '' };
  return (
    <tr>
      <th scope="row">{title}</th>
      <td class="num nowrap">{text(was)}</td>
      <td class="num nowrap">{text(is)}</td>
      <td class="wide-only">
        <Whiskers was={was} is={is} way={way} />
      </td>
      <td class={way}>
        {way === 'worse' || way === 'better'
          ? say('{by}, {way}', { by: `${by}${unit === ' %' ? ` ${say('pt')}` : unit}`, way: words[way] })
          : words[way]}
      </td>
    </tr>
  );
}

function Issues({ app, data, mayTriage }: { app: string; data: Changes; mayTriage: boolean }): JSX.Element {
  const { worse, better, same } = sortChanges(data);
  const into = data.after.version;
  const resolve = (one: Change) =>
    into !== null &&
    void triage(
      app,
      { issues: [one.issue.id], state: 'resolved', in: into },
      say('{issues} resolved in {version}', { issues: one.issue.id, version: into }),
    );
  return (
    <>
      <div class="columns halves">
        <section aria-label={say('Worse')}>
          <h3>{say('Worse ({n})', { n: worse.length })}</h3>
          <List app={app} rows={worse} after={into} none={say('No issue became more frequent.')} />
        </section>
        <section aria-label={say('Better')}>
          <h3>{say('Better ({n})', { n: better.length })}</h3>
          <List
            app={app}
            rows={better}
            after={into}
            none={say('No issue became less frequent.')}
            resolve={mayTriage && into !== null ? resolve : null}
          />
        </section>
      </div>
      <details class="small">
        <summary>
          {say('{n} are unchanged; {few} have too few reports to judge.', {
            n: same.length + data.more,
            few: data.few,
          })}
        </summary>
        <List app={app} rows={same} after={into} none={say('None is listed.')} />
      </details>
    </>
  );
}

interface ListProps {
  app: string;
  rows: readonly Change[];
  after: string | null;
  none: string;
  resolve?: ((one: Change) => void) | null;
}

function List({ app, rows, after, none, resolve = null }: ListProps): JSX.Element {
  const [all, setAll] = useState(false);
  if (rows.length === 0) return <p class="dim">{none}</p>;
  return (
    <>
      <ul class="changes">
        {(all ? rows : rows.slice(0, SHOWN)).map((one) => (
          <ChangeRow key={one.issue.id} app={app} one={one} after={after}>
            {resolve && (one.issue.state === 'open' || one.issue.state === 'regressed') ? (
              <button type="button" class="link" onClick={() => resolve(one)}>
                {say('Resolve in {version}', { version: after ?? '' })}
              </button>
            ) : null}
          </ChangeRow>
        ))}
      </ul>
      {rows.length > SHOWN ? (
        <button type="button" class="link small" onClick={() => setAll(!all)}>
          {all ? say('Show fewer') : say('Show all {n}', { n: rows.length })}
        </button>
      ) : null}
    </>
  );
}
