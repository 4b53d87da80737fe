/* Facts about all samples of a report: the distribution of time, and the share of the event that they cover. */
import type { Frame, Report } from '../api/types';

type Samples = Report['samples'];

export interface Coverage {
  covered_ms: number;
  /** The part of it in samples with a stack. */
  stacks_ms: number;
  event_ms: number;
  /** Samples begin at the event's beginning, give or take a period. */
  whole: boolean;
}

/* Number of samples without a stack; report.why has the reason. */
export function withoutStack(report: Report): number {
  return report.samples.stack.filter((stack) => stack < 0).length;
}

/* The part of the event that the samples cover, at most all of it. */
export function coverage(report: Report): Coverage {
  const event_ms = report.row.duration_ms;
  const { samples } = report;
  const covered_ms = Math.min(samples.covered_ms, event_ms);
  const seen = samples.weight_ms.reduce((sum, weight, i) => (samples.stack[i]! < 0 ? sum : sum + weight), 0);
  const stacks_ms = Math.min(seen, covered_ms);
  return { covered_ms, stacks_ms, event_ms, whole: event_ms === 0 || covered_ms >= event_ms * 0.95 };
}

/* The innermost frame of sample i, or null where unwinding found nothing. */
export function leafOf(samples: Samples, i: number): Frame | null {
  return samples.stacks[samples.stack[i] ?? -1]?.frames[0] ?? null;
}

/* Number of samples in a cell of the strip, for at most `most` cells. */
export function perCell(samples: Samples, most: number): number {
  return Math.max(1, Math.ceil(samples.stack.length / most));
}

/* Number of samples with the most frequent innermost function. */
export function commonLeaf(samples: Samples): { name: string; samples: number } | null {
  const seen = new Map<string, number>();
  for (let i = 0; i < samples.stack.length; i++) {
    const leaf = leafOf(samples, i);
    if (leaf) seen.set(leaf.function, (seen.get(leaf.function) ?? 0) + 1);
  }
  let best: { name: string; samples: number } | null = null;
  for (const [name, n] of seen) if (!best || n > best.samples) best = { name, samples: n };
  return best;
}

/* A hot middle frame is in at least this share of samples, and no callee of it has more than the second share. */
const ALWAYS = 0.7;
const ONE_CALLEE = 0.6;
const MIN_SAMPLES = 5;

/*
 * The hot stack is chosen by its innermost function. So a function further out with varying callees is never chosen,
 * although all the time is spent below it. Returns its index in hot.frames, or null: the innermost app function that is
 * in nearly every sample, with no callee in most of them.
 */
export function hotMiddle(report: Report): number | null {
  const { samples, hot } = report;
  const total = samples.stack.length;
  if (total < MIN_SAMPLES) return null;
  for (let i = 1; i < hot.frames.length; i++) {
    const frame = hot.frames[i]!;
    if (frame.role !== 'app' && frame.role !== 'unknown') continue;
    if (frame.repeat < total * ALWAYS) continue;
    return callees(samples, frame.function, ONE_CALLEE * frame.repeat) ? i : null;
  }
  return null;
}

/* Whether `name` calls at least two functions and none of them in more than `most` samples. */
function callees(samples: Samples, name: string, most: number): boolean {
  const seen = new Map<string, number>();
  for (const index of samples.stack) {
    const frames = samples.stacks[index]?.frames ?? [];
    const at = frames.findIndex((frame) => frame.function === name);
    if (at < 0) continue;
    const callee = at === 0 ? '' : frames[at - 1]!.function;
    seen.set(callee, (seen.get(callee) ?? 0) + 1);
  }
  return seen.size > 1 && Math.max(...seen.values()) <= most;
}

export function place(frame: Frame): string {
  if (frame.file === '') return '';
  const file = frame.file.split('/').slice(-2).join('/');
  return frame.line > 0 ? `${file}:${frame.line}` : file;
}

/* Whether the verdict says less than a share of all samples does: some have no stack, or nobody is to blame. */
export function isPartial(report: Report): boolean {
  return report.why !== '' && (withoutStack(report) > 0 || report.verdict === null);
}

/* The hottest stack as text for a ticket or a chat: shares and losses, then the frames. */
export function hotAsText(report: Report): string {
  const stack = asText(report.hot.frames);
  return report.why === '' ? stack : `${report.why}\n\n${stack}`;
}

/* A stack as text for a ticket or a chat, innermost first. */
export function asText(frames: readonly Frame[]): string {
  return frames
    .map((frame, i) => {
      const where = place(frame);
      return `#${String(i).padEnd(3)}${frame.function}  ${frame.image}${where === '' ? '' : ` ${where}`}`;
    })
    .join('\n');
}

/* Modules with an unknown owner: those of frames that no rule skips and that are not the app's. */
export function ownerless(report: Report): string[] {
  const stacks = [report.hot, ...report.samples.stacks];
  const images = stacks.flatMap((stack) =>
    stack.frames.filter((frame) => frame.role === 'unknown' && frame.rule === null && frame.image !== ''),
  );
  return [...new Set(images.map((frame) => frame.image))];
}

/* The rule that makes a module the app's: libcart.so.3 -> own libcart.so*, for the next version too. */
export function ownRule(image: string): string {
  const name = image.replace(/^.*\/(?=.)/, '').replace(/\.so(\.\d.*)?$/, '.so*');
  return `own ${name.replace(/^~|[\s?]/g, '?')}`;
}

export interface Nameless {
  image: string;
  /** Build id, hex; empty if unknown. */
  id: string;
  /** Distinct places in the image without a function name. */
  places: number;
}

/* The images of a report without names, most places first. */
export function nameless(report: Report): Nameless[] {
  const places = new Map<string, Set<string>>();
  const stacks = [report.hot, ...report.samples.stacks, ...report.threads];
  for (const frame of stacks.flatMap((stack) => stack.frames)) {
    if (frame.image === '' || !frame.function.startsWith(`${frame.image}+0x`)) continue;
    const seen = places.get(frame.image) ?? new Set();
    places.set(frame.image, seen.add(frame.offset));
  }
  const ids = new Map(report.facts.map((fact) => [fact.name, fact.value]));
  return [...places]
    .map(([image, seen]) => ({ image, id: ids.get(`build id, ${image}`) ?? '', places: seen.size }))
    .sort((a, b) => b.places - a.places);
}

/* Fewer are not worth a row of their own. */
const FOLDED = 3;

/*
 * Index of the first of the outer frames on which nobody acts: the way from the system's start to the outermost frame of
 * the app, or of an unknown owner. Null: there are fewer than three, or no such frame below them.
 */
export function outerFrom(frames: readonly Pick<Frame, 'role'>[]): number | null {
  const last = frames.findLastIndex((frame) => frame.role === 'app' || frame.role === 'unknown');
  return last >= 0 && frames.length - last - 1 >= FOLDED ? last + 1 : null;
}
