#!/usr/bin/env node
/*
 * Goal: what a killed process held is on the page: the suspect category with how many times the healthy median it holds, why, and the
 * function that allocated it; by keyboard, with 817 categories on a small page; compared with another version and another
 * report; over all reports of the issue; as a flame graph by bytes and by count. Baselines make no issue.
 */
import assert from 'node:assert/strict';
import { memoryReport } from './support/generated.mjs';
import { holdsTheRules, openPage, settle } from './support/rules.mjs';
import { play } from './support/scene.mjs';
import { getJson, send, until, vector, worked } from './support/server.mjs';

await play(async (server, browser) => {
  const api = (path) => getJson(`${server.url}/api/v1/apps/mapview${path}`);
  const key = await server.key('mapview');
  for (let i = 0; i < 6; i++) {
    await send(server, key, memoryReport('baseline', 1, { seed: i }));
    await send(server, key, memoryReport('baseline', 1.5, { seed: i, version: '0.9' }));
  }
  await until('baselines are counted', async () => {
    const { reports } = await api('/healthy?v=1.0');
    return reports === 6 && (await api('/overview')).waiting === 0;
  });
  assert.equal((await api('/issues')).total, 0, 'baselines make no issue');
  const killed = memoryReport('foom', 18);
  await send(server, key, killed);
  await send(server, key, memoryReport('foom', 15, { seed: 3 }));
  await send(server, key, memoryReport('pressure', 12));
  await send(server, key, await vector('every-field'));
  await worked(server, 'mapview', 4);

  const { page, complaints } = await openPage(browser);
  await page.goto(`${server.url}/mapview`);
  await settle(page);
  assert.match(await page.locator('main').textContent(), /Out of memory/, 'the overview counts kills');
  await page.keyboard.press('g');
  await page.keyboard.press('m');
  await settle(page);
  assert.match(new URL(page.url()).pathname, /^\/mapview\/memory$/);
  assert.doesNotMatch(await page.locator('main').textContent(), /mapview\+0x1843.*hang/, 'hangs are in the other list');
  const { groups } = await api('/issues?kind=foom');
  const [feature] = groups[0].issues;
  assert.equal(feature.subject, 'Malloc 48.00 KiB');
  assert.equal(feature.reason, 'bytes');
  assert.ok(feature.most_bytes === 18 * 21 * 2 ** 20, feature.most_bytes);
  const above = feature.above_bytes / 2 ** 20;
  assert.ok(above > 280 && above < 360, `${above} MiB above the healthy 21, between the report with 15 and that with 18 times as many`);
  const place = (await api('/issues?by=place&sort=-above&kind=foom,memory')).groups[0].above_bytes / 2 ** 20;
  const list = (await page.locator('table.issues').first().textContent()).replace(/\s/g, ' ');
  assert.ok([Math.floor(place), Math.ceil(place)].some((n) => list.includes(`${n} MiB`)), `${place}: ${list}`);
  const file = await fetch(`${server.url}/api/v1/apps/mapview/issues/${feature.id}/memory?format=csv`);
  assert.match(await file.text(), /^"name","kind"/, 'the categories are a table');

  await page.goto(`${server.url}/mapview/memory/${feature.id}?tab=held&n=${killed.id}`);
  await settle(page);
  const suspects = await page.getByRole('region', { name: 'Suspect categories', exact: true }).textContent();
  assert.match(suspects, /Malloc 48\.00 KiB\s*heap378 MiB8,064.*×18too many bytes/);
  assert.match(suspects, /MapViewController.*×18 \(count\)too many objects/);
  const stacks = page.getByRole('region', { name: 'Stacks of Malloc 48.00 KiB' });
  assert.match(await stacks.textContent(), /80\s%.*302 MiB.*app\+0x40\s*Culprit/);
  const main = await page.locator('main').textContent();
  assert.match(await page.locator('.verdict .said').first().textContent(), /^Median \d.*, ×\d.* the healthy one\. Malloc 48\.00 KiB \+\d.* MiB, by app\+0x40\./);
  assert.match(main, /MiB, ×\d\S* the healthy median\. Malloc 48\.00 KiB \+357 MiB, 80\s% by app\+0x40\./);
  for (const told of ['Killed: out of memory.', 'of 6 baselines of this version and device class', 'All 817 categories'])
    assert.ok(main.includes(told), `the page shows ${told}`);
  assert.ok((await page.evaluate(() => document.querySelectorAll('*').length)) < 2000, 'the page stays small');

  await page.getByRole('button', { name: 'Malloc 48.00 KiB' }).first().focus();
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => new URL(location.href).searchParams.has('c'));
  await page.getByRole('searchbox', { name: 'Search categories' }).fill('vector<300>');
  await page.getByRole('button', { name: 'Class<std::vector<300>>' }).click();
  await page.getByText('No stacks: below the top categories').waitFor();
  await page.goto(`${server.url}/mapview/memory/${feature.id}?tab=held&n=${killed.id}&cmp=v:0.9`);
  await settle(page);
  await page.getByRole('columnheader', { name: 'vs 0.9' }).first().waitFor();
  await page.getByText('×12').first().waitFor();

  await page.getByRole('tab', { name: 'All reports' }).click();
  await settle(page);
  assert.match(await page.getByRole('region', { name: 'Categories over all reports' }).textContent(), /Malloc 48\.00 KiB heap\s*100\s%/);
  await page.goto(`${server.url}/mapview/memory/${feature.id}?tab=flame&c=heap:Malloc%2048.00%20KiB`);
  await settle(page);
  await page.getByRole('button', { name: 'Count', exact: true }).click();
  await page.waitForFunction(() => new URL(location.href).searchParams.get('of') === 'objects');
  await settle(page);
  assert.match(await page.locator('#flame-live').textContent(), /all, total 7,392 \(100\s%\)/, 'one process on average');
  assert.deepEqual(complaints, []);
  const at = `${server.url}/mapview/memory/${feature.id}`;
  for (const url of [`${server.url}/mapview/memory`, `${server.url}/mapview`, `${at}?tab=held`, `${at}?tab=all`, `${at}?tab=flame`, `${at}?tab=reports`])
    await holdsTheRules(browser, url);
});
