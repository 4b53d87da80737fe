/* Words in the server's answers, in the reader's language. An unknown word is shown unchanged. */
import { say } from './i18n';

export const WORDS: readonly string[] = [
  'hang',
  'launch',
  'background',
  'killed',
  'lock',
  'io',
  'cpu',
  'sleep',
  'wait',
  'unknown',
  'open',
  'resolved',
  'ignored',
  'app',
  'system',
  'runtime',
  'allocator',
  'dispatch',
  'thread',
  'busy',
  'foreground',
  'Lag of a version rises', // the rule that every app begins with
];

/* Kinds whose name alone says too little, or is a word already. */
export const KINDS: Readonly<Record<string, string>> = {
  threads: 'too many threads',
  cpu: 'high CPU',
  power: 'high CPU on average',
  disk: 'heavy disk use',
  frames: 'dropped frames',
  foom: 'out of memory',
  memory: 'high memory',
  custom: 'captured by the app',
  test: 'test',
  system: 'no app code',
  idle: 'waiting for events',
};

/* Why a category of memory is suspect. */
export const REASONS: Readonly<Record<string, string>> = {
  bytes: 'too many bytes',
  objects: 'too many objects',
  growth: 'grows',
};

/* Why a thread did not get on, where the word alone says too little. */
export const WAITS: Readonly<Record<string, string>> = {
  page_in: 'page-in',
  ipc: 'waiting for another process (IPC)',
  idle: 'waiting for events',
  late: 'suspended or starved',
};

/* The device's own verdict on an event. */
export const GUESSES: Readonly<Record<string, string>> = {
  foreground_block: 'a hang in the foreground',
  background_block: 'a hang in the background',
  launch_block: 'a launch that hung',
  blocked_many_threads: 'a hang beside many threads',
  blocked_and_killed: 'a hang that ended in a kill',
  cpu_high: 'high CPU',
  power: 'high CPU on average',
  disk_io: 'heavy disk use',
};

/* Operating systems as their makers write them. */
const SYSTEMS: Readonly<Record<string, string>> = { android: 'Android', ios: 'iOS', macos: 'macOS', linux: 'Linux' };

export function osWord(text: string): string {
  return SYSTEMS[text] ?? text;
}

/* "android 12" as "Android 12". */
export function systemWord(text: string): string {
  const [os = '', ...version] = text.split(' ');
  return [osWord(os), ...version].join(' ');
}

export function guessWord(text: string): string {
  const known = GUESSES[text];
  return known ? say(known) : kindWord(text);
}

export function reasonWord(text: string): string {
  const known = REASONS[text] ?? WAITS[text];
  return known ? say(known) : word(text);
}

export function kindWord(text: string): string {
  const known = KINDS[text];
  return known ? say(known) : word(text);
}

export function word(text: string): string {
  return WORDS.includes(text) ? say(text) : text;
}
