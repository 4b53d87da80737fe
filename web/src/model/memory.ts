/* A memory report as data for tables: rows, comparisons, and the stacks of a category. */
import type { CategorySpread, Frame, Healthy, IssueMemory, Memory, MemoryCategory } from '../api/types';

export type Stack = Memory['stacks'][number];
export type Kind = MemoryCategory['kind'];
type Named = { kind: Kind; name: string };

/* The form of a category in the address. */
export function keyOf(category: Named): string {
  return `${category.kind}:${category.name}`;
}

/* The other side of a comparison: its amounts by category. */
export interface Amounts {
  bytes: number;
  count: number;
}
export type Other = Map<string, Amounts>;

export function ofHealthy(memory: Memory): Other | null {
  if (!memory.healthy) return null;
  return new Map(
    memory.categories.map((c) => [keyOf(c), { bytes: c.healthy_bytes ?? 0, count: c.healthy_count ?? 0 }]),
  );
}

export function ofMedians(healthy: Healthy): Other | null {
  if (healthy.reports === 0) return null;
  return new Map(healthy.categories.map((c) => [keyOf(c), { bytes: c.bytes.p50, count: c.objects.p50 }]));
}

export function ofReport(memory: Memory): Other {
  return new Map(memory.categories.map((c) => [keyOf(c), { bytes: c.held_bytes, count: c.live_count }]));
}

/* The factor between two amounts; null if unknown, Infinity if there was nothing before. */
export function times(now: number, before: number | undefined): number | null {
  if (before === undefined) return null;
  return before > 0 ? now / before : now > 0 ? Number.POSITIVE_INFINITY : null;
}

export interface Row {
  key: string;
  /** Index into categories. */
  at: number;
  category: MemoryCategory;
  /** Of the footprint, or of the sum of all categories if that is larger; null for a category that contains counted
   * blocks. */
  share: number | null;
  before: Amounts | null;
  /** Of bytes, or of objects if their number is suspect. */
  ratio: number | null;
  ofCount: boolean;
}

/* The bytes of all mappings: those of allocators, whose blocks are counted by themselves, and the others. */
export function mappingsOf(memory: Memory): { ofAllocators: number; others: number } {
  const held = { ofAllocators: 0, others: 0 };
  for (const { kind, of_allocator, held_bytes } of memory.categories)
    if (kind === 'vm') held[of_allocator ? 'ofAllocators' : 'others'] += held_bytes;
  return held;
}

/* One row a category, in the report's order: most held bytes first. Shares add up to no more than all. */
export function rowsOf(memory: Memory, other: Other | null): Row[] {
  const all = Math.max(memory.footprint_bytes ?? 0, memory.held_bytes, 1);
  return memory.categories.map((category, at) => {
    const key = keyOf(category);
    const before = other ? (other.get(key) ?? { bytes: 0, count: 0 }) : null;
    const ofCount = category.suspect?.reason === 'objects';
    const ratio = ofCount ? times(category.live_count, before?.count) : times(category.held_bytes, before?.bytes);
    const share = category.of_allocator || category.kind === 'gauge' ? null : category.held_bytes / all;
    return { key, at, category, share, before, ratio, ofCount };
  });
}

export function suspectsOf(rows: readonly Row[]): Row[] {
  return rows.filter((row) => row.category.suspect).sort((a, b) => a.category.suspect!.rank - b.category.suspect!.rank);
}

export type Order = 'above' | 'bytes' | 'count' | 'grown' | 'name';

/* Does the category have anything alive? Some had before, and have nothing left. */
export function isAlive({ category }: Row): boolean {
  return category.live_count > 0 || category.held_bytes > 0 || category.suspect !== null;
}

/* Bytes above the other side; all of them where there is none. */
export function aboveOf({ category, before }: Row): number {
  return category.held_bytes - (before?.bytes ?? 0);
}

/* The rows of a kind whose names contain every word, most first; rows with nothing alive on request only. */
export function chosenRows(rows: readonly Row[], kind: Kind | '', words: string, order: Order): Row[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const kept = rows.filter((row) => {
    const { kind: is, name } = row.category;
    if (kind !== '' && is !== kind) return false;
    return wanted.length > 0 ? wanted.every((word) => name.toLowerCase().includes(word)) : isAlive(row);
  });
  const much = (row: Row): number => {
    if (order === 'count') return row.category.live_count;
    if (order === 'above') return aboveOf(row);
    return order === 'grown' ? (row.category.grown_bytes ?? Number.NEGATIVE_INFINITY) : row.category.held_bytes;
  };
  if (order === 'name') return kept.sort((a, b) => a.category.name.localeCompare(b.category.name));
  return kept.sort((a, b) => (much(a) === much(b) ? a.at - b.at : much(a) > much(b) ? -1 : 1));
}

