/* Flame graph, call tree and function table: three views of one call tree, sharing search and selection. */

import type { JSX } from 'preact';
import { useMemo, useRef } from 'preact/hooks';
import { api } from '../../api/client';
import type { Flame } from '../../api/types';
import { lang, say } from '../../lib/i18n';
import { useKeys } from '../../lib/keys';
import { patch, query } from '../../lib/location';
import { useQuery } from '../../lib/query';
import { build, byHash, type Found, lacks, search, type Tree } from '../../model/flame';
import { fold, folds, toggled } from '../../model/fold';
import { amount, exact, percent } from '../../model/format';
import { isMemory } from '../../model/view';
import { Exports } from '../exports';
import { Loaded, WeighedBy } from '../parts';
import { TopFunctions } from './functions';
import { Graph } from './graph';
import { select, selected } from './selected';
import { CallTree } from './tree';

/* The scope of the graph: the range, and for memory the unit and the category. */
function scope(id: string) {
  const { t, v, of, c } = query.value;
  return isMemory(id) ? { t, v, of, category: c.slice(c.indexOf(':') + 1) } : { t, v };
}

export function FlameTab({ app, id, view }: { app: string; id: string; view: 'flame' | 'tree' | 'top' }): JSX.Element {
  const wanted = scope(id);
  const result = useQuery(['flame', app, id, wanted], (signal) => api.flame(app, id, wanted, signal));
  return (
    <Loaded result={result} rows={16} label={say('call tree')}>
      {(flame) => <Body app={app} id={id} flame={flame} view={view} />}
    </Loaded>
  );
}

/* The graph for other tools: the server makes each of the same columns. */
const FORMATS = [
  ['folded', 'Folded'],
  ['speedscope', 'Speedscope'],
  ['pprof', 'pprof'],
  ['svg', 'SVG'],
] as const;

/* For memory: bytes or objects, and everything or one category. */
function Weighing(): JSX.Element {
  const { c } = query.value;
  return (
    <div class="picker">
      <WeighedBy />
      {c === '' ? (
        <span class="dim">{say('all live memory of one process, on average')}</span>
      ) : (
        <>
          <span class="dim">{say('only {what}', { what: c.slice(c.indexOf(':') + 1) })}</span>
          <button type="button" onClick={() => patch({ c: '', fz: '' }, true)}>
            {say('Show everything')}
          </button>
        </>
      )}
    </div>
  );
}

interface BodyProps {
  app: string;
  id: string;
  flame: Flame;
  view: 'flame' | 'tree' | 'top';
}

/* Frames to request for a part of the graph: with so many, hardly any are left out. */
const PART_FRAMES = 200_000;

/*
 * The tree to show. The whole graph lacks the smallest frames. A zoom to a place without them requests that part by
 * itself. A loaded part also serves the zooms into it.
 */
function useTree({ app, id, flame }: BodyProps): { tree: Tree; whole: Tree } {
  const { fz } = query.value;
  const wanted = scope(id);
  const whole = useMemo(() => build(flame), [flame]);
  const part = useRef<{ of: Tree; tree: Tree } | null>(null);
  if (part.current?.of !== whole) part.current = null;
  const before = part.current?.tree;
  const covers = before && (before.flame.hash[0] === whole.flame.hash[0] || byHash(before, fz) >= 0);
  const known = covers ? before : whole;
  const incomplete = useMemo(() => {
    const at = byHash(known, fz);
    return fz !== '' && !(known === before && at === 0) && (at < 0 || lacks(known, at));
  }, [known, fz]);
  const detail = useQuery(
    ['flame', app, id, wanted, fz],
    (signal) => api.flame(app, id, { ...wanted, root: fz, max: PART_FRAMES }, signal),
    { enabled: incomplete, keep: false },
  );
  const fine = incomplete ? detail.data : undefined;
  const tree = useMemo(() => (fine ? build(fine, whole.all) : known), [fine, known]);
  if (tree !== whole) part.current = { of: whole, tree };
  return { tree, whole };
}

