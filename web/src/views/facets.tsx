/* The menu of devices and channels: the values of one facet at a time. Loaded when it opens. */

import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { api } from '../api/client';
import { facetTitle } from '../lib/facets';
import { say } from '../lib/i18n';
import { query } from '../lib/location';
import { useQuery } from '../lib/query';
import { osWord } from '../lib/words';
import { FACETS, type FacetKey } from '../model/view';
import { Values } from './facet-values';

/* The facet that the menu shows, also when it opens again. */
const shown = signal<FacetKey>('model');

export function DeviceFacets({ app }: { app: string }): JSX.Element {
  const { t } = query.value;
  const by = shown.value;
  const { data } = useQuery(['facet-values', app, t, by], (signal) => api.facetValues(app, t, by, signal));
  return (
    <>
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
    </>
  );
}
