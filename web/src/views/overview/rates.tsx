/* How often sessions lag, hang and die: a tile a rate, its line by version and day, and all of them as a table. */

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api } from '../../api/client';
import type { Rate, Rates } from '../../api/types';
import { RateLines } from '../../charts/rate-lines';
import { lang, say } from '../../lib/i18n';
import { query } from '../../lib/location';
import { useQuery } from '../../lib/query';
import { exact, precise } from '../../model/format';
import { daily, digits, direction, goalWay, linesOf, type Pair, pairOf, RATES, type RateName } from '../../model/rates';
import { marksBetween } from '../../model/source';
import { useColours } from '../colours';
import { StillArriving } from '../complete';
import { Late } from '../late';
import { Panel } from '../parts';
import { useReleases } from '../releases';

const loadTable = () => import('./rates-table').then((module) => module.RatesTable);

/* Session records below which a rate is shown greyed. */
export const FEW_RECORDS = 50;

interface Word {
  title: string;
  unit: string;
}

export function wordsOf(name: RateName): Word {
  const words: Record<RateName, Word> = {
    lag_percent: { title: say('Sessions with a hang'), unit: ' %' },
    foom_percent: { title: say('Out of memory'), unit: ' %' },
    watchdog_percent: { title: say('Killed while hung'), unit: ' %' },
    crash_percent: { title: say('Crashes'), unit: ' %' },
    hang_s_per_hour: { title: say('Hang time per hour'), unit: ` ${say('s')}` },
  };
  return words[name];
}

/* Nothing, where no session was ever told: then there is nothing to divide by. */
export function RatesPanel({ app }: { app: string }): JSX.Element | null {
  const { t, v } = query.value;
  const [name, setName] = useState<RateName>('lag_percent');
  const { data, isError } = useQuery(['rates', app, t, v], (signal) => api.rates(app, { t, v }, signal));
  const releases = useReleases(app);
  const colours = useColours(app);
  if (!data) return isError ? null : <div class="rates-room" aria-hidden="true" />;
  if (data.total.records === 0 && data.losses.length === 0) return null;
  const { title, unit } = wordsOf(name);
  const lines = linesOf(data, name);
  const marks = marksBetween(releases, lines.at[0] ?? 0, (lines.at.at(-1) ?? 0) + 86_400);
  return (
    <>
      {data.total.records > 0 ? <Tiles data={data} name={name} pick={setName} /> : null}
      <Panel title={say('{rate} by day and version', { rate: title })}>
        {data.total.records > 0 ? (
          <RateLines
            lines={lines}
            colours={colours(lines.rows.map((row) => row.version))}
            marks={marks}
            goal={data.goals[name]}
            what={title}
            lang={lang.value}
            unit={(value) => `${precise(value, lang.value)}${unit}`}
          />
        ) : null}
        <details class="small">
          <summary>{say('All rates of all versions')}</summary>
          <Late load={loadTable} props={{ app, data }} label={say('Rates')} rows={6} />
        </details>
        <p class="dim small">
          {say('From {n|session record|session records}. Ranges are 95 % intervals.', {
            n: exact(data.total.records, lang.value),
          })}
        </p>
        <StillArriving days={data.completeness} />
        <Losses losses={data.losses} />
      </Panel>
    </>
  );
}

function Tiles(props: { data: Rates; name: RateName; pick: (name: RateName) => void }): JSX.Element {
  const { data, name, pick } = props;
  const pair = pairOf(data);
  return (
    <div class="tiles" role="group" aria-label={say('Rates')}>
      {RATES.map((one) => (
        <RateTile key={one} of={one} data={data} pair={pair} pressed={one === name} pick={() => pick(one)} />
      ))}
    </div>
  );
}

