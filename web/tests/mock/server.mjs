/*
 * Answers like mired, from schema/api/examples, for working on pages without a server. Tests only: nothing of it is in
 * the build. node tests/mock/server.mjs [PORT] [DIST]; prints its address. Serves DIST under the real policy.
 */
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const EXAMPLES = fileURLToPath(new URL('../../../schema/api/examples/', import.meta.url));
const DIST = process.argv[3] ?? fileURLToPath(new URL('../../dist/', import.meta.url));
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; " +
  "manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; " +
  "require-trusted-types-for 'script'; trusted-types 'none'";
const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};

/* A path of the API and the example that answers it. */
const ROUTES = [
  [/^\/api\/v1\/apps$/, () => 'listApps'],
  [
    /^\/api\/v1\/apps\/[^/]+\/overview$/,
    (url) => (url.pathname.includes('/new-app/') ? 'getOverview.empty' : 'getOverview'),
  ],
  [/\/facets$/, () => 'getFacets'],
  [/\/issues$/, issues],
  [/\/issues\/I-404/, () => 'problem.no-such-issue'],
  [/\/issues\/I-7$/, () => 'getIssue.lock'],
  [/\/issues\/M-\d+$/, () => 'getIssue.memory'],
  [/\/issues\/M-\d+\/memory$/, () => 'getIssueMemory'],
  [/\/issues\/M-\d+\/flame$/, () => 'getFlame.memory'],
  [/\/reports\/[^/]+\/memory$/, () => 'getMemory'],
  [/\/healthy$/, () => 'getHealthy'],
  [/\/issues\/[^/]+$/, () => 'getIssue'],
  [/\/issues\/[^/]+\/reports$/, () => 'listReports'],
  [/\/issues\/I-[27]\/reports\/[^/]+$/, () => 'getReport.lock'],
  [/\/issues\/I-9\/reports\/[^/]+$/, () => 'getReport.power'],
  [/\/issues\/I-9\/flame$/, () => 'getFlame.threads'],
  [/\/reports\/(worst|first)$/, () => 'getReport.killed'],
  [/\/issues\/[^/]+\/reports\/[^/]+$/, () => 'getReport'],
  [/\/flame$/, () => 'getFlame'],
];

function issues(url) {
  if (url.searchParams.get('q') === 'nothing') return 'listIssues.empty';
  if (/(^|,)foom/.test(url.searchParams.get('kind') ?? '')) return 'listIssues.memory';
  return url.searchParams.get('by') === 'category' ? 'listIssues.by-category' : 'listIssues';
}

async function answer(request, response) {
  const url = new URL(request.url, 'http://mock');
  if (url.pathname.startsWith('/api/')) {
    const name = ROUTES.find(([path]) => path.test(url.pathname))?.[1](url);
    const problem = !name || name.startsWith('problem.');
    const body = await readFile(join(EXAMPLES, `${name ?? 'problem.no-such-issue'}.json`));
    response.writeHead(problem ? 404 : 200, {
      'content-type': problem ? 'application/problem+json' : 'application/json',
    });
    response.end(body);
    return;
  }
  const wanted = normalize(url.pathname);
  const path = wanted.startsWith('/assets/') ? join(DIST, wanted) : join(DIST, 'index.html');
  const body = await readFile(path);
  response.writeHead(200, { 'content-type': TYPES[extname(path)] ?? 'text/plain', 'content-security-policy': POLICY });
  response.end(body);
}

const server = createServer((request, response) => {
  answer(request, response).catch(() => response.writeHead(404).end());
});
server.listen(Number(process.argv[2] ?? 0), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}`);
});
