/*
 * The keyboard. One table names every key and what it does; the same rows are bound here and shown by `?`. Views add
 * what a key does while they are on screen with useKeys. Single letters do nothing inside a field, and a setting turns
 * them off. Ctrl K works everywhere, always.
 */
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { recall, remember } from './memory';

export interface KeyRow {
  id: string;
  keys: string;
  does: string;
  part: 'Everywhere' | 'Range' | 'Lists' | 'States' | 'Issue' | 'Flame graph';
  /** Handled by the graph itself while it has the focus. */
  local?: true;
}

export const KEYS: readonly KeyRow[] = [
  { id: 'help', keys: '?', does: 'Show the keys', part: 'Everywhere' },
  { id: 'palette', keys: 'Ctrl K', does: 'Search or jump', part: 'Everywhere' },
  { id: 'filter', keys: '/', does: 'Go to the text filter', part: 'Everywhere' },
  { id: 'overview', keys: 'g o', does: 'Go to the overview', part: 'Everywhere' },
  { id: 'issues', keys: 'g i', does: 'Go to the issues', part: 'Everywhere' },
  { id: 'memory', keys: 'g m', does: 'Go to the memory issues', part: 'Everywhere' },
  { id: 'versions', keys: 'g v', does: 'Go to the versions', part: 'Everywhere' },
  { id: 'rollout', keys: 'g w', does: 'Go to the rollout', part: 'Everywhere' },
  { id: 'rules', keys: 'g r', does: 'Go to the rules', part: 'Everywhere' },
  { id: 'symbols', keys: 'g s', does: 'Go to the debug files', part: 'Everywhere' },
  { id: 'copy', keys: 'l', does: 'Copy a link with the range as it is now', part: 'Everywhere' },
  { id: 'range', keys: 't', does: 'Choose the range', part: 'Range' },
  { id: 'back', keys: ',', does: 'Shift the range back', part: 'Range' },
  { id: 'forward', keys: '.', does: 'Shift the range forward', part: 'Range' },
  { id: 'widen', keys: 'z', does: 'Double the range', part: 'Range' },
  { id: 'next', keys: 'j', does: 'Next row', part: 'Lists' },
  { id: 'previous', keys: 'k', does: 'Previous row', part: 'Lists' },
  { id: 'unfold', keys: 'o', does: 'Expand or collapse the group', part: 'Lists' },
  { id: 'enter', keys: 'Enter', does: 'Open the row', part: 'Lists', local: true },
  { id: 'select', keys: 'x', does: 'Select the row', part: 'Lists' },
  { id: 'select-range', keys: 'X', does: 'Select all rows from the last selected one on', part: 'Lists' },
  { id: 'resolve', keys: 'e', does: 'Resolve in the newest version', part: 'States' },
  { id: 'ignore', keys: 'i', does: 'Ignore until ...', part: 'States' },
  { id: 'assign', keys: 'a', does: 'Assign', part: 'States' },
  { id: 'comment', keys: 'c', does: 'Comment', part: 'States' },
  { id: 'undo', keys: 'u', does: 'Undo the last change of a state or assignee', part: 'States' },
  { id: 'issue-before', keys: '[', does: 'Previous issue of the list', part: 'Issue' },
  { id: 'issue-after', keys: ']', does: 'Next issue of the list', part: 'Issue' },
  { id: 'view', keys: '1–9', does: 'Tab by number', part: 'Issue' },
  { id: 'hand-over', keys: 'h', does: 'Copy the issue for a ticket', part: 'Issue' },
  { id: 'path', keys: 'y', does: 'Copy the stack as text', part: 'Issue' },
  { id: 'arrows', keys: '← ↑ → ↓', does: 'Step through the frames', part: 'Flame graph', local: true },
  { id: 'zoom', keys: 'Enter', does: 'Zoom to the frame', part: 'Flame graph', local: true },
  { id: 'zoom-out', keys: 'Backspace', does: 'Zoom out to the caller', part: 'Flame graph', local: true },
  { id: 'reset', keys: 'Esc', does: 'Show everything', part: 'Flame graph', local: true },
  { id: 'search', keys: 'f', does: 'Search', part: 'Flame graph' },
  { id: 'fold-system', keys: 's', does: 'Fold or unfold system frames', part: 'Flame graph' },
  { id: 'fold-recursion', keys: 'r', does: 'Fold or unfold recursion', part: 'Flame graph' },
  { id: 'hit-next', keys: 'n', does: 'Next hit', part: 'Flame graph' },
  { id: 'hit-previous', keys: 'N', does: 'Previous hit', part: 'Flame graph' },
];

export const enabled = signal(recall('keys') !== 'off');

export function setEnabled(on: boolean): void {
  enabled.value = on;
  remember('keys', on ? 'on' : 'off');
}

type Actions = Partial<Record<string, () => void>>;
const layers: Actions[] = [];
const byKeys = new Map(KEYS.filter((row) => !row.local).map((row) => [row.keys, row.id]));
for (const digit of '123456789') byKeys.set(digit, `view-${digit}`);
let pending = '';

function inField(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('input, textarea, select, [contenteditable]') !== null;
}

/* The action of a row of the table on the page that is shown, if it has one there. */
export function press(id: string): (() => void) | undefined {
  return layers.findLast((layer) => layer[id])?.[id];
}

function isChord({ ctrlKey, metaKey, altKey, shiftKey, key }: KeyboardEvent): boolean {
  return ctrlKey !== metaKey && !altKey && !shiftKey && key.toLowerCase() === 'k';
}

export function onKey(event: KeyboardEvent): void {
  if (isChord(event)) {
    event.preventDefault();
    press('palette')?.();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || inField(event.target)) return;
  if (event.defaultPrevented || (!enabled.value && event.key !== '?')) return;
  const keys = pending === '' ? event.key : `${pending} ${event.key}`;
  pending = pending === '' && event.key === 'g' ? 'g' : '';
  const id = byKeys.get(keys);
  const action = id === undefined ? undefined : press(id);
  if (!action) return;
  event.preventDefault();
  action();
}

/* The keys that work while the caller is on screen. */
export function useKeys(actions: Actions): void {
  const latest = useRef(actions);
  latest.current = actions;
  useEffect(() => {
    const layer: Actions = {};
    for (const id of Object.keys(actions)) layer[id] = () => latest.current[id]?.();
    layers.push(layer);
    return () => void layers.splice(layers.indexOf(layer), 1);
  }, []);
}
