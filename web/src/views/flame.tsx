/* Flame graph, call tree and function table: three views of one call tree, sharing search and selection. */

import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { api } from '../api/client';
import type { Flame } from '../api/types';
import { FlameCanvas, ROW } from '../charts/flame-canvas';
import { lang, say } from '../lib/i18n';
import { useKeys } from '../lib/keys';
import { patch, query } from '../lib/location';
import { useQuery } from '../lib/query';
import { theme } from '../lib/theme';
import { build, byHash, type Found, imageOf, nameOf, path, search, shareOf, step, type Tree } from '../model/flame';
import { duration, exact, percent } from '../model/format';
import { base, shorten } from '../model/name';
import { TopFunctions } from './functions';
import { Loaded } from './parts';
import { CallTree } from './tree';

/* The frame chosen, as path hash, whichever of the three views it was chosen in. */
export const selected = signal('');

const MAX_ROWS_SHOWN = 28;

export function FlameTab({ app, id, view }: { app: string; id: string; view: 'flame' | 'tree' | 'top' }): JSX.Element {
  const { t, v } = query.value;
  const result = useQuery(['flame', app, id, t, v], (signal) => api.flame(app, id, { t, v }, signal));
  return (
    <Loaded result={result} rows={16} label={say('call tree')}>
      {(flame) => <Body app={app} id={id} flame={flame} view={view} />}
    </Loaded>
  );
}

/* Whether frame i stands for callees the server left out because they were too many. */
function isOther(tree: Tree, i: number): boolean {
  return nameOf(tree, i) === 'other' && imageOf(tree, i) === '';
}

/* Whether the server left callees out somewhere under frame i. */
function folded(tree: Tree, i: number): boolean {
  for (let k = i; k < tree.size; k++) {
    if (isOther(tree, k) && path(tree, k).includes(i)) return true;
  }
  return false;
}

interface BodyProps {
  app: string;
  id: string;
  flame: Flame;
  view: 'flame' | 'tree' | 'top';
}

function Body({ app, id, flame, view }: BodyProps): JSX.Element {
  const { fz, fs, t, v } = query.value;
  const whole = useMemo(() => build(flame), [flame]);
  const zoomed = byHash(whole, fz);
  const wantMore = fz !== '' && (zoomed < 0 || (zoomed > 0 && folded(whole, zoomed)));
  const detail = useQuery(['flame', app, id, t, v, fz], (signal) => api.flame(app, id, { t, v, root: fz }, signal), {
    enabled: wantMore,
    keep: false,
  });
  const fine = wantMore ? detail.data : undefined;
  const tree = useMemo(() => (fine ? build(fine) : whole), [fine, whole]);
  const found = useMemo(() => search(tree, fs), [tree, fs]);
  if (tree.size <= 1) return <p class="dim">{say('No sample in this range has a stack.')}</p>;
  return (
    <>
      <SearchBar flame={flame} tree={tree} found={found} />
      {view === 'flame' ? (
        <Graph tree={tree} found={found} zoomed={Math.max(0, fine ? 0 : byHash(tree, fz))} trail={whole} />
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
            : say('{n|frame|frames}, {share} of the time', {
                n: exact(found.hits.length, lang.value),
                share: percent(found.share, lang.value),
              })}
        </span>
      ) : null}
      <span class="grow" />
      <span class="dim">
        {say('{time} in {n|report|reports}', {
          time: duration(flame.value[0] ?? 0),
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
  const { value, self } = tree.flame;
  const image = base(imageOf(tree, i));
  const name = i === 0 ? say('all') : nameOf(tree, i);
  const share = percent(shareOf(tree, i), lang.value);
  const where = image ? `${name}, ${image}` : name;
  const times = { total: duration(value[i]!), share, self: duration(self[i]!) };
  return `${where}, ${say('total {total} ({share}), self {self}', times)}`;
}

function Graph(props: { tree: Tree; found: Found; zoomed: number; trail: Tree }): JSX.Element {
  const { tree, found, zoomed, trail } = props;
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

  /* What was left out has no frames to zoom to: its caller is asked for again, in full. */
  const zoomTo = (i: number) => {
    const to = i > 0 && isOther(tree, i) ? tree.flame.parent[i]! : i;
    patch({ fz: to > 0 ? (tree.flame.hash[to] ?? '') : '' }, true);
  };
  const zoomOut = () => {
    const caller = trail.flame.parent[byHash(trail, query.value.fz)] ?? 0;
    patch({ fz: caller > 0 ? trail.flame.hash[caller]! : '' }, true);
  };
  const onKey = (event: KeyboardEvent) => {
    const from = chosen >= 0 ? chosen : zoomed;
    const ways = { ArrowDown: 'in', ArrowUp: 'out', ArrowLeft: 'left', ArrowRight: 'right' } as const;
    const way = ways[event.key as keyof typeof ways];
    if (way) select(tree, chosen < 0 ? zoomed : step(tree, from, way));
    else if (event.key === 'Enter') zoomTo(from);
    else if (event.key === 'Backspace') zoomOut();
    else if (event.key === 'Escape') zoomTo(0);
    else return;
    event.preventDefault();
  };
  const height = tree.rows.length * ROW;
  const shown = over >= 0 ? over : chosen >= 0 ? chosen : zoomed;
  const at = byHash(trail, query.value.fz);
  return (
    <>
      <nav class="trail" aria-label={say('Zoomed to')}>
        {(at > 0 ? path(trail, at) : [0]).slice(-4).map((i, k, all) => (
          <span key={i}>
            {k > 0 ? <span aria-hidden="true">› </span> : null}
            {k === all.length - 1 ? (
              <span aria-current="true">{i === 0 ? say('all') : shorten(nameOf(trail, i), 40)}</span>
            ) : (
              <button type="button" class="link" onClick={() => patch({ fz: i > 0 ? trail.flame.hash[i]! : '' }, true)}>
                {i === 0 ? say('all') : shorten(nameOf(trail, i), 24)}
              </button>
            )}
          </span>
        ))}
        {at > 0 ? (
          <button type="button" class="quiet" onClick={() => zoomTo(0)}>
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
        {say(
          'Wider is more time; what a function calls stands below it. Click a frame twice, or press Enter, to zoom.',
        )}
      </p>
    </>
  );
}
