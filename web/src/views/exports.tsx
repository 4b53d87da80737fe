/* Links to what a table or a graph shows, as files: the server makes them by the same question. */

import type { JSX } from 'preact';
import { fileOf } from '../api/client';
import { say } from '../lib/i18n';

type Format = readonly [format: string, name: string];

const TABLE: readonly Format[] = [
  ['csv', 'CSV'],
  ['json', 'JSON'],
];

interface Props {
  /** Below /api/v1/. */
  path: string;
  asked?: object;
  /** The table's name: a page may have several. */
  of: string;
  formats?: readonly Format[];
}

export function Exports({ path, asked = {}, of, formats = TABLE }: Props): JSX.Element {
  return (
    <p class="dim small">
      {say('Export:')}{' '}
      {formats.map(([format, name], i) => (
        <>
          {i > 0 ? ' · ' : ''}
          <a href={fileOf(path, asked, format)} aria-label={`${of}: ${name}`} download>
            {name}
          </a>
        </>
      ))}
    </p>
  );
}
