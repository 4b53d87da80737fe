/*
 * The flame graph's canvas. It is as large as the viewport and stays there while a spacer scrolls beneath it, so the
 * work of a paint is rows on screen times pixels across, whatever the tree's size. Frames narrower than a pixel are
 * painted as one and still found by the pointer. Colours come from the page's tokens; call paint() after they change.
 */

import { say } from '../lib/i18n';
import { hit, isAll, isOther, nameOf, roleOf, seek, type Tree } from '../model/flame';
import { shorten } from '../model/name';

export const ROW = 20;
const ZOOM_MS = 220;

export interface Look {
  selected: number;
  hovered: number;
  mark: Uint8Array | null;
}

/* The text on a frame: its function, or its kind. */
export function label(tree: Tree, i: number): string {
  if (isAll(tree, i)) return say('all');
  if (tree.counts && tree.counts[i]! > 1) return say('{n} system frames', { n: tree.counts[i]! });
  return isOther(tree, i) ? say('other') : nameOf(tree, i);
}

export class FlameCanvas {
  private readonly pen: CanvasRenderingContext2D;
  private left = 0;
  private right = 1;
  private animation = 0;
  private look: Look = { selected: -1, hovered: -1, mark: null };
  private colours = new Map<string, string>();
  private font = '';
  private letter = 7;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly scroller: HTMLElement,
    private readonly tree: Tree,
  ) {
    const pen = canvas.getContext('2d');
    if (!pen) throw new Error('no 2d canvas');
    this.pen = pen;
    this.recolour();
  }

  /* No more frames of animation. */
  stop(): void {
    cancelAnimationFrame(this.animation);
  }

  setLook(look: Look): void {
    this.look = look;
    this.paint();
  }

  /* Read the theme's tokens again. */
  recolour(): void {
    const style = getComputedStyle(this.canvas);
    this.colours.clear();
    for (const token of ['ink', 'surface', 'accent', 'mark', 'muted']) {
      this.colours.set(token, style.getPropertyValue(`--c-${token}`).trim());
    }
    for (const role of this.tree.flame.roles ?? []) {
      this.colours.set(`role-${role}`, style.getPropertyValue(`--r-${role}`).trim());
    }
    this.font = `12px ${style.fontFamily}`;
    this.pen.font = this.font;
    this.letter = this.pen.measureText('abcdefghij').width / 10;
  }

  /* Show frame i across the whole width. */
  zoom(i: number, animate: boolean): void {
    const from = [this.left, this.right] as const;
    const to = [this.tree.x0[i] ?? 0, this.tree.x1[i] ?? 1] as const;
    cancelAnimationFrame(this.animation);
    if (!animate) {
      [this.left, this.right] = to;
      this.paint();
      return;
    }
    const begun = performance.now();
    const turn = (now: number) => {
      const part = Math.min(1, Math.max(0, (now - begun) / ZOOM_MS));
      const eased = 1 - (1 - part) ** 3;
      this.left = from[0] + (to[0] - from[0]) * eased;
      this.right = from[1] + (to[1] - from[1]) * eased;
      this.paint();
      if (part < 1) this.animation = requestAnimationFrame(turn);
    };
    this.animation = requestAnimationFrame(turn);
  }

  /* The frame under a pointer, in client coordinates, or -1. */
  at(clientX: number, clientY: number): number {
    const box = this.canvas.getBoundingClientRect();
    const depth = Math.floor((clientY - box.top + this.scroller.scrollTop) / ROW);
    const x = this.left + ((clientX - box.left) / box.width) * (this.right - this.left);
    return hit(this.tree, depth, x);
  }

  /* Scroll so that frame i's row is on screen. */
  reveal(i: number): void {
    const top = this.tree.depth[i]! * ROW;
    if (top < this.scroller.scrollTop) this.scroller.scrollTop = top;
    const bottom = top + ROW - this.scroller.clientHeight;
    if (bottom > this.scroller.scrollTop) this.scroller.scrollTop = bottom;
  }

  paint(): void {
    const width = this.scroller.clientWidth;
    const height = this.scroller.clientHeight;
    const dots = window.devicePixelRatio || 1;
    if (this.canvas.width !== Math.round(width * dots) || this.canvas.height !== Math.round(height * dots)) {
      this.canvas.width = Math.round(width * dots);
      this.canvas.height = Math.round(height * dots);
      this.canvas.style.width = `${width}px`;
      this.canvas.style.height = `${height}px`;
    }
    const { pen } = this;
    pen.setTransform(dots, 0, 0, dots, 0, 0);
    pen.clearRect(0, 0, width, height);
    pen.font = this.font;
    pen.textBaseline = 'middle';
    const scroll = this.scroller.scrollTop;
    const last = Math.min(this.tree.rows.length - 1, Math.floor((scroll + height) / ROW));
    for (let depth = Math.max(0, Math.floor(scroll / ROW)); depth <= last; depth++) {
      this.paintRow(this.tree.rows[depth]!, depth * ROW - scroll, width);
    }
  }

  private paintRow(row: Int32Array, y: number, width: number): void {
    const { x0, x1 } = this.tree;
    const scale = width / (this.right - this.left || 1);
    /* Pixels begin..end hold frames too narrow to tell apart. */
    let begin = 0;
    let end = 0;
    let role = '';
    const blur = () => {
      if (end === begin) return;
      this.pen.globalAlpha = 0.6;
      this.pen.fillStyle = this.colours.get(`role-${role}`) || this.colours.get('muted')!;
      this.pen.fillRect(begin, y, end - begin, ROW - 1);
      this.pen.globalAlpha = 1;
      begin = end;
    };
    for (let k = seek(this.tree, row, this.left); k < row.length; ) {
      const i = row[k]!;
      if (x0[i]! >= this.right) break;
      const from = Math.max(0, (x0[i]! - this.left) * scale);
      const to = Math.min(width, (x1[i]! - this.left) * scale);
      if (to - from >= 1) {
        blur();
        this.paintFrame(i, from, to, y);
        k++;
        continue;
      }
      const pixel = Math.floor(from);
      if (pixel > end) {
        blur();
        begin = pixel;
      }
      if (end <= begin) role = roleOf(this.tree, i);
      end = Math.max(end, pixel + 1);
      k = Math.max(k + 1, seek(this.tree, row, this.left + (pixel + 1) / scale));
    }
    blur();
  }

  private paintFrame(i: number, from: number, to: number, y: number): void {
    const { pen, colours, look } = this;
    const room = to - from - 1;
    const dimmed = look.mark !== null && look.mark[i] === 0;
    const fill = look.mark?.[i] === 1 ? colours.get('mark') : colours.get(`role-${roleOf(this.tree, i)}`);
    pen.globalAlpha = dimmed ? 0.35 : 1;
    pen.fillStyle = fill || colours.get('muted')!;
    pen.fillRect(from, y, Math.max(room, 0.5), ROW - 1);
    pen.globalAlpha = dimmed ? 0.7 : 1;
    if (room > this.letter * 3) {
      pen.fillStyle = colours.get('ink')!;
      const text = shorten(label(this.tree, i), Math.floor((room - 8) / this.letter));
      pen.fillText(text, from + 5, y + ROW / 2);
    }
    pen.globalAlpha = 1;
    if (i === look.selected || i === look.hovered) {
      pen.strokeStyle = colours.get(i === look.selected ? 'accent' : 'ink')!;
      pen.lineWidth = i === look.selected ? 2 : 1;
      pen.strokeRect(from + 1, y + 1, Math.max(room - 2, 1), ROW - 3);
    }
  }
}
