#!/usr/bin/env node
/*
 * Goal: the server has the user documentation, in English and, where it is translated, in Chinese. Its pages hold the rules
 * of every page, lead to each other, and are searched without any other server.
 */
import assert from 'node:assert/strict';
import { holdsTheRules, openPage } from './support/rules.mjs';
import { play } from './support/scene.mjs';

await play(async (server, browser) => {
  const { page, complaints } = await openPage(browser);
  const asked = [];
  page.on('request', (request) => asked.push(request.url()));

  await page.goto(server.url);
  await page.getByRole('link', { name: 'Documentation' }).click();
  await page.getByRole('heading', { name: 'Getting started', level: 1 }).waitFor();
  assert.equal(new URL(page.url()).pathname, '/docs/');

  /* Every page of the menu is there, and every link in it leads to a page, or to a heading that is there. */
  const hrefs = () => page.locator('a').evaluateAll((all) => all.map((a) => a.href));
  const here = (await hrefs()).filter((href) => href.includes('/docs/')).map((href) => href.split('#')[0]);
  await page.goto(`${server.url}/docs/zh/`);
  const chinese = (await hrefs()).filter((href) => href.includes('/docs/zh/')).map((href) => href.split('#')[0]);
  assert.ok(new Set(chinese).size >= 10, `${new Set(chinese).size} Chinese pages`);
  const pages = [...new Set([...here, ...chinese])];
  assert.ok(pages.length > 25, `${pages.length} pages`);
  const anchors = new Map();
  const wanted = [];
  for (const address of pages) {
    await page.goto(address);
    assert.equal(await page.locator('article h1').count(), 1, address);
    anchors.set(address, await page.locator('article [id]').evaluateAll((all) => all.map((one) => one.id)));
    for (const href of await hrefs())
      if (href.includes('/docs/') && href.includes('#')) wanted.push([address, ...href.split('#')]);
  }
  for (const [from, to, anchor] of wanted)
    if (anchor !== 'content') assert.ok(anchors.get(to)?.includes(decodeURIComponent(anchor)), `${from}: ${to}#${anchor}`);

  /* The search. */
  await page.goto(`${server.url}/docs/`);
  assert.ok(!asked.some((url) => url.endsWith('search.json')), 'the index is not asked for before the first word');
  await page.keyboard.press('/');
  await page.keyboard.type('quiet hours');
  const found = page.locator('#found li a');
  await found.first().waitFor();
  assert.match(await found.first().textContent(), /Alerts/);
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/docs\/alerts#/);
  await page.getByRole('searchbox').fill('xyzzy');
  await page.getByText('0 for “xyzzy”').waitFor();
  await page.getByRole('searchbox').fill('<img src=x onerror=alert(1)>');
  await page.getByText('0 for “<img src=x onerror=alert(1)>”').waitFor();

  /* Chinese. */
  await page.goto(`${server.url}/docs/on-call`);
  await page.getByRole('link', { name: '中文' }).click();
  await page.getByRole('heading', { name: '如何阅读一次卡顿' }).waitFor();
  await page.getByRole('searchbox').fill('持有者');
  await found.first().waitFor();
  assert.match(await found.first().textContent(), /如何阅读一次卡顿/);
  await page.goto(`${server.url}/docs/zh`);
  await page.getByRole('heading', { name: '快速上手', level: 1 }).waitFor();
  assert.match(await page.locator('nav').textContent(), /设备上的存储 \(英文\)/);

  assert.deepEqual(complaints, []);
  assert.deepEqual([...new Set(asked.map((url) => new URL(url).origin))], [server.url]);
  assert.equal((await fetch(`${server.url}/docs/none`)).status, 404);
  assert.equal((await fetch(`${server.url}/docs/..%2findex`)).status, 400);

  for (const path of ['/docs/', '/docs/alerts', '/docs/symbols', '/docs/zh/on-call'])
    await holdsTheRules(browser, server.url + path);
});
