/* Words the server answers with, in the reader's language. A word this table lacks is shown as it came. */
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
];

export function word(text: string): string {
  return WORDS.includes(text) ? say(text) : text;
}
