/* The issues that are selected in the list. */
import { signal } from '@preact/signals';

export const selected = signal<ReadonlySet<string>>(new Set());