function RateTile(props: { of: RateName; data: Rates; pair: Pair; pressed: boolean; pick: () => void }): JSX.Element {
  const { of, data, pair, pressed, pick } = props;
  const { title, unit } = wordsOf(of);
  const rate = pair.now[of];
  const few = pair.now.records < FEW_RECORDS;
  return (
    <button type="button" class={few ? 'tile few' : 'tile'} aria-pressed={pressed} onClick={pick}>
      <span class="label">{title}</span>
      {rate ? (
        <span class="value">
          {fixed(rate.value, rate, lang.value)}
          {unit} <small>± {fixed((rate.high - rate.low) / 2, rate, lang.value)}</small>
        </span>
      ) : (
        <span class="value dim">{say('not known')}</span>
      )}
      <Goal goal={data.goals[of]} rate={rate} unit={unit} />
      <RateSpark values={daily(data, of)} />
      <span class="note">
        {pair.version !== null && pair.before ? (
          <Against now={rate} before={pair.before[of]} pair={pair} unit={unit} />
        ) : (
          say('all versions')
        )}
      </span>
    </button>
  );
}

/* The goal, and whether the interval lies above or below it. */
function Goal(props: { goal: number | null; rate: Rate; unit: string }): JSX.Element | null {
  const { goal, rate, unit } = props;
  if (goal === null) return null;
  const way = goalWay(rate, goal);
  return (
    <span class={way === '' ? 'note' : `note ${way}`}>
      {say('goal {goal}', { goal: `${precise(goal, lang.value)}${unit}` })}
      {way === 'better' ? ' ✓' : way === 'worse' ? ' ▲' : ''}
    </span>
  );
}

/* The newest version against the one before, in words; a colour only where the intervals part. */
function Against(props: { now: Rate; before: Rate; pair: Pair; unit: string }): JSX.Element {
  const { now, before, pair, unit } = props;
  const way = direction(now, before);
  if (!now || !before) return <>{say('of {version}', { version: pair.version ?? '' })}</>;
  const by = `${signed(now.value - before.value, now, lang.value)}${unit === ' %' ? ` ${say('pt')}` : unit}`;
  const words = say('{version}: {by} against {before}', {
    version: pair.version ?? '',
    by,
    before: pair.before?.version ?? '',
  });
  return (
    <span class={way}>
      {way === 'better' ? '▼ ' : way === 'worse' ? '▲ ' : ''}
      {words}
    </span>
  );
}

/* A difference with its sign; one that rounds to zero has none. */
export function signed(value: number, rate: { low: number; high: number }, language: string): string {
  const text = fixed(Math.abs(value), rate, language);
  return Number(text) === 0 ? text : `${value > 0 ? '+' : '−'}${text}`;
}

export function fixed(value: number, rate: { low: number; high: number }, language: string): string {
  const n = digits(rate);
  return new Intl.NumberFormat(language, { minimumFractionDigits: n, maximumFractionDigits: n }).format(value);
}

function RateSpark({ values }: { values: readonly number[] }): JSX.Element {
  const top = Math.max(...values, 0) || 1;
  const step = values.length > 1 ? 96 / (values.length - 1) : 96;
  const path = values
    .map((value, i) => `${i ? 'L' : 'M'}${(i * step).toFixed(1)} ${(21 - (value / top) * 19).toFixed(1)}`)
    .join('');
  return (
    <svg class="rate-spark" viewBox="0 0 96 22" preserveAspectRatio="none" aria-hidden="true">
      <path d={path} vector-effect="non-scaling-stroke" />
    </svg>
  );
}

/* Records that never came, by the devices' own count: what the figures above do not know of. */
function Losses({ losses }: { losses: Rates['losses'] }): JSX.Element | null {
  if (losses.length === 0) return null;
  const why: Record<string, string> = {
    full: say('storage full'),
    age: say('expired'),
    write: say('not written: disk full or read-only'),
    refused: say('refused by the server'),
    broken: say('damaged on the device'),
    big: say('too large'),
    format: say('of a newer version of the library'),
    consent: say('no consent'),
    filtered: say('held back by the app'),
    short: say('stack too short'),
    suppressed: say('repeats'),
    daily: say('daily limit'),
  };
  return (
    <p class="small">
      {say('Not sent:')}{' '}
      {losses.map(({ reason, count: lost }) => `${why[reason] ?? reason} ${exact(lost, lang.value)}`).join(' · ')}
    </p>
  );
}
