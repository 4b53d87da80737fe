/* The values of a chart as a table that unfolds below it. */

import type { ComponentChildren, JSX } from 'preact';
import { say } from '../lib/i18n';

interface Row {
  key: number;
  head: string;
  cells: ComponentChildren[];
}

export function ChartTable(props: { first: string; columns: readonly string[]; rows: readonly Row[] }): JSX.Element {
  return (
    <details>
      <summary>{say('View as table')}</summary>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">{props.first}</th>
              {props.columns.map((one) => (
                <th key={one} scope="col" class="num">
                  {one}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {props.rows.map((row) => (
              <tr key={row.key}>
                <th scope="row">{row.head}</th>
                {row.cells.map((cell, i) => (
                  <td key={props.columns[i]} class="num">
                    {cell}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
