#!/usr/bin/env node
/*
 * Goal: with a month of reports behind them, all pages together keep the budgets that are counts: the first load 60 KB of
 * compressed code, any page 150 KB over the wire, 2,000 nodes, a layout that moves by 0.02 at most, JSON that is
 * compressed, 1 KiB in 30 s of a tab at which nobody looks. Going back undoes a drill-down. Times are a bench's.
 */
import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { setTimeout as sleep } from 'node:timers/promises';
import { costOf } from './support/budget.mjs';
import { openPage, settle } from './support/rules.mjs';
import { play } from './support/scene.mjs';
import { getJson, sought, until } from './support/server.mjs';

const KIB = 1024;
const MOVING = ['/-/health', '/fresh']; // figures of this moment, and an app whose first report is waited for
const IDLE_BYTES = KIB; // the request that waits for changes is answered after 50 s, and made again
const CALM_S = 5;
const IDLE_S = 30;

async function pagesOf(server) {
  const at = `${server.url}/api/v1/apps/demo`;
  const { groups } = await getJson(`${at}/issues?t=30d&by=place`);
  const hang = groups[0].issues[0].id;
  const { reports } = await getJson(`${at}/issues/${hang}/reports?t=30d`);
  const { versions } = await getJson(`${at}/versions?t=30d`);
  const model = (await getJson(`${at}/facets?t=30d&by=model`)).values[0].key;
  const ofIssue = ['stack', 'flame', 'tree', 'top', 'reports', 'group', 'activity', 'raw'];
  return [
    '/',
    '/demo?t=30d',
    '/demo/issues?t=30d',
    '/demo/issues?t=30d&by=caller1',
    '/demo/issues?t=30d&by=category',
    `/demo/issues?t=30d&model=${encodeURIComponent(model)}`,
    '/demo/memory?t=30d',
    ...ofIssue.map((tab) => `/demo/issues/${hang}?t=30d&tab=${tab}`),
    `/demo/issues/${hang}?t=30d&n=${reports[0].id}`,
    '/demo/versions?t=30d',
    `/demo/versions/${versions[0].version}?t=30d`,
    '/demo/symbols',
    '/demo/rules',
    '/demo/rollout',
    '/demo/alerts',
    ...['', '/members', '/reports', '/links', '/forget', '/audit'].map((part) => `/demo/settings${part}`),
    '/demo/start',
    '/fresh',
    '/-/new',
    '/-/profile',
    '/-/server',
    '/-/health',
    '/-/audit',
  ];
}

/* The code that the first page names, as it comes over the wire. */
async function initial(url) {
  const text = await (await fetch(url)).text();
  const names = [...text.matchAll(/(?:src|href)="(\/assets\/[^"]+\.(?:js|css))"/g)].map((match) => match[1]);
  assert.ok(names.length >= 2, text);
  const bodies = await Promise.all(names.map(async (name) => Buffer.from(await (await fetch(url + name)).arrayBuffer())));
  return bodies.reduce((sum, body) => sum + gzipSync(body, { level: 9 }).length, 0);
}

function overBudget(path, cost) {
  const told = [];
  if (cost.transferred > 150 * KIB) told.push(`${path}: ${(cost.transferred / KIB).toFixed(0)} KiB: ${cost.largest.join(', ')}`);
  if (cost.nodes > 2000) told.push(`${path}: ${cost.nodes} nodes`);
  if (cost.moved > 0.02) told.push(`${path}: the layout moves by ${cost.moved.toFixed(3)}: ${cost.movers.join('; ')}`);
  for (const { url, mimeType, headers } of cost.answers) {
    const size = Number(headers['content-length'] ?? headers['Content-Length'] ?? 0);
    if (/json/.test(mimeType) && size > 2 * KIB && !headers['content-encoding'] && !headers['Content-Encoding'])
      told.push(`${url}: ${size} bytes are not compressed`);
  }
  return told;
}

await play(async (server, browser) => {
  await server.mire('seed', 'demo', '--reports', '4000', '--days', '30', '--data-dir', server.env.MIRED_DATA_DIR);
  await server.key('fresh');
  await until('the month is worked on', async () => {
    const { waiting, totals } = await getJson(`${server.url}/api/v1/apps/demo/overview?t=30d`);
    return waiting === 0 && totals.reports > 0;
  });
  await sought(server, 'demo');
  const { groups } = await getJson(`${server.url}/api/v1/apps/demo/issues?t=30d`);
  const hang = groups[0].issues[0].id;
  const first = await initial(server.url);
  const over = first > 60 * KIB ? [`the first load: ${(first / KIB).toFixed(1)} KiB`] : [];

  const tabs = [];
  for (const path of await pagesOf(server)) {
    const cost = await costOf(browser, server.url + path, settle);
    console.log(`${path}: ${(cost.transferred / KIB).toFixed(0)} KiB, ${cost.nodes} nodes, ${cost.moved.toFixed(3)}`);
    over.push(...overBudget(path, cost));
    tabs.push({ path, cost });
  }
  await sleep(CALM_S * 1000); // the connection by which a tab is told of changes is taken after its first answers
  const idle = tabs.map((tab) => ({ ...tab, before: tab.cost.total(), requests: tab.cost.requests() }));
  await sleep(IDLE_S * 1000);
  for (const { path, cost, before, requests } of idle) {
    const more = MOVING.includes(path) ? 0 : cost.total() - before;
    if (more > IDLE_BYTES) over.push(`${path}: ${more} bytes in ${cost.requests() - requests} requests of an idle tab`);
    await cost.close();
  }
  assert.deepEqual(over, []);

  const { page, complaints, close } = await openPage(browser);
  const ways = [
    ['/demo?t=30d', 'table a', 'a version, a kind or an issue of the Overview'],
    ['/demo/issues?t=30d', 'table.issues tbody a', 'an issue of the list'],
    [`/demo/issues/${hang}?t=30d&tab=stack`, '.shares th a', 'a value of an issue'],
  ];
  for (const [path, link, what] of ways) {
    await page.goto(server.url + path);
    await settle(page);
    const before = page.url();
    await page.locator(`main ${link}`).first().click();
    await page.waitForURL((url) => url.href !== before);
    await page.goBack();
    await page.waitForURL(before);
    await settle(page);
    assert.equal(page.url(), before, `Back undoes ${what}`);
  }
  assert.deepEqual(complaints, []);
  await close();
});
