/* Memory, launch, CPU time and dropped frames of sessions: percentiles, a column a version or side. */

import type { JSX } from 'preact';
import type { SessionSpreads } from '../../api/types';
import { lang, say } from '../../lib/i18n';
import * as format from '../../model/format';

const PERCENTILES = ['p50', 'p90', 'p99'] as const;
const QUANTITIES = ['launch_ms', 'footprint_peak_bytes', 'cpu_percent', 'dropped_percent'] as const;
type Quantity = (typeof QUANTITIES)[number];

export interface Spread {
  name: string;
  spreads: SessionSpreads;
}

function wordsOf(quantity: Quantity): string {
  const words = {
    launch_ms: say('Launch'),
    footprint_peak_bytes: say('Memory, peak'),
    cpu_percent: say('CPU time'),
    dropped_percent: say('Dropped frames'),
  };
  return words[quantity];
}

function shownAs(quantity: Quantity, value: number): string {
  if (quantity === 'launch_ms') return format.duration(value, lang.value);
  if (quantity === 'footprint_peak_bytes') return format.bytes(value);
  return `${format.precise(value, lang.value)} %`;
}

function Percentile({
  of,
  quantity,
  at,
}: {
  of: SessionSpreads;
  quantity: Quantity;
  at: 'p50' | 'p90' | 'p99';
}): JSX.Element {
  const spread = of?.[quantity];
  if (!spread) return <td class="num dim">—</td>;
  return (
    <td class="num nowrap" title={say('{n} sessions', { n: format.count(spread.sessions, lang.value) })}>
      {shownAs(quantity, spread[at])}
    </td>
  );
}

/* Nothing if no session of these tells any of it. */
export function Spreads({ of }: { of: readonly Spread[] }): JSX.Element | null {
  const told = QUANTITIES.filter((quantity) => of.some((one) => one.spreads?.[quantity]));
  if (told.length === 0) return null;
  return (
    <>
      <h3>{say('Launch, memory, CPU and frames of sessions')}</h3>
      <div class="scroll" role="region" aria-label={say('Percentiles of sessions')} tabIndex={0}>
        <table class="tight">
          <thead>
            <tr>
              <th scope="col">{say('Version')}</th>
              {told.flatMap((quantity) =>
                PERCENTILES.map((at) => (
                  <th scope="col" class="num" key={quantity + at}>
                    {wordsOf(quantity)}
                    <br />
                    <span class="dim small">{at}</span>
                  </th>
                )),
              )}
            </tr>
          </thead>
          <tbody>
            {of.map((one) => (
              <tr key={one.name}>
                <th scope="row">{one.name}</th>
                {told.flatMap((quantity) =>
                  PERCENTILES.map((at) => (
                    <Percentile key={quantity + at} of={one.spreads} quantity={quantity} at={at} />
                  )),
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="dim small">
        {say(
          'p90: nine of ten sessions are at or below it. Launch ends with the first wait for events; CPU time is of one processor. Off by at most 3 %.',
        )}
      </p>
    </>
  );
}
