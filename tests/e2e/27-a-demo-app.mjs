#!/usr/bin/env node
/*
 * Goal: one button on a server without apps leads to a month of invented reports, which shows a change. Nothing in that app
 * can be changed, on the page or by the API, and one button removes it with all its rows. A second one may follow.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { holdsTheRules, openPage, settle } from './support/rules.mjs';
import { play } from './support/scene.mjs';
import { getJson, until } from './support/server.mjs';

/* What psql prints of the server's private PostgreSQL. */
async function sql(server, statement) {
  const socket = readFileSync(join(server.env.MIRED_DATA_DIR, 'postgres/postmaster.pid'), 'utf8').split('\n')[4];
  return execFileSync('psql', ['-h', socket, '-U', 'mire', '-d', 'postgres', '-Atc', statement]).toString().trim();
}

/* The list, an issue of it with all its reports, and one report, which is compared with healthy processes; as the API has them. */
async function theMemoryPages(server, page) {
  const api = (path) => getJson(`${server.url}/api/v1/apps/demo${path}`);
  const list = await api('/issues?t=30d&kind=foom,memory&by=place&sort=auto');
  assert.equal(list.groups[0].issues[0].caller1, 'thumbnail_cache_put', 'the leak that is new comes first');
  const above = list.groups.slice(1).map((group) => group.above_bytes);
  assert.ok(above.length > 2, 'older leaks follow');
  assert.deepEqual(above, [...above].sort((a, b) => b - a), 'by bytes above healthy');
  const kill = list.groups[0].issues.find((issue) => issue.category === 'foom');
  await page.goto(`${server.url}/demo/memory?t=30d`);
  await settle(page);
  assert.equal(await page.locator('table.issues').first().getByText(/M-\d+/).count(), list.groups.length);
  await page.getByText('thumbnail_cache_put').first().waitFor();

  const path = `/demo/memory/${kill.id}?t=30d`;
  const { reports, healthy } = await api(`/issues/${kill.id}/memory?t=30d`);
  assert.ok(reports === kill.totals.reports && healthy.reports > 20, `${reports} reports, ${healthy.reports} baselines`);
  await page.goto(`${server.url}${path}&tab=all`);
  await page.getByText(`by ${healthy.reports} baselines`).waitFor();
  await page.goto(`${server.url}${path}&tab=held`);
  await page.getByText('Killed: out of memory.').waitFor();
  await page.getByText(/of \d+ baselines of/).waitFor();
  const stacks = await page.getByRole('region', { name: 'Stacks of Bitmap' }).textContent();
  assert.match(stacks, /(9\d|100)\s%.*thumbnail_cache_put\s*Culprit/);
  for (const [tab, link] of [
    ['held', 'a[href*="/memory?"][href*="format=csv"]'],
    ['flame', 'a[href*="format=pprof"]'],
  ]) {
    await page.goto(`${server.url}${path}&tab=${tab}`);
    if (tab === 'flame') await page.getByText('Width = bytes').waitFor();
    const href = await page.locator(link).first().getAttribute('href');
    const file = Buffer.from(await (await fetch(new URL(href, server.url))).arrayBuffer());
    assert.ok(tab === 'held' ? file.includes('"Bitmap","object"') : file.length > 400, `${href}: ${file.length} bytes`);
  }
}

await play(async (server, browser) => {
  const { page, complaints } = await openPage(browser);
  const change = (method, path, body) =>
    fetch(`${server.url}/api/v1${path}`, {
      method,
      headers: { 'content-type': 'application/json', 'x-mire-change': '1' },
      body: body && JSON.stringify(body),
    });

  await page.goto(server.url);
  await page.getByRole('button', { name: 'Show me the demo app' }).click();
  await page.waitForURL(`${server.url}/demo?t=30d`);
  await page.getByText('This is the demo app').waitFor();
  await until('all is worked on', async () => (await getJson(`${server.url}/api/v1/apps/demo/overview?t=30d`)).waiting === 0);
  const { issues } = await getJson(`${server.url}/api/v1/apps/demo/changes?t=30d`);
  assert.match(JSON.stringify(issues[0]), /decode_thumbnails/, 'the planted hang is the first change');
  assert.ok(issues.some(({ issue, verdict }) => issue.subject === 'Bitmap' && /new|worse/.test(verdict)), 'the planted leak is a change');
  await page.reload();
  await settle(page);
  await page.getByText('decode_thumbnails').first().waitFor();
  assert.equal(await page.getByRole('link', { name: 'Settings' }).count(), 0, 'it is not offered');

  await theMemoryPages(server, page);

  // Nothing is offered that would be refused, and everything that is tried is refused.
  await page.goto(`${server.url}/demo/issues/${issues[0].issue.id}?t=30d`);
  await settle(page);
  assert.equal(await page.getByRole('button', { name: /^Resolve/ }).count(), 0);
  const id = issues[0].issue.id;
  const tries = [
    ['POST', '/apps/demo/triage', { issues: [id], state: 'resolved' }],
    ['POST', `/apps/demo/issues/${id}/comments`, { text: 'x' }],
    ['POST', '/apps/demo/keys', { scope: 'ingest', label: 'x', days: 0 }],
    ['POST', '/apps/demo/alerts/channels', { kind: 'slack', name: 'x', target: 'https://hooks.example/x' }],
    ['PUT', '/apps/demo/rules', { author: 'x', reason: 'x', base: 0, rules: 'version 1\n' }],
    ['POST', '/apps/demo/rekey', { preview: false }],
    ['PUT', '/apps/demo/tracker', { kind: 'github', address: 'https://api.example', project: 'a/b', token: 'x' }],
  ];
  for (const [method, path, body] of tries) {
    const answer = await change(method, path, body);
    const text = await answer.text();
    assert.deepEqual([answer.status, text.includes('demo.read_only')], [403, true], `${method} ${path}: ${text}`);
  }

  // A second one is the same, and removing it leaves nothing.
  assert.deepEqual(await (await change('POST', '/demo')).json(), { slug: 'demo' });
  assert.equal((await getJson(`${server.url}/api/v1/apps`)).apps.length, 1);
  for (const path of ['/demo?t=30d', '/-/new']) await holdsTheRules(browser, server.url + path);
  await page.goto(`${server.url}/demo?t=30d`);
  await page.getByRole('button', { name: 'Remove the demo app' }).click();
  await page.waitForURL(`${server.url}/`);
  await page.getByRole('textbox', { name: 'Name' }).waitFor();
  assert.deepEqual((await getJson(`${server.url}/api/v1/apps`)).apps, []);
  assert.equal((await change('DELETE', '/demo')).status, 404);
  for (const table of ['event', 'event_stack', 'report', 'session', 'issue', 'inbox'])
    await until(`${table} is empty`, async () => (await sql(server, `SELECT count(*) FROM ${table}`)) === '0');

  // Its number is not given out again; another demo is whole.
  await page.getByRole('button', { name: 'Show me the demo app' }).click();
  await page.waitForURL(`${server.url}/demo?t=30d`);
  assert.equal(await sql(server, 'SELECT app_id FROM app'), '2');
  await until('all is worked on', async () => (await getJson(`${server.url}/api/v1/apps/demo/overview?t=30d`)).waiting === 0);
  assert.match(JSON.stringify(await getJson(`${server.url}/api/v1/apps/demo/changes?t=30d`)), /decode_thumbnails/);
  assert.deepEqual(complaints, []);
});
