/* The facts of a report besides its stacks: the threads of samples, the holder of the lock, the kinds without a
 * wait. */
import type { Frame, Report } from '../api/types';
import { base } from './name';

export type Thread = Report['threads'][number];

/* Kinds whose subject is the whole process. */
const OF_PROCESS = ['cpu', 'power', 'disk', 'frames', 'foom', 'memory', 'crash', 'custom', 'test'];

export function isOfProcess(category: string): boolean {
  return OF_PROCESS.includes(category);
}

/* Did a user wait, so that the duration is time lost? */
export function isWait(category: string): boolean {
  return category === 'frames' || !isOfProcess(category);
}

/* The noun for reports of these kinds. */
export function counted(categories: readonly string[]): 'Hangs' | 'Events' {
  return categories.some(isOfProcess) ? 'Events' : 'Hangs';
}

/* The report with the samples of the hottest stack's thread alone: only among them do frames repeat. */
export function ofHotThread(report: Report): Report {
  const { samples, hot } = report;
  const own = samples.thread.flatMap((thread, i) => (thread === hot.thread ? [i] : []));
  if (own.length === samples.thread.length) return report;
  const pick = <T>(column: readonly T[]): T[] => own.map((i) => column[i]!);
  const weight_ms = pick(samples.weight_ms);
  return {
    ...report,
    samples: {
      ...samples,
      at_ms: pick(samples.at_ms),
      weight_ms,
      leaf: pick(samples.leaf),
      stack: pick(samples.stack),
      thread: pick(samples.thread),
      covered_ms: weight_ms.reduce((a, b) => a + b, 0),
    },
  };
}

/* The thread of the hottest stack; null for the watched one. */
export function hotThread(report: Report): Thread | null {
  return report.threads[report.hot.thread - 1] ?? null;
}

/* The other threads, each with its index: the holder first, then by CPU time. */
export function inOrder(report: Report): [Thread, number][] {
  const holder = report.lock?.thread ?? -1;
  const rank = ([thread, i]: [Thread, number]) => (i === holder || thread.role === 'owner' ? 0 : 1);
  return report.threads
    .map((thread, i): [Thread, number] => [thread, i])
    .sort((a, b) => rank(a) - rank(b) || (b[0].cpu_ms ?? -1) - (a[0].cpu_ms ?? -1));
}

/* The thread that held the lock, and the frame to blame in it, as far as they are known. */
export function holder(report: Report): { thread: Thread; frame: Frame | null } | null {
  const thread = report.threads[report.lock?.thread ?? -1];
  return thread ? { thread, frame: thread.frames[report.lock?.frame ?? -1] ?? null } : null;
}

/*
 * The name of a process's file, if the process has another name: Debian's redis-server is a link to redis-check-rdb,
 * the name in its frames, in its debug file and in gdb. The kernel keeps 15 characters of a process's name.
 */
export function fileOf({ row, facts }: Pick<Report, 'row' | 'facts'>): string | null {
  const file = base(facts.find((fact) => fact.name === 'path')?.value ?? '');
  return file === '' || file.slice(0, 15) === row.process.slice(0, 15) ? null : file;
}
