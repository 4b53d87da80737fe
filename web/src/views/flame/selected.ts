/* The frame chosen, as path hash, whichever of the three views it was chosen in. */

import { signal } from '@preact/signals';
import type { Tree } from '../../model/flame';

export const selected = signal('');

export function select(tree: Tree, i: number): void {
  selected.value = tree.flame.hash[i] ?? '';
}
