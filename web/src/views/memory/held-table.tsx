/* Categories as a table: the suspects with the reason, and all of them by kind, page by page. */

import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { lang, say } from '../../lib/i18n';
import { useKeys } from '../../lib/keys';
import { patch, query } from '../../lib/location';
import { reasonWord } from '../../lib/words';
import { bytes, count, exact, offBytes, offCount, percent } from '../../model/format';
import { chosenRows, isAlive, type Order, type Row } from '../../model/memory';
import { Pager } from './pager';

/* Rows a page: with five cells each the page stays small, however many categories there are. */
const PAGE = 40;

export function kindOfCategory({ kind, of_allocator }: Pick<Row['category'], 'kind' | 'of_allocator'>): string {
  if (of_allocator) return say('holds blocks');
  return { heap: say('heap'), vm: say('mapping'), object: say('class'), part: say('other'), gauge: say('gauge') }[kind];
}

/* The description of a row that is neither blocks nor a mapping; '' for others. */
export function aboutPart({ kind, name }: Pick<Row['category'], 'kind' | 'name'>): string {
  if (kind !== 'part') return '';
  switch (name) {
    case "Allocator's own and free":
      return say(
        'Memory that allocators hold beyond the blocks: headers, rounding, gaps, and freed memory that was not returned to the system. A large value means fragmentation.',
      );
    case 'Libraries':
      return say('Data pages of the program and its libraries that the process has written to.');
    case 'Mire':
      return say('Mire’s own memory: the records of the memory monitor, and the stacks of its threads.');
    case 'Not explained':
      return say(
        'Memory that no other row accounts for: mapped by system calls that Mire cannot see, filled after the last look, or the error of estimates.',
      );
    default:
      return '';
  }
}

/* A row that contains counted blocks has no share. */
function Share({ of }: { of: number | null }): JSX.Element {
  return of === null ? (
    <td class="num dim" title={say('Its blocks are counted in rows of their own')}>
      —
    </td>
  ) : (
    <td class="num">{percent(of, lang.value)}</td>
  );
}

function Ratio({ row }: { row: Row }): JSX.Element {
  const { ratio, before, ofCount } = row;
  if (ratio === null) return <span class="dim">—</span>;
  const text =
    ratio === Number.POSITIVE_INFINITY ? say('new') : `×${ratio >= 10 ? Math.round(ratio) : ratio.toFixed(1)}`;
  const told = ofCount ? count(before!.count, lang.value) : bytes(before!.bytes);
  return (
    <span class={ratio >= 2 ? 'rose' : ''} title={say('compared value: {what}', { what: told })}>
      {text}
      {ofCount ? <span class="dim"> {say('(count)')}</span> : null}
    </span>
  );
}

/* Bytes in memory; for a mapping also its addresses. */
function held(row: Row): string {
  const { kind, live_bytes } = row.category;
  const told = say('“Persistent bytes” in Instruments');
  return kind === 'vm' ? `${told}; ${say('{bytes} of addresses', { bytes: bytes(live_bytes) })}` : told;
}

/* The error of an estimate: in a table of estimates all have one width, so that digits are aligned. */
function Off({ of, text }: { of: number | null; text: string }): JSX.Element | null {
  return of === null ? null : <span class="dim small off">{text}</span>;
}

function Growth({ row }: { row: Row }): JSX.Element {
  const grown = row.category.grown_bytes;
  if (grown === null || grown === 0) return <span class="dim">{grown === null ? '' : '0'}</span>;
  return <span class={grown > 0 ? 'rose' : ''}>{`${grown > 0 ? '+' : '−'}${bytes(Math.abs(grown))}`}</span>;
}

interface TableProps {
  rows: readonly Row[];
  chosen: string;
  label: string;
  caption: string;
  /** With the reason of each row; otherwise with its growth. */
  why?: boolean;
  sortable?: boolean;
}

