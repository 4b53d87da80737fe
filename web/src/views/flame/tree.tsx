/* The call tree as a treegrid: the same frames as the flame graph, for the keyboard and for screen readers. */

import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { label } from '../../charts/flame-canvas';
import { lang, say } from '../../lib/i18n';
import { byHash, children, type Found, imageOf, path, roleOf, shareOf, type Tree } from '../../model/flame';
import { amount, exact, percent } from '../../model/format';
import { base } from '../../model/name';
import { Bar } from '../parts';
import { selected } from './selected';

/* Unfolded rows at most, and rows on the page: those around the chosen one. */
const MOST_ROWS = 20_000;
const SHOWN_ROWS = 120;

interface Row {
  i: number;
  level: number;
  place: number;
  size: number;
}

/* Unfolded at first: down the widest path as long as it holds most of the time. */
function firstOpen(tree: Tree): Set<number> {
  const open = new Set([0]);
  let at = 0;
  while (tree.fan[at]! > 0) {
    const kid = children(tree, at)[0]!;
    if (shareOf(tree, kid) < shareOf(tree, 0) * 0.5) break;
    open.add(kid);
    at = kid;
  }
  return open;
}

function visible(tree: Tree, open: ReadonlySet<number>): Row[] {
  const rows: Row[] = [];
  const todo: Row[] = [{ i: 0, level: 1, place: 1, size: 1 }];
  while (todo.length > 0 && rows.length < MOST_ROWS) {
    const row = todo.pop()!;
    rows.push(row);
    if (!open.has(row.i)) continue;
    const kids = children(tree, row.i);
    for (let k = kids.length - 1; k >= 0; k--) {
      todo.push({ i: kids[k]!, level: row.level + 1, place: k + 1, size: kids.length });
    }
  }
  return rows;
}

export function CallTree({ tree, found }: { tree: Tree; found: Found }): JSX.Element {
  const [open, setOpen] = useState<ReadonlySet<number>>(() => firstOpen(tree));
  useEffect(() => setOpen(firstOpen(tree)), [tree]);
  const body = useRef<HTMLTableSectionElement>(null);
  const at = byHash(tree, selected.value);
  /* A frame that was chosen in another view is unfolded to. */
  useEffect(() => {
    if (at > 0) setOpen((now) => new Set([...now, ...path(tree, at).slice(0, -1)]));
  }, [at, tree]);
  const rows = visible(tree, open);
  const current = Math.max(
    0,
    rows.findIndex((row) => row.i === at),
  );
  const from = Math.max(0, Math.floor((current - SHOWN_ROWS / 4) / (SHOWN_ROWS / 2)) * (SHOWN_ROWS / 2));
  const shown = rows.slice(from, from + SHOWN_ROWS);
  const fold = (i: number, unfold: boolean) => {
    const next = new Set(open);
    if (unfold) next.add(i);
    else next.delete(i);
    setOpen(next);
  };
  const focus = (i: number) => {
    selected.value = tree.flame.hash[i] ?? '';
    requestAnimationFrame(() => body.current?.querySelector<HTMLElement>('[tabindex="0"]')?.focus());
  };
  const onKey = (event: KeyboardEvent) => {
    const row = rows[current]!;
    const isOpen = open.has(row.i);
    const kids = tree.fan[row.i]!;
    if (event.key === 'ArrowDown') focus(rows[Math.min(rows.length - 1, current + 1)]!.i);
    else if (event.key === 'ArrowUp') focus(rows[Math.max(0, current - 1)]!.i);
    else if (event.key === 'Home') focus(rows[0]!.i);
    else if (event.key === 'End') focus(rows.at(-1)!.i);
    else if (event.key === 'ArrowRight' && kids > 0) isOpen ? focus(children(tree, row.i)[0]!) : fold(row.i, true);
    else if (event.key === 'ArrowLeft')
      isOpen && kids > 0 ? fold(row.i, false) : focus(Math.max(0, tree.flame.parent[row.i]!));
    else if (event.key === 'Enter' || event.key === ' ') fold(row.i, !isOpen);
    else return;
    event.preventDefault();
  };
  return (
    <div class="scroll">
      <table
        role="treegrid"
        class="tight calltree"
        aria-label={say('Call tree, callers above callees')}
        aria-rowcount={rows.length + 1}
        onKeyDown={onKey}
      >
        <thead>
          <tr>
            <th scope="col" class="num">
              {say('Total')}
            </th>
            <th scope="col" class="num">
              {say('Share')}
            </th>
            <th scope="col" class="num mid-only">
              {say('Self')}
            </th>
            <th scope="col">{say('Function')}</th>
          </tr>
        </thead>
        <tbody ref={body}>
          {shown.map((row, k) => (
            <TreeRow
              key={row.i}
              tree={tree}
              row={row}
              open={open.has(row.i)}
              current={from + k === current}
              mark={found.mark[row.i] === 1}
              onClick={() => {
                focus(row.i);
                if (tree.fan[row.i]! > 0) fold(row.i, !open.has(row.i));
              }}
            />
          ))}
        </tbody>
      </table>
      {rows.length > shown.length ? (
        <p class="row">
          {from > 0 ? (
            <button type="button" onClick={() => focus(rows[from - 1]!.i)}>
              {say('Rows above')}
            </button>
          ) : null}
          {from + shown.length < rows.length ? (
            <button type="button" onClick={() => focus(rows[from + shown.length]!.i)}>
              {say('Rows below')}
            </button>
          ) : null}
          <span class="dim">
            {say('{from}–{to} of {total}', {
              from: exact(from + 1, lang.value),
              to: exact(from + shown.length, lang.value),
              total: exact(rows.length, lang.value),
            })}
          </span>
        </p>
      ) : null}
    </div>
  );
}

interface TreeRowProps {
  tree: Tree;
  row: Row;
  open: boolean;
  current: boolean;
  mark: boolean;
  onClick: () => void;
}

function TreeRow({ tree, row, open, current, mark, onClick }: TreeRowProps): JSX.Element {
  const { i } = row;
  const kids = tree.fan[i]! > 0;
  return (
    <tr
      aria-level={row.level}
      aria-posinset={row.place}
      aria-setsize={row.size}
      aria-expanded={kids ? open : undefined}
      aria-selected={current}
      tabIndex={current ? 0 : -1}
      class={mark ? 'marked' : ''}
      onClick={onClick}
    >
      <td class="num">{amount(tree.flame.value[i]!, tree.flame.unit, lang.value)}</td>
      <td class="num share">
        <Bar share={shareOf(tree, i)} kind={`r-${roleOf(tree, i)}`} />
        <span>{percent(shareOf(tree, i), lang.value)}</span>
      </td>
      <td class="num mid-only">
        {tree.flame.self[i]! > 0 ? amount(tree.flame.self[i]!, tree.flame.unit, lang.value) : ''}
      </td>
      <td>
        <span class="indent" style={{ paddingInlineStart: `calc(${Math.min(row.level - 1, 24)} * var(--step))` }}>
          <span class="twist" aria-hidden="true">
            {kids ? (open ? '▾' : '▸') : ''}
          </span>
          <span class="fn">{label(tree, i)}</span> <span class="image">{base(imageOf(tree, i))}</span>
        </span>
      </td>
    </tr>
  );
}
