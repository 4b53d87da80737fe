/*
 * The page's language. A text is its own key: say('Remove {what}', { what }) is English as it stands, and another language
 * has a catalogue from English texts to its own, loaded when it is first needed. A text it lacks stays English; a test
 * sees to it that none is lacking. {n|report|reports} is the value and the noun in the right number.
 */
import { signal } from '@preact/signals';
import { recall, remember } from './memory';

export type Language = 'en' | 'zh-CN';
type Catalogue = Record<string, string>;

export const lang = signal<Language>('en');
const catalogue = signal<Catalogue>({});

export function say(text: string, values: Record<string, string | number> = {}): string {
  const found = catalogue.value[text] ?? text;
  return found.replace(/\{(\w+)(?:\|([^|}]+)\|([^|}]+))?\}/g, (whole, name: string, one?: string, many?: string) => {
    const value = String(values[name] ?? whole);
    return one === undefined ? value : `${value} ${value === '1' ? one : many}`;
  });
}

/* What stands between two sentences, and between the members of a list. */
export function gap(): string {
  return lang.value === 'zh-CN' ? '' : ' ';
}

export function listed(members: readonly string[]): string {
  return members.join(lang.value === 'zh-CN' ? '、' : ', ');
}

export async function speak(wanted: Language): Promise<void> {
  catalogue.value = wanted === 'en' ? {} : (await import('../locales/zh-CN.json')).default;
  lang.value = wanted;
  document.documentElement.lang = wanted;
}

export function choose(wanted: Language): void {
  remember('lang', wanted);
  void speak(wanted);
}

/* The language chosen on this device, else the browser's. */
export function preferred(): Language {
  const wanted = recall('lang') ?? navigator.language;
  return wanted.startsWith('zh') ? 'zh-CN' : 'en';
}
