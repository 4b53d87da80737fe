#!/usr/bin/env node
/*
 * Goal: frames left out of a large flame graph are there when asked for: what is left out directly under the root, and
 * under a frame. A zoom into what is here asks for nothing; the address of one that is not loads that part alone, and
 * the way out leads to its callers.
 */
import assert from 'node:assert/strict';
import { wideReport } from './support/generated.mjs';
import { openPage, settle } from './support/rules.mjs';
import { play } from './support/scene.mjs';
import { getJson, send, worked } from './support/server.mjs';

await play(async (server, browser) => {
  const key = await server.key('wide');
  for (const report of wideReport()) await send(server, key, report);
  await worked(server, 'wide', 2);
  const { groups } = await getJson(`${server.url}/api/v1/apps/wide/issues`);
  const id = groups[0].issues[0].id;
  const api = `${server.url}/api/v1/apps/wide/issues/${id}/flame`;
  const [usual, all] = [await getJson(api), await getJson(`${api}?max=200000`)];
  const others = (flame) => flame.name.filter((name) => flame.names[name] === 'other').length;
  assert.ok(all.parent.length > 50_000 && others(all) === 0, 'the server has every frame');
  const rootOther = usual.name.findIndex((name, i) => usual.names[name] === 'other' && usual.parent[i] === 0);
  assert.ok(rootOther > 0, 'the usual graph lacks frames directly under the root');
  const hidden = all.name.findIndex((_, i) => i > 0 && all.parent[all.parent[i]] === 0 && all.value[i] === 1);
  const hiddenName = all.names[all.name[hidden]];
  assert.ok(!usual.hash.includes(all.hash[hidden]));

  const { page, complaints } = await openPage(browser);
  const asked = [];
  page.on('request', (request) => {
    if (request.url().includes('/flame')) asked.push(new URL(request.url()).searchParams.get('root'));
  });
  const tells = (text) =>
    page.waitForFunction((part) => document.getElementById('flame-live')?.textContent.startsWith(part), text);
  const find = async (name) => {
    await page.getByRole('searchbox', { name: 'Search functions' }).fill(name);
    await page.keyboard.press('Enter');
    await tells(name);
    await page.getByRole('application').focus();
  };
  const trail = () => page.locator('.trail [aria-current]').textContent();
  await page.goto(`${server.url}/wide/issues/${id}?tab=flame`);
  await settle(page);

  await find('other');
  await page.keyboard.press('Enter');
  await page.getByText('not found').waitFor();
  assert.deepEqual(asked, [null, all.hash[0]], 'what is left out under the root was asked for once');

  await find(hiddenName);
  await page.keyboard.press('Enter');
  await page.waitForFunction(
    (end) => document.querySelector('.trail [aria-current]').textContent.endsWith(end),
    hiddenName.slice(-8),
  );
  assert.equal(asked.length, 2, 'a zoom into frames that are here asks for nothing');

  const deep = page.url();
  await page.goto('about:blank');
  await page.goto(deep);
  await settle(page);
  await tells(hiddenName);
  assert.deepEqual(asked.slice(2), [null, all.hash[hidden]]);
  assert.ok((await trail()).endsWith(hiddenName.slice(-8)), 'the address alone shows the part');
  await page.getByRole('application').focus();
  await page.keyboard.press('Escape');
  await page.waitForURL((url) => !url.searchParams.has('fz'));
  await tells('all, total');

  const caller = usual.parent[usual.name.findIndex((name, i) => usual.names[name] === 'other' && usual.parent[i] > 0)];
  const zoomed = new URL(page.url());
  zoomed.searchParams.set('fz', Buffer.from(usual.hash[caller], 'hex').toString('base64url'));
  zoomed.searchParams.delete('fs');
  await page.goto(zoomed.href);
  await settle(page);
  await tells(usual.names[usual.name[caller]]);
  assert.equal(asked.at(-1), usual.hash[caller]);
  assert.deepEqual(complaints, []);
});
