#!/usr/bin/env node
/*
 * Goal: a share is changed on the page in one place, with the difference and a reason, and devices get it; the kill switch
 * needs the app's name; a ramp begins, is paused, and goes back; every version can be gone back to; one device is explained.
 */
import assert from 'node:assert/strict';
import { holdsTheRules, openPage, settle } from './support/rules.mjs';
import { play } from './support/scene.mjs';
import { getJson, sql } from './support/server.mjs';

await play(async (server, browser) => {
  const key = await server.key('shop');
  const device = async (query = '') => {
    const answer = await fetch(`${server.url}/api/v1/rollout?install=${'0'.repeat(32)}${query}`, { headers: { authorization: `Bearer ${key}` } });
    assert.equal(answer.status, 200);
    return answer.json();
  };
  await sql(server, `
    INSERT INTO version (app_id, version, first_seen) SELECT app_id, '1.0', now() FROM app WHERE slug = 'shop';
    INSERT INTO session_day SELECT 0, (now() AT TIME ZONE 'UTC')::date - d, app_id, version_id, 'public', p, n, n, n, n * 600000.0, n * 100, n, n,
        n * 600000.0, 0, 0, 0, 0, 0, 0
      FROM version JOIN app USING (app_id), generate_series(0, 5) d, (VALUES (8, 9800), (9, 200)) x (p, n) WHERE slug = 'shop'`);

  const { page, complaints } = await openPage(browser);
  const submit = async (name, reason) => {
    const form = page.locator('form', { has: page.getByRole('button', { name, exact: true }) });
    await form.getByLabel('Author').fill('kim');
    await form.getByLabel('Reason').fill(reason);
    await form.getByRole('button', { name, exact: true }).click();
  };
  await page.goto(`${server.url}/shop/rollout`);
  await settle(page);
  await page.getByText('the default; nobody has changed it').waitFor();
  assert.match(await page.locator('table.answered').textContent(), /public20K.*2\s%/, 'two of a hundred run it');

  await page.getByLabel('Share of Hangs in the rule public, percent').fill('5');
  await page.getByText('Hangs: 2 → 5 % in the rule public').waitFor();
  await submit('Make the change', 'more samples of 1.0');
  await page.getByText('version 1', { exact: true }).waitFor();
  assert.equal((await device()).plugins.hang.ppm, 50_000);
  await page.getByText('more samples of 1.0').waitFor();

  await page.getByLabel('Share of Memory in the rule public, percent').fill('lots');
  await page.getByText('A share is a number from 0 to 100.').waitFor();
  await page.getByLabel('Share of Memory in the rule public, percent').fill('1');

  await page.getByRole('button', { name: 'Begin a ramp' }).click();
  await page.getByLabel('Steps, percent').fill('10, 50');
  await submit('Begin the ramp', 'to all');
  await page.getByRole('button', { name: 'Pause' }).waitFor();
  assert.equal((await device()).plugins.hang.ppm, 100_000);
  await page.getByText('200 session records with it, 9,800 without, since the step began').waitFor();
  await page.getByRole('button', { name: 'Back to the share before' }).click();
  await submit('Back to the share before', 'too early');
  await page.getByText('stopped', { exact: true }).waitFor();
  assert.equal((await device()).plugins.hang.ppm, 50_000);

  await page.getByLabel('Installation', { exact: true }).fill('0'.repeat(32));
  await page.getByText(/position 0\.\d{3} of 1; the rule public switches on all below 0\.050/).first().waitFor();
  await page.getByLabel('Channel', { exact: true }).fill('gray');
  await page.getByText(/on: position 0\.\d{3} of 1; the rule inside switches on all below 1\.000/).first().waitFor();

  await page.getByText('Stop everything').first().click();
  await page.getByLabel('Name of the app').fill('shoop');
  await submit('Stop everything', 'crashes at start');
  assert.equal((await device()).kill, false, 'not by another name');
  await page.getByLabel('Name of the app').fill('shop');
  await page.getByRole('button', { name: 'Stop everything', exact: true }).click();
  await page.getByText('Everything is off on all devices.').first().waitFor();
  assert.equal((await device()).kill, true);
  await holdsTheRules(browser, `${server.url}/shop/rollout`);

  await page.getByRole('button', { name: 'Back to version 3' }).click();
  const back = page.getByRole('region', { name: 'Back to version 3' });
  await back.getByLabel('Author').fill('kim');
  await back.getByLabel('Reason').fill('it was the network');
  await back.getByRole('button', { name: 'Restore this version' }).click();
  await page.getByText('version 5', { exact: true }).waitFor();
  assert.deepEqual([(await device()).kill, (await device()).plugins.hang.ppm], [false, 50_000]);
  const { history } = await getJson(`${server.url}/api/v1/apps/shop/rollout`);
  assert.deepEqual(history.map((one) => one.reason).slice(0, 2), ['it was the network', 'crashes at start']);
  assert.deepEqual(complaints, []);
  await holdsTheRules(browser, `${server.url}/shop/rollout`);
});
