/* How long the turns of watched loops took, also those too short to be reported. */

import type { JSX } from 'preact';
import type { Turns } from '../../api/types';
import { lang, say } from '../../lib/i18n';
import { duration } from '../../lib/units';
import { count } from '../../model/format';
import { Bar } from '../parts';

export function TurnsTable({ turns }: { turns: readonly Turns[] }): JSX.Element {
  const most = Math.max(...turns.map((row) => row.turns), 1);
  return (
    <table class="tight">
      <thead>
        <tr>
          <th scope="col">{say('Length')}</th>
          <th scope="col" class="num">
            {say('Turns')}
          </th>
          <th scope="col">
            <span class="offscreen">{say('Bar')}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {turns.map((row, i) => (
          <tr key={row.from_ms}>
            <th scope="row">
              {turns[i + 1]
                ? `${duration(row.from_ms)} – ${duration(turns[i + 1]!.from_ms)}`
                : say('{time} and more', { time: duration(row.from_ms) })}
            </th>
            <td class="num">{count(row.turns, lang.value)}</td>
            <td class="bar-cell">
              <Bar share={row.turns / most} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
