/* Flame graph, call tree and function table: three views of one call tree, sharing search and selection. */

import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { api } from '../api/client';
import type { Flame } from '../api/types';
import { FlameCanvas, label, ROW } from '../charts/flame-canvas';
import { lang, say } from '../lib/i18n';
import { useKeys } from '../lib/keys';
import { patch, query } from '../lib/location';
import { useQuery } from '../lib/query';
import { theme } from '../lib/theme';
import {
  build,
  byHash,
  type Found,
  imageOf,
  isOther,
  lacks,
  nameOf,
  path,
  search,
  shareOf,
  step,
  type Tree,
} from '../model/flame';
import { amount, exact, percent } from '../model/format';
import { base, shorten } from '../model/name';
import { isMemory } from '../model/view';
import { TopFunctions } from './functions';
import { Loaded, WeighedBy } from './parts';
import { CallTree } from './tree';

/* The frame chosen, as path hash, whichever of the three views it was chosen in. */
export const selected = signal('');

const MAX_ROWS_SHOWN = 28;

/* What narrows the graph: the range, and of memory what it weighs and of which category. */
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

/* Of memory: bytes or objects, and of everything or one category. */
function Weighing(): JSX.Element {
  const { c } = query.value;
  return (
    <div class="picker">
      <WeighedBy />
      {c === '' ? (
        <span class="dim">{say('everything that is alive, of one process on average')}</span>
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

/* Frames a part of the graph is asked for in: so many that hardly anything is left out of it. */
const PART_FRAMES = 200_000;

/*
 * The tree to show. The whole graph lacks the smallest frames; zoomed to where some are lacking, that part is asked for
 * by itself. A part already here also serves the zooms into it.
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
  const lacking = useMemo(() => {
    const at = byHash(known, fz);
    return fz !== '' && !(known === before && at === 0) && (at < 0 || lacks(known, at));
  }, [known, fz]);
  const detail = useQuery(
    ['flame', app, id, wanted, fz],
    (signal) => api.flame(app, id, { ...wanted, root: fz, max: PART_FRAMES }, signal),
    { enabled: lacking, keep: false },
  );
  const fine = lacking ? detail.data : undefined;
  const tree = useMemo(() => (fine ? build(fine, whole.all) : known), [fine, known]);
  if (tree !== whole) part.current = { of: whole, tree };
  return { tree, whole };
}

function Body(props: BodyProps): JSX.Element {
  const { flame, view, id } = props;
  const { fz, fs } = query.value;
  const { tree, whole } = useTree(props);
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
      <SearchBar flame={flame} tree={tree} found={found} />
      {view === 'flame' ? (
        <Graph tree={tree} found={found} zoomed={Math.max(0, byHash(tree, fz))} whole={whole} />
      ) : null}
      {view === 'tree' ? <CallTree tree={tree} found={found} /> : null}
      {view === 'top' ? <TopFunctions tree={tree} /> : null}
    </>
  );
}

function select(tree: Tree, i: number): void {
  selected.value = tree.flame.hash[i] ?? '';
}

function SearchBar({ flame, tree, found }: { flame: Flame; tree: Tree; found: Found }): JSX.Element {
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

function describe(tree: Tree, i: number): string {
  const { value, self, unit } = tree.flame;
  const told = (much: number) => amount(much, unit, lang.value);
  const image = base(imageOf(tree, i));
  const name = label(tree, i);
  const share = percent(shareOf(tree, i), lang.value);
  const where = image ? `${name}, ${image}` : name;
  const times = { total: told(value[i]!), share, self: told(self[i]!) };
  return `${where}, ${say('total {total} ({share}), self {self}', times)}`;
}

/*
 * Frames on the way to where the graph was zoomed, by path hash: a part of the graph does not know what is above it. The
 * hash says the whole way, so one map serves every graph.
 */
const ways = new Map<string, { name: string; caller: string }>();

function learnWay(tree: Tree, i: number): void {
  for (const at of path(tree, i)) {
    const hash = tree.flame.hash[at]!;
    const caller = tree.flame.hash[tree.flame.parent[at]!] ?? ways.get(hash)?.caller ?? '';
    ways.set(hash, { name: nameOf(tree, at), caller });
  }
}

/* From just below the root to the frame with that hash, as far as it is known. */
function wayTo(hash: string, root: string): { hash: string; name: string }[] {
  const out: { hash: string; name: string }[] = [];
  for (let at = hash; at !== '' && at !== root; at = ways.get(at)?.caller ?? '')
    out.push({ hash: at, name: ways.get(at)?.name ?? '…' });
  return out.reverse();
}

function Graph(props: { tree: Tree; found: Found; zoomed: number; whole: Tree }): JSX.Element {
  const { tree, found, zoomed, whole } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const drawn = useRef<FlameCanvas | null>(null);
  const hover = useRef(-1);
  const hovered = useMemo(() => signal(-1), [tree]);
  const chosen = byHash(tree, selected.value);

  useEffect(() => {
    const graph = new FlameCanvas(canvas.current!, scroller.current!, tree);
    drawn.current = graph;
    graph.zoom(zoomed, false);
    const watch = new ResizeObserver(() => graph.paint());
    watch.observe(scroller.current!);
    return () => {
      watch.disconnect();
      graph.stop();
    };
  }, [tree]);
  const colours = theme.value;
  useEffect(() => {
    drawn.current?.recolour();
    drawn.current?.paint();
  }, [colours]);
  useEffect(() => {
    drawn.current?.zoom(zoomed, !matchMedia('(prefers-reduced-motion: reduce)').matches);
    drawn.current?.reveal(zoomed);
  }, [zoomed]);
  const over = hovered.value;
  useEffect(() => {
    drawn.current?.setLook({ selected: chosen, hovered: over, mark: query.value.fs === '' ? null : found.mark });
  }, [tree, chosen, over, found]);
  useEffect(() => {
    if (chosen >= 0) drawn.current?.reveal(chosen);
  }, [chosen]);

  const { fz } = query.value;
  const root = whole.flame.hash[0] ?? '';
  learnWay(whole, Math.max(0, byHash(whole, fz)));
  learnWay(tree, zoomed);
  /* What was left out has no frames to zoom to: its caller is asked for again, in full. */
  const zoomTo = (i: number) => {
    const other = isOther(tree, i);
    const to = other ? tree.flame.parent[i]! : i;
    learnWay(tree, to);
    patch({ fz: to > 0 || other || tree.flame.hash[to] !== root ? (tree.flame.hash[to] ?? '') : '' }, true);
  };
  const showAll = () => patch({ fz: '' }, true);
  const zoomOut = () => {
    const caller = ways.get(fz)?.caller ?? '';
    patch({ fz: caller === root ? '' : caller }, true);
  };
  const onKey = (event: KeyboardEvent) => {
    const from = chosen >= 0 ? chosen : zoomed;
    const ways = { ArrowDown: 'in', ArrowUp: 'out', ArrowLeft: 'left', ArrowRight: 'right' } as const;
    const way = ways[event.key as keyof typeof ways];
    if (way) select(tree, chosen < 0 ? zoomed : step(tree, from, way));
    else if (event.key === 'Enter') zoomTo(from);
    else if (event.key === 'Backspace') zoomOut();
    else if (event.key === 'Escape') showAll();
    else return;
    event.preventDefault();
  };
  const height = tree.rows.length * ROW;
  const shown = over >= 0 ? over : chosen >= 0 ? chosen : zoomed;
  const way = wayTo(fz, root);
  return (
    <>
      <nav class="trail" aria-label={say('Zoomed to')}>
        {[{ hash: '', name: say('all') }, ...way].slice(-4).map((one, k, all) => (
          <span key={one.hash}>
            {k > 0 ? <span aria-hidden="true">› </span> : null}
            {k === all.length - 1 ? (
              <span aria-current="true">{shorten(one.name, 40)}</span>
            ) : (
              <button type="button" class="link" onClick={() => patch({ fz: one.hash }, true)}>
                {shorten(one.name, 24)}
              </button>
            )}
          </span>
        ))}
        {way.length > 0 ? (
          <button type="button" class="quiet" onClick={showAll}>
            {say('Show everything')}
          </button>
        ) : null}
      </nav>
      <p class="readout" id="flame-live" aria-live="polite">
        <span class="fn">{describe(tree, shown)}</span>
      </p>
      <div
        class="flame"
        ref={scroller}
        style={{ height: `${Math.min(height, MAX_ROWS_SHOWN * ROW)}px` }}
        onScroll={() => drawn.current?.paint()}
      >
        <canvas
          ref={canvas}
          tabIndex={0}
          role="application"
          aria-roledescription={say('flame graph')}
          aria-label={say(
            'Flame graph of all samples. Arrow keys walk, Enter zooms, Backspace zooms out, Escape shows everything. The call tree tab has the same data as a table.',
          )}
          aria-describedby="flame-live"
          onKeyDown={onKey}
          onPointerMove={(event) => {
            hover.current = drawn.current?.at(event.clientX, event.clientY) ?? -1;
            hovered.value = hover.current;
          }}
          onPointerLeave={() => {
            hovered.value = -1;
          }}
          onClick={(event) => {
            const i = drawn.current?.at(event.clientX, event.clientY) ?? -1;
            if (i < 0) return;
            if (i === chosen) zoomTo(i);
            else select(tree, i);
          }}
        />
        <div class="spacer" style={{ height: `${height}px` }} />
      </div>
      <p class="dim small">
        {say('Wider is more; what a function calls stands below it. Click a frame twice, or press Enter, to zoom.')}
      </p>
    </>
  );
}
