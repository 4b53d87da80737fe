#!/usr/bin/env node
/*
 * Goal: the flame graph can be read without a pointer: arrow keys walk it and each frame is told, Enter zooms into the
 * address, Backspace and Escape lead out again, search finds, and the call tree has the same frame selected.
 */
import assert from 'node:assert/strict';
import { openPage, settle } from './support/rules.mjs';
import { play } from './support/scene.mjs';
import { getJson, send, vector, worked } from './support/server.mjs';

await play(async (server, browser) => {
  const key = await server.key('mapview');
  await send(server, key, await vector('every-field'));
  await worked(server, 'mapview', 1);
  const { groups } = await getJson(`${server.url}/api/v1/apps/mapview/issues`);
  const id = groups[0].issues[0].id;
  const flame = await getJson(`${server.url}/api/v1/apps/mapview/issues/${id}/flame`);
  const child = flame.parent.indexOf(0);
  const name = flame.names[flame.name[child]];

  const { page, complaints } = await openPage(browser);
  await page.goto(`${server.url}/mapview/issues/${id}?tab=flame`);
  await settle(page);
  const told = () => page.locator('#flame-live').textContent();
  const tells = (text) =>
    page.waitForFunction((part) => document.getElementById('flame-live').textContent.startsWith(part), text);
  await page.getByRole('application').focus();
  await page.keyboard.press('ArrowDown');
  await tells('all, total');
  await page.keyboard.press('ArrowDown');
  await tells(name);
  assert.match(await told(), /total .+ \(\d+\s%\), self /);

  await page.keyboard.press('Enter');
  await page.waitForURL(/[?&]fz=[\w-]{11}(&|$)/);
  const zoomed = page.url();
  await page.goto('about:blank');
  await page.goto(zoomed);
  await settle(page);
  assert.equal((await page.locator('.trail [aria-current]').textContent()).slice(-8), name.slice(-8));
  await page.getByRole('application').focus();
  await page.keyboard.press('Backspace');
  await page.waitForURL((url) => !url.searchParams.has('fz'));

  await page.keyboard.press('f');
  await page.keyboard.type(name);
  await page.getByText(/\d+ frames?, \d+\s% of all/).waitFor();
  await page.keyboard.press('Enter');
  await tells(name);
  await page.getByRole('tab', { name: 'Call tree' }).click();
  const row = page.locator('tr[aria-selected="true"]');
  await row.waitFor();
  assert.ok((await row.textContent()).includes(name), 'the tree selects what the graph selected');
  await row.focus();
  await page.keyboard.press('Home');
  await page.waitForFunction(() => document.activeElement?.getAttribute('aria-level') === '1');
  assert.deepEqual(complaints, []);
});
