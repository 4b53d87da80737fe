/* Issues that happen more or less often per session than before, in words. Issues without a verdict are left out. */

import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api } from '../../api/client';
import type { Change, Changes } from '../../api/types';
import { gap, lang, say } from '../../lib/i18n';
import { query } from '../../lib/location';
import { useQuery } from '../../lib/query';
import { kindWord, osWord, systemWord } from '../../lib/words';
import { times } from '../../model/change';
import { percent, precise } from '../../model/format';
import { base, shorten } from '../../model/name';
import { carried, href } from '../../model/view';
import { Exports } from '../exports';
import { Panel, Skeleton } from '../parts';

const SHOWN = 8;

export function ChangedPanel({ app }: { app: string }): JSX.Element {
  const [against, setAgainst] = useState<'' | 'week'>('');
  const { t, v } = query.value;
  const one = v.length <= 1 ? v : [];
  const asked = { t, v: one, against };
  const { data, isError } = useQuery(['changes', app, t, one, against], (signal) => api.changes(app, asked, signal));
  return (
    <Panel
      title={say('What changed')}
      class="changed"
      aside={
        <div class="segments" role="group" aria-label={say('Compared with')}>
          <button type="button" aria-pressed={against === ''} onClick={() => setAgainst('')}>
            {say('Version before')}
          </button>
          <button type="button" aria-pressed={against === 'week'} onClick={() => setAgainst('week')}>
            {say('Week before')}
          </button>
        </div>
      }
    >
      {data ? (
        <>
          <Body app={app} data={data} week={against === 'week'} />
          <Exports path={`apps/${app}/changes`} asked={asked} of={say('What changed')} />
        </>
      ) : isError ? (
        <p class="dim">{say('The comparison could not be loaded.')}</p>
      ) : (
        <Skeleton rows={4} label={say('What changed')} />
      )}
    </Panel>
  );
}

function Body({ app, data, week }: { app: string; data: Changes; week: boolean }): JSX.Element {
  const [all, setAll] = useState(false);
  const told = data.issues.filter((one) => one.verdict !== 'same');
  const shown = all ? told : told.slice(0, SHOWN);
  const { before, after } = data;
  if (after.sessions <= 0 || before.sessions <= 0)
    return (
      <p class="dim">
        {week
          ? say('There are less than two weeks of sessions.')
          : say('No earlier version has 1,000 sessions in this range.')}
      </p>
    );
  return (
    <>
      {told.length === 0 ? <p>{say('No issue became more or less frequent.')}</p> : null}
      <ul class="changes">
        {shown.map((one) => (
          <ChangeRow key={one.issue.id} app={app} one={one} after={after.version} />
        ))}
      </ul>
      <p class="dim small">
        {week
          ? say('The last seven days against the seven before, per session.')
          : say('{after} against {before}, per session.', {
              after: after.version ?? '',
              before: before.version ?? '',
            })}
        {gap()}
        {say('{n} are unchanged; {few} have too few reports to judge.', {
          n: data.issues.length - told.length + data.more,
          few: data.few,
        })}{' '}
        {told.length > SHOWN ? (
          <button type="button" class="link" onClick={() => setAll(!all)}>
            {all ? say('Show fewer') : say('Show all {n}', { n: told.length })}
          </button>
        ) : null}
      </p>
    </>
  );
}

/* One issue whose rate changed: its name, how often it happens in words, and by how much. */
export function ChangeRow({
  app,
  one,
  after,
  children,
}: {
  app: string;
  one: Change;
  after: string | null;
  children?: ComponentChildren;
}): JSX.Element {
  const way = one.verdict === 'same' ? 'same' : one.verdict === 'new' || one.verdict === 'worse' ? 'worse' : 'better';
  const { issue } = one;
  const name = issue.subject === '' ? issue.caller1 : `${issue.subject}, ${shorten(issue.caller1, 60)}`;
  return (
    <li class={way}>
      <span class="mark" aria-hidden="true">
        {{ worse: '▲', better: '▼', same: '=' }[way]}
      </span>
      <span class="what">
        <a href={href({ name: 'issue', app, id: issue.id }, carried(query.value))}>
          <span class="id">{issue.id}</span> <span class="fn">{name}</span>
        </a>{' '}
        {issue.caller1_image && !issue.caller1_image.endsWith('/') ? (
          <span class="image">{base(issue.caller1_image)}</span>
        ) : null}
        <span class={`tag kind-${issue.category}`}>{kindWord(issue.category)}</span>
      </span>
      <span class="how">
        {sentence(one, after)}
        {one.explained ? <span class="why">{why(one.explained)}</span> : null} {children}
      </span>
      <b class="times">{times(one, lang.value)}</b>
    </li>
  );
}

/* The value of a facet that explains a change. */
function why({ facet, value, share, of_others, sampled }: NonNullable<Change['explained']>): string {
  const where: Record<string, string> = {
    version: say('version {n}', { n: value }),
    os: osWord(value),
    system: systemWord(value),
    model: value,
    class: say('devices of class {value}', { value }),
    channel: say('channel {value}', { value }),
    country: say('devices in {value}', { value }),
    tag: say('reports with {value}', { value }),
  };
  const words = {
    share: percent(share, lang.value),
    where: where[facet] ?? value,
    others: percent(of_others, lang.value),
  };
  return sampled
    ? say('{share} on {where} ({others} for other issues), by the newest 10,000 events', words)
    : say('{share} on {where} ({others} for other issues)', words);
}

export function sentence(one: Change, after: string | null): string {
  const [was, is] = [one.before.hits_per_1000, one.after.hits_per_1000].map((n) => precise(n, lang.value));
  if (one.verdict === 'new')
    return after === null
      ? say('new: {is} hits in 1,000 sessions', { is: is! })
      : say('new in {version}: {is} hits in 1,000 sessions', { version: after, is: is! });
  if (one.verdict === 'gone') return say('gone: {was} hits in 1,000 sessions before', { was: was! });
  return say('{was} → {is} hits in 1,000 sessions', { was: was!, is: is! });
}
