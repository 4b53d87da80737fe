// @vitest-environment node
/* The typed client is the contract as it stands, and the build stays within what a tethered phone can load. */
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import openapiTS, { astToString, COMMENT_HEADER } from 'openapi-typescript';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

const INITIAL_BYTES = 60 * 1024;
const PAGE_BYTES = 150 * 1024;

it('schema.ts is what openapi.yaml generates', async () => {
  const ast = await openapiTS(new URL('../../schema/api/openapi.yaml', import.meta.url));
  expect(await readFile(new URL('../src/api/schema.ts', import.meta.url), 'utf8')).toBe(
    COMMENT_HEADER + astToString(ast),
  );
});

it('package-lock.json names no registry', async () => {
  expect(await readFile(new URL('../package-lock.json', import.meta.url), 'utf8')).not.toContain('"resolved"');
});

describe('the build', () => {
  let dir = '';
  let files: string[] = [];
  const size = async (names: string[]) => {
    const sizes = await Promise.all(names.map(async (name) => (await stat(join(dir, `${name}.gz`))).size));
    return sizes.reduce((a, b) => a + b, 0);
  };

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'mire-web-'));
    vi.stubEnv('NODE_ENV', 'production'); // or else libraries bring what helps their developers
    await build({ logLevel: 'error', build: { outDir: dir, emptyOutDir: true } });
    files = (await readdir(dir, { recursive: true })).filter((name) => /\.(js|css|html|svg)$/.test(name));
  });
  afterAll(() => {
    vi.unstubAllEnvs();
    return rm(dir, { recursive: true });
  });

  it('loads at most 60 KB of script and style at first', async () => {
    const html = await readFile(join(dir, 'index.html'), 'utf8');
    const first = [...html.matchAll(/(?:src|href)="\/(assets\/[^"]+\.(?:js|css))"/g)].map((match) => match[1]!);
    const scripts = first.filter((name) => name.endsWith('.js'));
    for (const name of scripts)
      for (const [, imported] of (await readFile(join(dir, name), 'utf8')).matchAll(/(?:from|import)"\.\/([^"]+)"/g))
        expect(scripts, `${name} imports what index.html does not name`).toContain(`assets/${imported}`);
    expect(scripts.length).toBeLessThan(first.length);
    expect(await size(first)).toBeLessThanOrEqual(INITIAL_BYTES);
  });

  it('loads at most 150 KB for any page, with a language and all that the page may load later', async () => {
    const html = await readFile(join(dir, 'index.html'), 'utf8');
    const first = [...html.matchAll(/(?:src|href)="\/(assets\/[^"]+\.(?:js|css))"/g)].map((match) => match[1]!);
    const names = async (name: string, what: RegExp) =>
      [...(await readFile(join(dir, name), 'utf8')).matchAll(what)].map((match) => `assets/${match[1]!}`);
    const all = async (name: string, seen = new Set(first)): Promise<Set<string>> => {
      if (seen.has(name)) return seen;
      seen.add(name);
      for (const next of await names(name, /(?:from|import|import\()["'`]\.\/([^"'`]+\.js)["'`]/g))
        await all(next, seen);
      return seen;
    };
    const chinese = files.find((name) => /zh-CN-[^/]*\.js$/.test(name))!;
    const styles = files.filter((name) => name.endsWith('.css'));
    const pages = new Set(
      (await Promise.all(first.map((name) => names(name, /import\(["'`]\.\/([^"'`]+\.js)["'`]/g)))).flat(),
    );
    expect(pages.size).toBeGreaterThan(10);
    for (const name of pages)
      expect(await size([...new Set([...(await all(name)), chinese, ...styles])]), name).toBeLessThanOrEqual(
        PAGE_BYTES,
      );
  });

  it('has every text file compressed beside it', async () => {
    const all = new Set(await readdir(dir, { recursive: true }));
    for (const name of files) expect([all.has(`${name}.gz`), all.has(`${name}.br`)], name).toEqual([true, true]);
  });

  it('has no inline script, style or handler, and no address of another host', async () => {
    const html = await readFile(join(dir, 'index.html'), 'utf8');
    expect(html).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=|https?:/);
  });
});
