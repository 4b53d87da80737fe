#!/usr/bin/env node
/*
 * Goal: the page Health says in both languages how the server is, with the next step for all that is wrong, and holds the rules of all
 * pages in both themes. No finding of a server in trouble is left in English on the Chinese page.
 */
import assert from 'node:assert/strict';
import { holdsTheRules, openPage, settle } from './support/rules.mjs';
import { play } from './support/scene.mjs';
import { sql } from './support/server.mjs';

const CHINESE = /[\u4e00-\u9fff]/;

await play(async (server, browser) => {
  await server.key('shop');
  const url = `${server.url}/-/health`;
  const { page, complaints, close } = await openPage(browser);
  await page.goto(url);
  await settle(page);
  assert.equal(await page.getByRole('link', { name: 'Health' }).getAttribute('aria-current'), 'page');
  const row = page.locator('tr', { has: page.getByRole('rowheader', { name: 'inbox', exact: true }) });
  assert.match(await row.textContent(), /well0 reports wait, the oldest for 0 s; 0 failed before/);

  const today = "(now() AT TIME ZONE 'UTC')::date";
  await sql(server, `INSERT INTO door_day (slot, day, app_id, outcome, reports, bytes) VALUES (0, ${today}, 1, 'too_often', 4000, 1)`);
  await sql(server, `INSERT INTO inbox (slot, day, report_id, app_id, queued_at, not_before)
    VALUES (1, ${today}, gen_random_uuid(), 1, now() - interval '1 hour', 'infinity')`);
  await sql(server, `INSERT INTO dead_letter (slot, day, report_id, app_id, stage, reason) VALUES (1, ${today}, gen_random_uuid(), 1, 'decode', 'test')`);
  await page.reload();
  await settle(page);
  const first = page.locator('tbody tr').first();
  assert.match(await first.textContent(), /^inboxact now1 reports wait.*is a mired serve or work running\?/);
  assert.match(await page.getByRole('region', { name: /flood/ }).last().textContent(), /shop.*4,000/);
  assert.deepEqual(complaints, []);
  await close();

  for (const locale of ['en-GB', 'zh-CN']) await holdsTheRules(browser, url, { isMoving: true, locale });
  const other = await openPage(browser, { locale: 'zh-CN' });
  await other.page.goto(url);
  await settle(other.page);
  const rows = await other.page.locator('section').first().locator('tbody tr').evaluateAll((all) =>
    all.map((one) => [...one.cells].map((cell) => cell.textContent)),
  );
  assert.ok(rows.length > 15);
  for (const [about, , found, next] of rows) {
    assert.ok(CHINESE.test(about) || ['public_url', 'data_dir'].includes(about), about);
    assert.ok(CHINESE.test(found) || /^(\d+|PostgreSQL.*)$/.test(found), found);
    assert.ok(CHINESE.test(next) || next === '–', next);
  }
  await other.close();
});
