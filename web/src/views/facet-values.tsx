/* The values of a facet, each with its place in the filter. */

import type { JSX } from 'preact';
import type { Share } from '../api/types';
import { lang, say } from '../lib/i18n';
import { patch, query } from '../lib/location';
import { count } from '../model/format';
import { type FacetKey, plainText, wantedText } from '../model/view';

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

/* A filter as a chip tells it: model:iPhone15,2 or model:!iPhone15,2. */
export function chipText(name: string, filter: string): string {
  return `${name}:${plainText(filter)}`;
}
