/* Changes of issues' states and assignees: sent, told with a way back, and every answer they are in asked for again. */

import { signal } from '@preact/signals';
import { api, ProblemError } from '../../api/client';
import type { Triage } from '../../api/types';
import { say } from '../../lib/i18n';
import { client } from '../../lib/query';
import { announce, offer } from '../parts';

/* The action that `u` undoes. */
const last = signal<{ app: string; batch: number } | null>(null);

const OF_ISSUES = ['issues', 'issue', 'activity', 'changes', 'facets', 'overview'];

export function refresh(): void {
  void client.invalidateQueries({ predicate: (one) => OF_ISSUES.includes(String(one.queryKey[0])) });
}

function failed(error: unknown): void {
  const problem = error instanceof ProblemError ? error : null;
  announce(problem?.detail || problem?.title || say('The server could not be reached'));
}

export async function triage(app: string, change: Triage, told: string): Promise<void> {
  if (change.issues.length === 0) return;
  try {
    const { batch } = await api.triage(app, change);
    last.value = { app, batch };
    offer(told, say('Undo'), () => void undo());
  } catch (error) {
    failed(error);
  }
  refresh();
}

export async function undo(batch = last.value?.batch, app = last.value?.app): Promise<void> {
  if (batch === undefined || app === undefined) return;
  try {
    await api.undoTriage(app, batch);
    announce(say('Undone'));
  } catch (error) {
    failed(error);
  }
  if (batch === last.value?.batch) last.value = null;
  refresh();
}