/* The category to show first: the one in the address, the first suspect, or the largest one with stacks. */
export function firstRow(memory: Memory, rows: readonly Row[], wanted: string): Row | undefined {
  const named = rows.find((row) => row.key === wanted);
  if (named) return named;
  const known = new Set(memory.stacks.map((stack) => stack.category));
  return suspectsOf(rows)[0] ?? rows.find((row) => known.has(row.at)) ?? rows[0];
}

export interface ShownStack {
  stack: Stack;
  /** Of everything alive in the category. */
  share: number;
  frames: Frame[];
  /** The frame to blame, an index into frames. */
  caller1: number | null;
}

/* Frames of a node, innermost first. */
export function framesOf(memory: Memory, node: number): Frame[] {
  const { parent, location } = memory.nodes;
  const frames: Frame[] = [];
  for (let at = node; at > 0; at = parent[at - 1] ?? 0) frames.push(memory.locations[location[at - 1]!]!);
  return frames;
}

/* The stacks of a category, largest first; shares are of the sum of its live things. */
export function stacksOf(memory: Memory, at: number, of: 'bytes' | 'objects'): ShownStack[] {
  const much = (stack: Stack) => (of === 'bytes' ? stack.bytes : stack.count);
  const category = memory.categories[at]!;
  const all = (of === 'bytes' ? category.live_bytes : category.live_count) || 1;
  return memory.stacks
    .filter((stack) => stack.category === at)
    .sort((a, b) => much(b) - much(a))
    .map((stack) => ({
      stack,
      share: Math.min(1, much(stack) / all),
      frames: framesOf(memory, stack.node),
      caller1: stack.caller1,
    }));
}

/* How much of the footprint is accounted for; null if the device does not tell. */
export function explained(memory: Memory): number | null {
  const { footprint_bytes, explained_bytes } = memory;
  return footprint_bytes && explained_bytes !== null ? Math.min(1, explained_bytes / footprint_bytes) : null;
}

/* Median bytes of a category over all reports of an issue, above those of healthy processes. */
export function spreadAbove({ bytes, healthy_bytes }: Pick<CategorySpread, 'bytes' | 'healthy_bytes'>): number {
  return bytes.p50 - (healthy_bytes ?? 0);
}

/* The categories over all reports of an issue that ever had anything: most bytes above healthy first. */
export function spreadsOf(data: IssueMemory): CategorySpread[] {
  return data.categories
    .filter((row) => row.bytes.p90 > 0 || row.objects.p90 > 0 || row.suspect_share > 0)
    .sort((a, b) => spreadAbove(b) - spreadAbove(a));
}

export interface Answer {
  footprint: number;
  /** The limit of the process; null if it is not known. */
  limit: number | null;
  /** How many times the healthy median the footprint is; null if it is not known. */
  times: number | null;
  /** The category to blame, and its bytes: those above healthy ones, if there are any. */
  category: string;
  bytes: number;
  above: boolean;
  /** The function that allocated it, and its share of the category. */
  by: string;
  share: number | null;
}

function heldOf(bytes: number, healthy: number | null): Pick<Answer, 'bytes' | 'above'> {
  const more = healthy === null ? 0 : bytes - healthy;
  return more > 0 ? { bytes: more, above: true } : { bytes, above: false };
}

/* The answer over all reports of an issue: medians, and the subject of the issue. */
export function answerOfAll(data: IssueMemory, subject: string, by: string): Answer | null {
  const [blamed] = spreadsOf(data)
    .filter((row) => row.name === subject)
    .sort((a, b) => b.suspect_share - a.suspect_share);
  if (!blamed || data.footprint_bytes.p50 <= 0) return null;
  const healthy = data.healthy?.footprint_bytes.p50;
  return {
    footprint: data.footprint_bytes.p50,
    limit: null,
    times: healthy ? data.footprint_bytes.p50 / healthy : null,
    category: blamed.name,
    ...heldOf(blamed.bytes.p50, blamed.healthy_bytes),
    by: by === subject ? '' : by,
    share: null,
  };
}

/* The answer of one report: its first suspect, and the stack that holds most of it. */
export function answerOf(memory: Memory, rows: readonly Row[]): Answer | null {
  const [blamed] = suspectsOf(rows);
  if (!blamed || memory.footprint_bytes === null) return null;
  const healthy = memory.healthy?.footprint_bytes;
  const { healthy_bytes, held_bytes, name } = blamed.category;
  const [most] = stacksOf(memory, blamed.at, 'bytes');
  const frame = most && most.caller1 !== null ? most.frames[most.caller1] : undefined;
  return {
    footprint: memory.footprint_bytes,
    limit: memory.limit_bytes,
    times: healthy ? memory.footprint_bytes / healthy : null,
    category: name,
    ...heldOf(held_bytes, healthy_bytes),
    by: frame?.function ?? '',
    share: frame && most ? most.share : null,
  };
}
