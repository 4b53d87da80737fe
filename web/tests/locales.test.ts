// @vitest-environment node
/* Every text of the pages has its translation, with the same values in it, and no translation is left over. */
import { readdir, readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { FACET_TITLES } from '../src/lib/facets';
import { say } from '../src/lib/i18n';
import { KEYS } from '../src/lib/keys';
import { GUESSES, KINDS, REASONS, WAITS, WORDS } from '../src/lib/words';
import chinese from '../src/locales/zh-CN.json';
import { FINDINGS } from '../src/views/people/findings';

const SOURCES = new URL('../src/', import.meta.url);

async function sources(): Promise<string> {
  const names = (await readdir(SOURCES, { recursive: true })).filter((name) => /(?<!\.test)\.tsx?$/.test(name));
  return (await Promise.all(names.map((name) => readFile(new URL(name, SOURCES), 'utf8')))).join('\n');
}

const catalogue: Record<string, string> = chinese;
const values = (text: string) => [...text.matchAll(/\{(\w+)/g)].map((match) => match[1]).sort();

it('every text given to say(), and every key in the sheet and word of the server, is in the catalogue', async () => {
  const said = [...(await sources()).matchAll(/\bsay\(\s*'((?:[^'\\]|\\.)*)'/g)].map((match) =>
    match[1]!.replace(/\\'/g, "'"),
  );
  const wanted = [
    ...said,
    ...KEYS.flatMap((row) => [row.does, row.part]),
    ...WORDS,
    ...Object.values(KINDS),
    ...Object.values(FACET_TITLES),
    ...Object.values(REASONS),
    ...Object.values(WAITS),
    ...Object.values(GUESSES),
    ...FINDINGS,
  ];
  expect(wanted.filter((text) => catalogue[text] === undefined)).toEqual([]);
  expect(said.length).toBeGreaterThan(100);
});

it('the findings of the doctor are those that the page knows', async () => {
  const daemon = new URL('../../server/src/daemon/', import.meta.url);
  const read = (name: string) => readFile(new URL(name, daemon), 'utf8');
  const machine = (await read('doctor.c')).split('check_provider')[0]!;
  const code = (machine + (await read('doctor_rows.c')) + (await read('doctor_secrets.c')))
    .replace(/\/\*[\s\S]*?\*\/|^#.*$|\b[NT]\("\w+"|\.name = "\w+"/gm, '')
    .replace(/"\s*"/g, '');
  const written = new Set([...code.matchAll(/"([^"]+)"/g)].map((match) => match[1]!));
  expect([...written].sort()).toEqual([...FINDINGS].sort());
});

it('a translation has the values of the original', () => {
  for (const [text, translated] of Object.entries(catalogue)) expect(values(translated), text).toEqual(values(text));
});

it('no translation is left over', async () => {
  const all = await sources();
  expect(Object.keys(catalogue).filter((text) => !all.includes(`'${text}'`) && !FINDINGS.includes(text))).toEqual([]);
});

it('a noun follows its number', () => {
  expect([1, 2].map((n) => say('{n|report|reports} in 24 h', { n }))).toEqual([
    '1 report in 24 h',
    '2 reports in 24 h',
  ]);
  expect(say('{n|session record|session records}', { n: 2 })).toBe('2 session records');
});
