#!/usr/bin/env node
/*
 * Goal: a page stays small whatever is behind it: a thousand issues come page by page and j and k walk across pages; a
 * deep stack, a long strip of samples and a wide call tree stay within 2,000 elements too. The keyboard alone leads
 * from the overview to the hottest stack, to the next issue and back.
 */
import assert from 'node:assert/strict';
import { deepReport, reportOf, wideReport } from './support/generated.mjs';
import { openPage, settle } from './support/rules.mjs';
import { play } from './support/scene.mjs';
import { getJson, send, worked } from './support/server.mjs';

const ISSUES = 1000;
const MOST_ELEMENTS = 2000;
await play(async (server, browser) => {
  const key = await server.key('many');
  for (let i = 0; i < ISSUES; i++)
    await send(server, key, reportOf([{ offsets: [0x10, 0x1000 + i * 16], weight_ms: 2000 + i }]));
  const large = await server.key('large');
  for (const report of [...wideReport(), deepReport()]) await send(server, large, report);
  await worked(server, 'many', ISSUES);
  await worked(server, 'large', 3);
  const { issues_total } = await getJson(`${server.url}/api/v1/apps/many/issues`);
  assert.equal(issues_total, ISSUES);

  const { page, complaints } = await openPage(browser);
  const focused = () => page.evaluate(() => document.activeElement?.textContent ?? '');
  const small = async (path) => {
    await page.goto(server.url + path);
    await settle(page);
    const elements = await page.evaluate(() => document.querySelectorAll('*').length);
    assert.ok(elements <= MOST_ELEMENTS, `${path} has ${elements} elements`);
  };
  await small('/many');
  await small('/many/issues?by=category');
  await page.locator('main .fold').first().click();
  await page.waitForFunction(() => document.querySelectorAll('main tr.issue').length > 10);
  assert.ok((await page.evaluate(() => document.querySelectorAll('*').length)) <= MOST_ELEMENTS);
  const { groups } = await getJson(`${server.url}/api/v1/apps/large/issues`);
  for (const feature of groups.flatMap((group) => group.issues))
    for (const tab of ['stack', 'flame', 'tree', 'top', 'reports', 'raw'])
      await small(`/large/issues/${feature.id}?tab=${tab}`);

  await small('/many/issues');
  const rows = await page.locator('main [data-row]').count();
  for (let i = 0; i < rows; i++) await page.keyboard.press('j');
  const last = await focused();
  await page.keyboard.press('j');
  await page.waitForURL(/[?&]after=/);
  await settle(page);
  await page.waitForFunction(
    (text) => document.activeElement?.matches('[data-row]') && document.activeElement.textContent !== text,
    last,
  );
  assert.notEqual(await focused(), last, 'j goes on with the first row of the next page');
  await page.keyboard.press('k');
  await page.waitForURL((url) => !url.searchParams.has('after'));
  await page.waitForFunction((text) => document.activeElement?.textContent === text, last);

  await page.goto(`${server.url}/many`);
  await settle(page);
  for (const letter of ['g', 'i']) await page.keyboard.press(letter);
  await page.waitForURL(/\/many\/issues$/);
  await settle(page);
  for (const letter of ['j', 'o', 'j']) await page.keyboard.press(letter);
  await page.waitForFunction(() => document.activeElement?.matches('a[data-row]'));
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/many\/issues\/I-\d+/);
  await settle(page);
  await page.keyboard.press('1');
  await page.locator('table.stack').waitFor();
  const first = new URL(page.url()).pathname;
  await page.keyboard.press(']');
  await page.waitForURL((url) => url.pathname !== first);
  await page.locator('table.stack').waitFor();
  await page.keyboard.press('[');
  await page.waitForURL((url) => url.pathname === first);
  assert.deepEqual(complaints, []);
});
