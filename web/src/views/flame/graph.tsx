/* The flame graph: the canvas with its keys, the path to the zoomed frame, and the line about a frame. */

import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { FlameCanvas, label, ROW } from '../../charts/flame-canvas';
import { lang, say } from '../../lib/i18n';
import { patch, query } from '../../lib/location';
import { theme } from '../../lib/theme';
import { byHash, type Found, imageOf, isOther, nameOf, path, shareOf, step, type Tree } from '../../model/flame';
import { amount, percent } from '../../model/format';
import { base, shorten } from '../../model/name';
import { select, selected } from './selected';

const MAX_ROWS_SHOWN = 28;

function widthOf(unit: Tree['flame']['unit']): string {
  if (unit === 'bytes') return say('Width = bytes. Double-click or Enter to zoom.');
  if (unit === 'objects') return say('Width = count. Double-click or Enter to zoom.');
  return say('Width = time. Double-click or Enter to zoom.');
}

function describe(tree: Tree, i: number): string {
  const { value, self, unit } = tree.flame;
  const written = (much: number) => amount(much, unit, lang.value);
  const image = base(imageOf(tree, i));
  const name = label(tree, i);
  const share = percent(shareOf(tree, i), lang.value);
  const where = image ? `${name}, ${image}` : name;
  const times = { total: written(value[i]!), share, self: written(self[i]!) };
  return `${where}, ${say('total {total} ({share}), self {self}', times)}`;
}

/*
 * Frames on the path to the zoomed one, by path hash: a part of the graph does not contain the frames above it. The
 * hash identifies the whole path, so one map serves every graph.
 */
const ways = new Map<string, { name: string; caller: string }>();

function learnWay(tree: Tree, i: number): void {
  for (const at of path(tree, i)) {
    const hash = tree.flame.hash[at]!;
    const caller = tree.flame.hash[tree.flame.parent[at]!] ?? ways.get(hash)?.caller ?? '';
    ways.set(hash, { name: nameOf(tree, at), caller });
  }
}

/* The known part of the path from below the root to the frame with that hash. */
function wayTo(hash: string, root: string): { hash: string; name: string }[] {
  const out: { hash: string; name: string }[] = [];
  for (let at = hash; at !== '' && at !== root; at = ways.get(at)?.caller ?? '')
    out.push({ hash: at, name: ways.get(at)?.name ?? '…' });
  return out.reverse();
}

export function Graph(props: { tree: Tree; found: Found; zoomed: number; whole: Tree }): JSX.Element {
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
  /* Omitted frames cannot be zoomed to: their caller is requested again, complete. */
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
            'Flame graph of all samples. The arrow keys move, Enter zooms, Backspace zooms out, Escape shows everything. The call tree tab has the same data as a table.',
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
      <p class="dim small">{widthOf(tree.flame.unit)}</p>
    </>
  );
}
