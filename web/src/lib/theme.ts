/* Light, dark, or as the system says; kept on this device. Canvases read `theme` to know when to repaint. */
import { signal } from '@preact/signals';
import { recall, remember } from './memory';

export type Theme = 'auto' | 'light' | 'dark';
const ORDER: Theme[] = ['auto', 'light', 'dark'];

const system = matchMedia('(prefers-color-scheme: dark)');
const stored = recall('theme');

export const choice = signal<Theme>(ORDER.includes(stored as Theme) ? (stored as Theme) : 'auto');
export const theme = signal<'light' | 'dark'>('light');

function apply(): void {
  if (choice.value === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = choice.value;
  theme.value = choice.value === 'auto' ? (system.matches ? 'dark' : 'light') : choice.value;
}

system.addEventListener('change', apply);
apply();

export function nextTheme(): void {
  choice.value = ORDER[(ORDER.indexOf(choice.value) + 1) % ORDER.length]!;
  remember('theme', choice.value);
  apply();
}
