/* What a list that is filtered by devices leaves out. */

import type { JSX } from 'preact';
import type { IssueList } from '../../api/types';
import { lang, say } from '../../lib/i18n';
import { query } from '../../lib/location';
import { exact, moment } from '../../model/format';

/* Nothing, where the figures are exact. */
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
