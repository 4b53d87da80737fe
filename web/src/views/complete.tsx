/* Of recent days a part has usually not arrived: a figure that is still rising is said to be so. */

import type { JSX } from 'preact';
import type { Completeness } from '../api/types';
import { lang, say } from '../lib/i18n';
import { day, percent } from '../model/format';

/* Days are UTC days, in any zone of the page. Empty if all has arrived, or the share is unknown. */
export function StillArriving({ days }: { days: readonly Completeness[] }): JSX.Element | null {
  if (days.length === 0) return null;
  const parts = days.slice(-3).map((one) =>
    say('{share} of {day}', {
      share: percent(one.share, lang.value),
      day: day(new Date(one.day), 'utc', lang.value),
    }),
  );
  return (
    <p class="row dim small">
      {say('Usually arrived by now: {parts}. The rest is on devices that are offline.', { parts: parts.join(' · ') })}
    </p>
  );
}
