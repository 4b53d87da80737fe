/*
 * The build: static files in dist/, names hashed by content, each text file with its .gz and .br beside it so that the
 * server never compresses. `npm run dev` proxies the API to MIRE_API (a mired, or tests/mock/server.mjs).
 */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';
import { docs } from './docs.ts';

function precompress(): Plugin {
  return {
    name: 'precompress',
    apply: 'build',
    async writeBundle(options) {
      const dir = options.dir ?? 'dist';
      for (const name of await readdir(dir, { recursive: true })) {
        if (!/\.(js|css|svg|html|json)$/.test(name)) continue;
        const path = join(dir, name);
        const body = await readFile(path);
        await writeFile(`${path}.gz`, gzipSync(body, { level: 9 }));
        await writeFile(`${path}.br`, brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }));
      }
    },
  };
}

interface Modules {
  getModuleInfo(id: string): { importedIds: readonly string[]; isEntry: boolean } | null;
}

/* All that the first page needs is one file: each further one would bring its own head, and compress alone. */
function firstOrNot() {
  const first = new Set<string>();
  const walk = (id: string, modules: Modules) => {
    if (first.has(id)) return;
    first.add(id);
    for (const next of modules.getModuleInfo(id)?.importedIds ?? []) walk(next, modules);
  };
  return (id: string, modules: Modules): string | null => {
    if (first.size === 0) walk(join(import.meta.dirname, 'src/main.tsx'), modules);
    return first.has(id) ? 'first' : null;
  };
}

export default defineConfig({
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  plugins: [docs(), precompress()],
  build: {
    target: 'es2022',
    /* What the first script imports is asked for with it, not after it. Pages that come later bring all of theirs. */
    modulePreload: {
      polyfill: false,
      resolveDependencies: (_file, found, { hostType }) => (hostType === 'html' ? found : []),
    },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: firstOrNot(), debugName: 'first' }] } } },
  },
  server: { proxy: { '/api': process.env.MIRE_API ?? 'http://127.0.0.1:7117' } },
  test: {
    environment: 'happy-dom',
    include: ['src/**/*.test.{ts,tsx}', 'tests/**/*.test.{ts,tsx}'],
    testTimeout: 120_000, // a loaded machine takes its time: no test is about speed
    hookTimeout: 240_000,
    environmentOptions: { happyDOM: { url: 'http://mire.test/' } },
  },
});
