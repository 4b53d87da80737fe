#!/usr/bin/env node
/*
 * Goal: a rule is tried on the past month before it is saved, fires, is told to a hook, and is acknowledged by the link of
 * the message without a sign-in. The pages hold the rules that every page holds.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { holdsTheRules, openPage, settle } from './support/rules.mjs';
import { play } from './support/scene.mjs';
import { getJson, until } from './support/server.mjs';

process.env.MIRED_ALERT_EVERY_S = '1';
process.env.MIRED_ALERT_PRIVATE_HOOKS = 'yes';

const run = promisify(execFile);
const got = [];
const hook = createServer((request, response) => {
  let body = '';
  request.on('data', (part) => { body += part; });
  request.on('end', () => {
    got.push(JSON.parse(body));
    response.end('{}');
  });
});
await new Promise((done) => hook.listen(0, '127.0.0.1', done));

await play(async (server, browser) => {
  await server.key('shop');
  const lines = (await readFile(join(server.env.MIRED_DATA_DIR, 'postgres/postmaster.pid'), 'utf8')).split('\n');
  /* A month of two versions; the lag of the newer one doubled yesterday. */
  await run('psql', ['-qX', '-h', lines[4], '-p', lines[3], '-U', 'mire', '-d', 'postgres', '-c', `
    INSERT INTO version (app_id, version, first_seen) SELECT app_id, v, now() FROM app, unnest(ARRAY['8.0.39', '8.0.40']) v WHERE slug = 'shop';
    INSERT INTO session_day SELECT 0, (now() AT TIME ZONE 'UTC')::date - d, app_id, version_id, 'public', 15, n, n, n, n * 600000.0, 0, n, n,
        n * 600000.0, floor(n * rate), floor(n * rate), 0, 0, 0, 0
      FROM version JOIN app USING (app_id), generate_series(0, 29) d,
        LATERAL (SELECT CASE WHEN version = '8.0.40' THEN 9000 ELSE 20000 END AS n,
          CASE WHEN version = '8.0.40' AND d < 2 THEN 0.041 ELSE 0.02 + 0.0008 * sin(d * 7) END AS rate) x
      WHERE slug = 'shop' AND (version = '8.0.39' OR d < 9)`]);

  const { page, complaints } = await openPage(browser);
  await page.goto(`${server.url}/shop/alerts`);
  await settle(page);
  await page.getByText('There is no channel, so nobody is notified.').waitFor();
  await page.getByText('Lag of a version rises').first().waitFor();
  await page.getByLabel('Name of the channel').fill('On-call');
  await page.getByLabel('Address of the hook').fill(`http://127.0.0.1:${hook.address().port}/hook`);
  await page.getByRole('button', { name: 'Add the channel' }).click();
  assert.match(await page.locator('code.secret').textContent(), /^whsec_/);
  await page.getByRole('button', { name: 'Send a test to On-call' }).click();
  await until('the test comes', async () => got.some((one) => one.type === 'mire.alert.test'));

  await page.getByRole('button', { name: 'New rule' }).click();
  await page.getByLabel('Is above (%)').fill('1');
  await page.getByText('It would have fired').waitFor();
  await page.getByLabel('Is above (%)').fill('3');
  await page.getByText('It would have fired 1 time:').waitFor();
  await page.getByRole('img', { name: '8.0.40: the values of the past month; it would have fired 1 time' }).waitFor();
  await page.getByLabel('Is above (%)').fill('9');
  await page.getByText('It would not have fired.').waitFor();
  await page.getByLabel('Is above (%)').fill('3');
  await page.getByLabel('Name', { exact: true }).fill('Lag above 3 %');
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/form.png`, fullPage: true });
  await page.getByRole('button', { name: 'Save the rule' }).click();
  await page.getByRole('rowheader', { name: 'Lag above 3 %' }).waitFor();
  const fired = await until('it is told', async () =>
    got.find((one) => one.type === 'mire.alert.fired' && one.data.rule === 'Lag above 3 %'));
  assert.match(fired.data.verdict, /^Sessions with a hang of 8\.0\.40: 4\.1\d* % \(/);
  await page.reload();
  await settle(page);
  await page.getByText(fired.data.verdict).first().waitFor();

  /* The link of the message, in a browser that knows nobody. Looking acknowledges nothing. */
  const other = await openPage(browser);
  await holdsTheRules(browser, fired.data.ack_url);
  await other.page.goto(fired.data.ack_url);
  await settle(other.page);
  assert.equal((await getJson(`${server.url}/api/v1/apps/shop/alerts`)).open.every((one) => one.acked_at === null), true);
  await other.page.getByRole('button', { name: 'Acknowledge' }).click();
  await other.page.getByText('Acknowledged: it is not repeated.').waitFor();
  assert.deepEqual(other.complaints, []);
  const acked = (await getJson(`${server.url}/api/v1/apps/shop/alerts`)).open.find((one) => one.id === fired.data.alert);
  assert.equal(acked.acked_by, 'link to On-call');

  /* The page of the alert is where the message says. */
  await page.goto(fired.data.url);
  await settle(page);
  assert.match(page.url(), /\/shop\?t=.*v=8\.0\.40/);
  await page.goto(`${server.url}/shop/alerts`);
  await settle(page);
  await page.getByLabel('Snooze Lag above 3 %').selectOption('8 h');
  await page.getByRole('button', { name: 'Wake Lag above 3 %' }).click();
  await page.getByLabel('Snooze Lag above 3 %').waitFor();
  assert.deepEqual(complaints, []);
  await page.close();
  if (process.env.SHOTS)
    for (const colorScheme of ['light', 'dark'])
      for (const width of [1440, 390]) {
        for (const locale of width === 1440 && colorScheme === 'light' ? ['en-GB', 'zh-CN'] : ['en-GB']) {
          const shot = await openPage(browser, { viewport: { width, height: 900 }, colorScheme, locale });
          await shot.page.goto(`${server.url}/shop/alerts`);
          await settle(shot.page);
          await shot.page.screenshot({ path: `${process.env.SHOTS}/alerts-${colorScheme}-${width}-${locale}.png`, fullPage: true });
          await shot.page.getByRole('button', { name: /New rule|新规则/ }).click();
          await shot.page.waitForTimeout(1500);
          await shot.page.screenshot({ path: `${process.env.SHOTS}/form-${colorScheme}-${width}-${locale}.png`, fullPage: true });
          await shot.close();
        }
      }
  await holdsTheRules(browser, `${server.url}/shop/alerts`);
});
hook.close();
