/* Filters of devices and channels: a menu of the values of one facet at a time, and how complete a filtered list is. */

import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api } from '../api/client';
import type { IssueList, Share } from '../api/types';
import { lang, say } from '../lib/i18n';
import { patch, query } from '../lib/location';
import { useQuery } from '../lib/query';
import { facetTitle, osWord } from '../lib/words';
import { count, exact, moment } from '../model/format';
import { FACETS, type FacetKey, plainText, wantedText } from '../model/view';
import { below } from './parts';

/* The facet that the menu shows, also when it opens again. */
const shown = signal<FacetKey>('model');

/* A value that is wanted, then one that is not, then neither. */
export function Values(props: {
  id: FacetKey | 'v' | 'kind';
  values: readonly Share[];
  word?: (value: string) => string;
}): JSX.Element {
  const { id, values, word = (value) => value } = props;
  const chosen = query.value[id];
  const set = (text: string) => {
    const rest = chosen.filter((one) => one !== text && one !== `!${text}`);
    const next = chosen.includes(text) ? `!${text}` : chosen.includes(`!${text}`) ? null : text;
    patch({ [id]: next === null ? rest : [...rest, next] });
  };
  const mode = (text: string) => (chosen.includes(text) ? 'only' : chosen.includes(`!${text}`) ? 'not' : '');
  const words = { only: say('only'), not: say('not'), '': '' };
  return (
    <>
      {values.length === 0 ? <p class="dim">{say('Nothing to choose from in this range')}</p> : null}
      {values.map((share) => {
        const text = wantedText(share.key);
        return (
          <button key={share.key} type="button" class="facet" onClick={() => set(text)}>
            <span class={`state ${mode(text)}`}>{words[mode(text)]}</span>
            <span>{word(share.key)}</span>
            <span class="num dim">{count(share.events, lang.value)}</span>
          </button>
        );
      })}
    </>
  );
}

export function DeviceMenu({ app }: { app: string }): JSX.Element {
  const [open, setOpen] = useState(false);
  const { t } = query.value;
  const by = shown.value;
  const { data } = useQuery(['facet-values', app, t, by], (signal) => api.facetValues(app, t, by, signal), {
    enabled: open,
  });
  return (
    <>
      <button type="button" popovertarget="menu-device">
        {say('Device')} <span aria-hidden="true">▾</span>
      </button>
      <div
        id="menu-device"
        popover="auto"
        class="menu"
        onToggle={(event) => {
          setOpen((event as unknown as ToggleEvent).newState === 'open');
          below(event);
        }}
      >
        <div class="segments" role="group" aria-label={say('Filter by')}>
          {FACETS.map((facet) => (
            <button key={facet} type="button" aria-pressed={facet === by} onClick={() => (shown.value = facet)}>
              {facetTitle(facet)}
            </button>
          ))}
        </div>
        {data ? (
          <Values id={by} values={data.values ?? []} {...(by === 'os' ? { word: osWord } : {})} />
        ) : (
          <p class="dim">{say('Loading {what}', { what: facetTitle(by) })}</p>
        )}
      </div>
    </>
  );
}

/* A filter as a chip tells it: model:iPhone15,2 or model:!iPhone15,2. */
export function chipText(name: string, filter: string): string {
  return `${name}:${plainText(filter)}`;
}

/* What the figures of a filtered list leave out; nothing where they are exact. */
export function Faceted({ data }: { data: IssueList }): JSX.Element | null {
  const { faceted } = data;
  if (!faceted) return null;
  return (
    <>
      {faceted.since ? (
        <p class="dim">
          {say('Two filters together: figures are of the newest {n} events that pass, back to {since}.', {
            n: exact(data.totals.reports, lang.value),
            since: moment(new Date(faceted.since), query.value.tz, lang.value),
          })}
        </p>
      ) : null}
      {faceted.others > 0 ? (
        <p class="dim">
          {say('{n|report|reports} of values that are too many to tell apart are left out.', {
            n: exact(faceted.others, lang.value),
          })}
        </p>
      ) : null}
    </>
  );
}
