#!/usr/bin/env node
/*
 * Goal: a hang that was sent over HTTP is on the page: first the waiting page tells how to send one, then, without a
 * reload, the overview counts it, the list names it, and the issue shows its stack, its length and its version.
 */
import assert from 'node:assert/strict';
import { openPage, settle } from './support/rules.mjs';
import { play } from './support/scene.mjs';
import { getJson, send, vector, worked } from './support/server.mjs';

await play(async (server, browser) => {
  const key = await server.key('mapview');
  const { page, complaints } = await openPage(browser);
  await page.goto(`${server.url}/mapview`);
  await page.getByText('Waiting for the first report').waitFor();
  await page.getByRole('button', { name: 'Linux: run it' }).click();
  assert.match(await page.locator('main pre').textContent(), /mire run --app mapview /);

  const report = await vector('every-field');
  await send(server, key, report);
  await send(server, key, report);
  await page.getByRole('heading', { name: 'Costliest issues' }).waitFor();
  const overview = await worked(server, 'mapview', 1);
  assert.equal(overview.totals.reports, 1, 'a report sent twice counts once');

  await page.keyboard.press('g');
  await page.keyboard.press('i');
  await settle(page);
  const { groups } = await getJson(`${server.url}/api/v1/apps/mapview/issues`);
  const [feature] = groups[0].issues;
  const link = page.locator(`main a:has-text("${feature.id}")`).first();
  await link.click();
  await settle(page);
  assert.match(new URL(page.url()).pathname, new RegExp(`^/mapview/issues/${feature.id}$`));
  assert.ok((await page.locator('h1').textContent()).includes(feature.caller1));
  const main = await page.locator('main').textContent();
  for (const told of ['3.0 s', '8.0.38', 'Culprit', feature.caller1])
    assert.ok(main.includes(told), `the issue shows ${told}`);
  await page.getByRole('tab', { name: 'Raw' }).click();
  await page.getByText(report.id).first().waitFor();
  assert.deepEqual(complaints, []);
});