/* The tree as a view folds it. A search is in all frames. */
function useFolded(tree: Tree): Tree {
  const { ff, fs } = query.value;
  const folding = fs === '' ? ff : folds(ff, 'recursion') ? 'recursion' : 'none';
  return useMemo(() => {
    if (folding === 'none') return tree;
    const { flame, counts, now } = fold(tree.flame, folding);
    const inside = new Map(tree.flame.hash.map((hash, i) => [hash, now[i]!] as const));
    return { ...build(flame, tree.all), counts, inside };
  }, [tree, folding]);
}

function Body(props: BodyProps): JSX.Element {
  const { app, flame, view, id } = props;
  const { fz, fs } = query.value;
  const loaded = useTree(props);
  const { whole } = loaded;
  const folded = useFolded(loaded.tree);
  const tree = view === 'top' ? loaded.tree : folded;
  const found = useMemo(() => search(tree, fs), [tree, fs]);
  if (whole.size <= 1)
    return (
      <>
        {isMemory(id) ? <Weighing /> : null}
        <p class="dim">{say('No sample in this range has a stack.')}</p>
      </>
    );
  return (
    <>
      {isMemory(id) ? <Weighing /> : null}
      <SearchBar flame={flame} tree={tree} found={found} foldable={view !== 'top'} />
      {view === 'flame' ? (
        <Graph tree={tree} found={found} zoomed={Math.max(0, byHash(tree, fz))} whole={whole} />
      ) : null}
      {view === 'tree' ? <CallTree tree={tree} found={found} /> : null}
      {view === 'top' ? <TopFunctions tree={tree} /> : null}
      <Exports path={`apps/${app}/issues/${id}/flame`} asked={scope(id)} of={say('Flame graph')} formats={FORMATS} />
    </>
  );
}

/* Which frames are folded; a key each. */
function Folds(): JSX.Element {
  const { ff } = query.value;
  const turn = (part: 'system' | 'recursion') => patch({ ff: toggled(query.value.ff, part) });
  useKeys({ 'fold-system': () => turn('system'), 'fold-recursion': () => turn('recursion') });
  return (
    <span class="segments" role="group" aria-label={say('Fold')}>
      <button
        type="button"
        aria-pressed={folds(ff, 'system')}
        aria-keyshortcuts="s"
        title={say('Runs of system frames without a branch are one frame')}
        onClick={() => turn('system')}
      >
        {say('Fold system')}
      </button>
      <button
        type="button"
        aria-pressed={folds(ff, 'recursion')}
        aria-keyshortcuts="r"
        title={say('Calls of a function by itself are one frame')}
        onClick={() => turn('recursion')}
      >
        {say('Fold recursion')}
      </button>
    </span>
  );
}

function SearchBar(props: { flame: Flame; tree: Tree; found: Found; foldable: boolean }): JSX.Element {
  const { flame, tree, found, foldable } = props;
  const { fs } = query.value;
  const field = useRef<HTMLInputElement>(null);
  const turn = (by: 1 | -1) => {
    if (found.hits.length === 0) return;
    const at = found.hits.indexOf(byHash(tree, selected.value));
    select(tree, found.hits[(at + by + found.hits.length) % found.hits.length]!);
  };
  useKeys({ search: () => field.current?.focus(), 'hit-next': () => turn(1), 'hit-previous': () => turn(-1) });
  return (
    <div class="picker">
      <input
        ref={field}
        type="search"
        value={fs}
        placeholder={say('Search functions')}
        aria-label={say('Search functions and images')}
        aria-keyshortcuts="f"
        onInput={(event) => patch({ fs: event.currentTarget.value })}
        onKeyDown={(event) => {
          if (event.key === 'Enter') turn(event.shiftKey ? -1 : 1);
          if (event.key === 'Escape') field.current?.blur();
        }}
      />
      {fs !== '' ? (
        <span role="status">
          {found.hits.length === 0
            ? say('not found')
            : say('{n|frame|frames}, {share} of all', {
                n: exact(found.hits.length, lang.value),
                share: percent(found.share, lang.value),
              })}
        </span>
      ) : null}
      {foldable ? <Folds /> : null}
      <span class="grow" />
      <span class="dim">
        {say('{time} in {n|report|reports}', {
          time: amount(flame.value[0] ?? 0, flame.unit, lang.value),
          n: exact(flame.reports, lang.value),
        })}
        {flame.reports < flame.reports_total
          ? say(', the newest of {n}', { n: exact(flame.reports_total, lang.value) })
          : ''}
      </span>
    </div>
  );
}
