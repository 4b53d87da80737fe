#!/usr/bin/env node
/*
 * Goal: the page Versions tells in one look which version is worse, and why; any two versions are compared; the address
 * reproduces the comparison, and Back undoes it. The pages hold the rules that every page holds.
 */
import assert from 'node:assert/strict';
import { reportOf } from './support/generated.mjs';
import { holdsTheRules, openPage, settle } from './support/rules.mjs';
import { play } from './support/scene.mjs';
import { send, sql, worked } from './support/server.mjs';

const DEVICES = 40;

/* Hangs in one function of the version, each of another device. */
async function hangs(server, key, version, offset, devices) {
  for (let n = 0; n < devices; n++) {
    const report = reportOf([{ offsets: [0x10, offset], weight_ms: 3000 }], { version });
    report.device.install = n.toString(16).padStart(32, '0');
    await send(server, key, report);
  }
}

await play(async (server, browser) => {
  const key = await server.key('shop');
  await server.key('empty');
  await hangs(server, key, '8.0.9', 0x100, DEVICES);
  await hangs(server, key, '8.0.10', 0x200, DEVICES);
  await worked(server, 'shop', 2 * DEVICES);
  await sql(server, `
    INSERT INTO session_day SELECT 0, (now() AT TIME ZONE 'UTC')::date - d, app_id, version_id, 'public', 15, n, n, n, n * 600000.0, 0, n, n,
        n * 600000.0, n * rate, n * rate, 0, 0, 0, 0
      FROM version JOIN app USING (app_id), generate_series(0, 9) d,
        LATERAL (SELECT CASE WHEN version = '8.0.10' THEN 9000 ELSE 20000 END AS n, CASE WHEN version = '8.0.10' THEN 0.04 ELSE 0.02 END AS rate) x
      WHERE slug = 'shop' AND (version = '8.0.9' OR d < 4)`);

  const { page, complaints } = await openPage(browser);
  await page.goto(`${server.url}/shop`);
  await settle(page);
  await page.getByRole('link', { name: 'Versions', exact: true }).click();
  await settle(page);
  const rows = page.locator('table.versions tbody tr');
  assert.deepEqual(await rows.locator('th a').allTextContents(), ['8.0.10', '8.0.9'], 'newest first, by the natural order');
  assert.match(await rows.first().textContent(), /worse: Sessions with a hang/);
  assert.match(await rows.first().textContent(), /4\.\d+ %/);
  await page.getByRole('heading', { name: 'Worse (1)' }).waitFor();
  await page.getByRole('heading', { name: 'Better (1)' }).waitFor();
  const worse = page.getByRole('region', { name: 'Worse' });
  assert.match(await worse.textContent(), /new in 8\.0\.10: \d/);
  assert.match(await page.locator('table.compared').textContent(), /\+2\.\d+ pt, worse/);

  await rows.nth(1).locator('th a').click();
  await page.getByText('No earlier version has 1,000 sessions in this range.').waitFor();
  await page.getByLabel('against').selectOption('v:8.0.10');
  await page.getByRole('heading', { name: 'Worse (1)' }).waitFor();
  assert.match(await page.locator('table.compared').textContent(), /−2\.\d+ pt, better/, 'the other way round');
  assert.match(page.url(), /\/shop\/versions\/8\.0\.9\?cmp=v:8\.0\.10$/);
  await page.goBack();
  await page.getByText('No earlier version has 1,000 sessions in this range.').waitFor();
  await page.getByLabel('against').selectOption('range');
  const days = [4, 3].map((ago) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10));
  await page.getByLabel('First day (UTC)').fill(days[0]);
  await page.getByLabel('Last day (UTC)').fill(days[1]);
  await page.getByRole('button', { name: 'Compare' }).click();
  await page.locator('table.compared').waitFor();
  assert.match(await page.locator('table.compared tbody tr').first().textContent(), /Sessions40,000|Sessions40K/, 'two days of 20,000');

  /* One action from the comparison to a resolved issue, and one back. */
  await page.goto(`${server.url}/shop/versions/8.0.10`);
  await page.getByRole('button', { name: 'Resolve in 8.0.10' }).click();
  await page.getByText(/I-\d+ resolved in 8\.0\.10/).first().waitFor();
  await settle(page);
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByRole('button', { name: 'Resolve in 8.0.10' }).waitFor();
  assert.deepEqual(complaints, []);

  for (const path of ['/shop/versions', '/shop/versions/8.0.9?cmp=v:8.0.10', '/shop/versions/8.0.10?cmp=week', '/empty/versions'])
    await holdsTheRules(browser, server.url + path);
});
