/* Top functions: time by function, summed over all callers. Follows the search; a row leads to the flame graph. */

import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { lang, say } from '../../lib/i18n';
import { patch, query } from '../../lib/location';
import { type FunctionRow, functions, type Tree } from '../../model/flame';
import { amount, percent } from '../../model/format';
import { base } from '../../model/name';
import { Bar } from '../parts';
import { selected } from './selected';

const MOST_ROWS = 120;
const COLUMNS = [
  ['self', 'Self'],
  ['total', 'Total'],
  ['name', 'Function'],
] as const;

const byName = new Intl.Collator().compare;

/* The functions that match the search, sorted by a column. */
function rank(tree: Tree, search: string, by: string): FunctionRow[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const kept = functions(tree).filter((row) =>
    words.every((word) => row.name.toLowerCase().includes(word) || row.image.toLowerCase().includes(word)),
  );
  const amount = (row: FunctionRow) => (by === 'total' ? row.total : row.self);
  return kept.sort((a, b) => (by === 'name' ? 0 : amount(b) - amount(a)) || byName(a.name, b.name));
}

export function TopFunctions({ tree }: { tree: Tree }): JSX.Element {
  const { fs, fo } = query.value;
  const [rows, setRows] = useState<FunctionRow[] | null>(null); // null: the tab is painted first
  useEffect(() => {
    const timer = setTimeout(() => setRows(rank(tree, fs, fo)));
    return () => clearTimeout(timer);
  }, [tree, fs, fo]);
  const all = tree.all || 1;
  const show = (i: number) => {
    selected.value = tree.flame.hash[i] ?? '';
    patch({ tab: 'flame', fz: '' }, true);
  };
  return (
    <div class="scroll" role="region" aria-label={say('Top functions table')} tabIndex={0}>
      <table class="tight functions">
        <caption class="offscreen">{say('Functions by memory held or allocated')}</caption>
        <thead>
          <tr>
            <td class="share" />
            {COLUMNS.map(([key, label]) => (
              <th
                key={key}
                scope="col"
                class={key === 'name' ? '' : 'num'}
                aria-sort={fo === key ? (key === 'name' ? 'ascending' : 'descending') : undefined}
              >
                <button type="button" class="sort" onClick={() => patch({ fo: key })}>
                  {say(label)}
                  <span aria-hidden="true">{fo === key ? (key === 'name' ? ' ↑' : ' ↓') : ''}</span>
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {(rows ?? []).slice(0, MOST_ROWS).map((row) => (
            <tr key={`${row.name}\n${row.image}`}>
              <td class="share">{row.self > 0 ? <Bar share={row.self / all} kind={`r-${row.role}`} /> : null}</td>
              <Amount value={row.self} all={all} unit={tree.flame.unit} />
              <Amount value={row.total} all={all} unit={tree.flame.unit} />
              <th scope="row">
                <button type="button" class="link fn" onClick={() => show(row.widest)}>
                  {row.name}
                </button>{' '}
                <span class="image">{base(row.image)}</span>
              </th>
            </tr>
          ))}
        </tbody>
      </table>
      {rows?.length === 0 ? <p class="dim">{say('No function matches the search.')}</p> : null}
      {rows && rows.length > MOST_ROWS ? (
        <p class="dim">{say('The first {n} of {total}; search for others.', { n: MOST_ROWS, total: rows.length })}</p>
      ) : null}
    </div>
  );
}

function Amount({ value, all, unit }: { value: number; all: number; unit: Tree['flame']['unit'] }): JSX.Element {
  return (
    <td class="num">
      {value > 0 ? (
        <>
          {amount(value, unit, lang.value)} <span class="dim">{percent(value / all, lang.value)}</span>
        </>
      ) : null}
    </td>
  );
}
