#!/usr/bin/env node
/*
 * Goal: without the server's shell somebody makes an app and its key on the page, sends the lines that the page shows, and
 * sees each arrival tick by itself; the link beside the report leads to its issue. A slug twice is refused, and says why.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { holdsTheRules, openPage, settle } from './support/rules.mjs';
import { play } from './support/scene.mjs';
import { getJson, send, sessionVector } from './support/server.mjs';

await play(async (server, browser) => {
  const { page, complaints } = await openPage(browser);
  await page.goto(server.url);
  await page.getByRole('textbox', { name: 'Name' }).fill('Käse & Shop');
  assert.equal(await page.getByLabel('In addresses').inputValue(), 'ka-se-shop');
  await page.getByLabel('In addresses').fill('shop');
  await page.getByRole('button', { name: 'Make the app and a key' }).click();
  const secret = await page.locator('code.secret').textContent();
  assert.match(secret, /^mk_[a-z2-7]{40}$/);
  assert.equal(new URL(page.url()).pathname, '/shop/start');
  assert.ok(!page.url().includes(secret), 'the key is in no address');

  for (const name of ['Android', 'iOS', 'Linux: link it', 'Linux: run it', 'CMake', 'curl: a test report']) {
    await page.getByRole('button', { name, exact: true }).click();
    assert.ok((await page.locator('main pre').textContent()).includes(secret), `${name} has the key`);
  }
  const ticks = page.locator('.ticks li.done');
  assert.equal(await ticks.count(), 0);
  execFileSync('bash', ['-c', await page.locator('main pre').textContent()], { timeout: 60_000 });
  await ticks.getByText('Report', { exact: true }).waitFor();
  await ticks.getByText('Contact', { exact: true }).waitFor();

  await send(server, secret, await sessionVector('every-field'));
  await ticks.getByText('Session', { exact: true }).waitFor();
  const start = await getJson(`${server.url}/api/v1/apps/shop/start`);
  assert.match(start.install, /^[0-9a-f]{32}$/);

  await page.getByRole('link', { name: 'Open the issue' }).click();
  await settle(page);
  await page.getByText('Checkout.pay').first().waitFor();
  assert.deepEqual(complaints, []);

  // The page itself sends one, and makes the key for it.
  await page.goto(`${server.url}/-/new`);
  await page.getByRole('textbox', { name: 'Name' }).fill('Second');
  await page.getByRole('button', { name: 'Make the app and a key' }).click();
  await page.waitForURL(`${server.url}/second/start`);
  await page.reload(); // the key is gone from the tab
  await page.getByRole('button', { name: 'Send a test hang' }).click();
  await page.locator('.ticks li.done').getByText('Report', { exact: true }).waitFor();
  await page.getByRole('link', { name: 'Open the issue' }).click();
  await page.getByText('Checkout.pay').first().waitFor();
  assert.deepEqual(complaints, []);

  const again = await fetch(`${server.url}/api/v1/apps`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-mire-change': '1' },
    body: JSON.stringify({ slug: 'shop' }),
  });
  assert.equal(again.status, 409, await again.text());
  const wrong = await fetch(`${server.url}/api/v1/apps`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-mire-change': '1' },
    body: JSON.stringify({ slug: '-/../x' }),
  });
  assert.equal(wrong.status, 422, await wrong.text());
  for (const path of ['/-/new', '/shop/start']) await holdsTheRules(browser, server.url + path);
});
