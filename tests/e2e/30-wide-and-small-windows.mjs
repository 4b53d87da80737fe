#!/usr/bin/env node
/*
 * Goal: a wide window has the list beside the issue, a phone has the filters in a sheet. Neither is part of an address.
 * Both are used by keyboard, hold the rules of every page and keep its budget.
 */
import assert from 'node:assert/strict';
import { costOf } from './support/budget.mjs';
import { reportOf } from './support/generated.mjs';
import { holdsTheRules, openPage, settle } from './support/rules.mjs';
import { play } from './support/scene.mjs';
import { getJson, send, worked } from './support/server.mjs';

const WIDE = { viewport: { width: 1760, height: 900 } };
const PHONE = { viewport: { width: 390, height: 844 } };
const ISSUES = 45;

const box = async (page, selector) => page.locator(selector).first().boundingBox();
const pathOf = (page) => new URL(page.url()).pathname;

async function threePanes(browser, server, ids) {
  const { page, complaints, close } = await openPage(browser, WIDE);
  await page.goto(`${server.url}/shop/issues?sort=-events`);
  await settle(page);
  assert.equal(await page.locator('.pane').count(), 0, 'the list has the page for itself');
  await page.locator('table.issues a[data-row]').nth(2).click();
  await page.locator('.pane a[aria-current="page"]').waitFor();
  await settle(page);
  assert.equal(pathOf(page), `/shop/issues/${ids[2]}`);
  assert.doesNotMatch(page.url(), /sort/, 'the address is that of an issue');
  const shown = await page.locator('.pane .id').allTextContents();
  assert.deepEqual(shown, ids.slice(0, shown.length), 'the order of the list that the issue was opened from');
  const [list, issue, side] = [await box(page, '.pane'), await box(page, '.detail-main'), await box(page, '.detail-side')];
  assert.ok(list.x + list.width <= issue.x && issue.x + issue.width <= side.x, 'list, issue, side');

  await page.locator('.pane a[aria-current="page"]').focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/shop/issues/${ids[3]}?*`);
  await page.locator('.pane a[aria-current="page"]', { hasText: ids[3] }).waitFor();
  await page.keyboard.press('Tab');
  assert.ok((await page.evaluate(() => document.activeElement.textContent)).startsWith(ids[3]), 'Tab comes to the marked row');
  await page.keyboard.press('Escape');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'main');
  await settle(page); // the way to the neighbours is in the head of the issue
  await page.keyboard.press('[');
  await page.waitForURL(`**/shop/issues/${ids[2]}?*`);
  await page.locator('.pane a[aria-current="page"]', { hasText: ids[2] }).waitFor();
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.waitForFunction(() => !document.querySelector('.pane'));
  assert.deepEqual(complaints, []);
  await close();
}

async function sheet(browser, server) {
  const { page, complaints, close } = await openPage(browser, PHONE);
  await page.goto(`${server.url}/shop/issues`);
  await settle(page);
  const address = page.url();
  const opener = page.getByRole('button', { name: 'Filters' });
  await opener.focus();
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Filters' });
  await dialog.waitFor();
  assert.equal(page.url(), address, 'an open sheet is not in the address');
  const { y, height } = await dialog.boundingBox();
  assert.ok(Math.abs(y + height - PHONE.viewport.height) <= 1, 'it comes from below');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
  assert.ok(await opener.evaluate((button) => button === document.activeElement), 'the focus is where it was');

  await page.keyboard.press('/');
  await dialog.waitFor();
  await dialog.locator('summary', { hasText: 'Version' }).click();
  await dialog.locator('.facet').first().click();
  await page.waitForURL(/[?&]v=/);
  await dialog.getByRole('searchbox').fill('app');
  await page.keyboard.press('Enter');
  await page.waitForURL(/[?&]q=app/);
  await dialog.waitFor({ state: 'hidden' });
  await settle(page);
  assert.equal(await page.locator('.filters > .chip').count(), 2, 'filters are seen while the sheet is closed');
  const trend = await box(page, 'table.issues tbody .trend');
  assert.ok(trend.width > 0, 'a card has the trend');

  await page.locator('table.issues a[data-row]').first().click();
  await page.locator('.row.states').waitFor();
  const actions = await box(page, '.row.states');
  assert.ok(actions.y + actions.height >= PHONE.viewport.height - 1, 'actions are at the thumb');
  await page.getByRole('button', { name: 'Ignore' }).click();
  const menu = await box(page, '#ignore-menu');
  assert.ok(menu.y >= 0 && menu.y + menu.height <= PHONE.viewport.height, 'a menu of theirs is inside the window');
  assert.deepEqual(complaints, []);
  await close();
}

const openSheet = async (page) => {
  await page.setViewportSize(PHONE.viewport);
  await page.getByRole('button', { name: /^(Filters|筛选)/ }).click();
  await page.locator('dialog.from-below[open] summary').nth(1).click();
};

await play(async (server, browser) => {
  const key = await server.key('shop');
  for (let n = 1; n <= ISSUES; n++)
    await send(server, key, reportOf([{ offsets: [0x100 * n, 0x100 * n + 0x10], weight_ms: 2000 }]));
  await worked(server, 'shop', ISSUES);
  const { groups } = await getJson(`${server.url}/api/v1/apps/shop/issues?by=place&sort=-events`);
  const ids = groups.map((group) => group.issues[0].id);

  await threePanes(browser, server, ids);
  await sheet(browser, server);

  const issue = `${server.url}/shop/issues/${ids[0]}?tab=stack`;
  const cost = await costOf(browser, issue, settle, WIDE);
  assert.ok(cost.transferred <= 135 * 1024, `${cost.transferred} bytes: ${cost.largest.join(', ')}`);
  assert.ok(cost.nodes <= 2000, `${cost.nodes} nodes`);
  assert.ok(cost.moved <= 0.02, `the layout moves by ${cost.moved}: ${cost.movers.join('; ')}`);
  await cost.close();
  for (const locale of ['en', 'zh-CN']) {
    await holdsTheRules(browser, issue, { ...WIDE, locale });
    await holdsTheRules(browser, `${server.url}/shop/issues`, { ...PHONE, locale, act: openSheet });
  }
});