export function CategoryTable({ rows, chosen, label, caption, why, sortable }: TableProps): JSX.Element {
  const table = useRef<HTMLTableElement>(null);
  /* Empty columns are left out. */
  const compared = rows.some((row) => row.before !== null);
  const grown = !why && rows.some((row) => row.category.grown_bytes !== null);
  const move = (by: 1 | -1) => {
    const all = [...(document.querySelectorAll<HTMLElement>('.held [data-row]') ?? [])];
    all[all.indexOf(document.activeElement as HTMLElement) + by]?.focus();
  };
  useKeys({ next: () => move(1), previous: () => move(-1) });
  return (
    <div class="scroll" role="region" aria-label={caption} tabIndex={0}>
      <table class={`tight categories ${why ? 'why' : ''}`} ref={table}>
        <caption class="offscreen">{caption}</caption>
        <thead>
          <tr>
            <Head by="name" text={say('Category')} sortable={sortable} />
            <Head
              by="bytes"
              also={!compared}
              text={say('Bytes')}
              title={say('Persistent bytes')}
              number
              sortable={sortable}
            />
            <Head by="count" text={say('Count')} title={say('# persistent')} number sortable={sortable} />
            <th scope="col" class="num" title={say('Share of the footprint')}>
              {say('Share')}
            </th>
            {compared ? (
              <Head by="above" text={label} title={say('Sorted by the bytes above it')} number sortable={sortable} />
            ) : null}
            {why ? <th scope="col">{say('Why')}</th> : null}
            {grown ? <Head by="grown" text={say('Grown')} number sortable={sortable} /> : null}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.key} class={row.key === chosen ? 'chosen' : ''}>
              <th scope="row">
                <button
                  type="button"
                  class="link"
                  data-row
                  aria-pressed={row.key === chosen}
                  onClick={() => patch({ c: row.key })}
                >
                  {row.category.name || '—'}
                </button>{' '}
                <span class="dim small" title={aboutPart(row.category)}>
                  {kindOfCategory(row.category)}
                </span>
              </th>
              <td class="num" title={held(row)}>
                {bytes(row.category.held_bytes)}
                <Off of={row.category.error_bytes} text={offBytes(row.category.held_bytes, row.category.error_bytes)} />
              </td>
              <td class="num">
                {row.category.kind === 'part' ? <span class="dim">—</span> : exact(row.category.live_count, lang.value)}
                <Off
                  of={row.category.error_count}
                  text={offCount(row.category.live_count, row.category.error_count, lang.value)}
                />
              </td>
              <Share of={row.share} />
              {compared ? (
                <td class="num">
                  <Ratio row={row} />
                </td>
              ) : null}
              {why ? (
                <td>
                  <span class="tag hot">{reasonWord(row.category.suspect?.reason ?? '')}</span>
                </td>
              ) : null}
              {grown ? (
                <td class="num">
                  <Growth row={row} />
                </td>
              ) : null}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface HeadProps {
  by: Order;
  /** Also the order without a comparison. */
  also?: boolean;
  text: string;
  title?: string;
  number?: boolean;
  sortable: boolean | undefined;
}

function Head({ by, also, text, title, number, sortable }: HeadProps): JSX.Element {
  const { co } = query.value;
  const sorted = sortable && (co === by || (also && co === 'above'));
  return (
    <th
      scope="col"
      class={number ? 'num' : ''}
      title={title}
      aria-sort={sorted ? (by === 'name' ? 'ascending' : 'descending') : undefined}
    >
      {sortable ? (
        <button type="button" class="sort" onClick={() => patch({ co: by })}>
          {text}
          <span aria-hidden="true">{sorted ? (by === 'name' ? ' ↑' : ' ↓') : ''}</span>
        </button>
      ) : (
        text
      )}
    </th>
  );
}

export function AllCategories(props: { rows: readonly Row[]; chosen: string; label: string }): JSX.Element {
  const { rows, chosen, label } = props;
  const { type, co } = query.value;
  const [words, setWords] = useState('');
  const [from, setFrom] = useState(0);
  const found = chosenRows(rows, type, words, co);
  const at = from < found.length ? from : 0;
  const alive = rows.filter(isAlive).length;
  const kinds = [
    ['', say('All')],
    ['heap', say('Heap')],
    ['vm', say('Mappings')],
    ['object', say('Classes')],
    ['part', say('Other')],
    ['gauge', say('Gauges')],
  ] as const;
  return (
    <section aria-label={say('All categories')}>
      <h2>{say('All {n|category|categories}', { n: exact(alive, lang.value) })}</h2>
      <div class="picker">
        <div class="segments" role="group" aria-label={say('Kind of category')}>
          {kinds.map(([kind, text]) => (
            <button
              key={kind}
              type="button"
              aria-pressed={type === kind}
              onClick={() => {
                setFrom(0);
                patch({ type: kind });
              }}
            >
              {text}
            </button>
          ))}
        </div>
        <input
          type="search"
          value={words}
          placeholder={say('Search categories')}
          aria-label={say('Search categories')}
          onInput={(event) => {
            setFrom(0);
            setWords(event.currentTarget.value);
          }}
        />
      </div>
      {found.length > 0 ? (
        <CategoryTable
          rows={found.slice(at, at + PAGE)}
          chosen={chosen}
          label={label}
          caption={say('Categories; the buttons in the head sort')}
          sortable
        />
      ) : (
        <p class="dim">{say('No category matches.')}</p>
      )}
      {rows.length > alive ? (
        <p class="dim small">
          {say('{n|more category holds|more categories hold} nothing now; the search finds these too.', {
            n: exact(rows.length - alive, lang.value),
          })}
        </p>
      ) : null}
      <Pager at={at} size={PAGE} total={found.length} go={setFrom} />
    </section>
  );
}
