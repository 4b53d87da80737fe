#!/usr/bin/env node
/*
 * Goal: an admin sets the rules of owners and the goals of an app on its pages; a wrong rule is refused with its line. The
 * goal is on the tile and below the chart. A version has one colour, whatever the range, the filter and the page; the bucket
 * under the pointer tells its values.
 */
import assert from 'node:assert/strict';
import { openPage, settle } from './support/rules.mjs';
import { play } from './support/scene.mjs';
import { getJson, until } from './support/server.mjs';

/* The classes of the legend's keys by their version. */
const colours = (page) =>
  page.locator('.legend .key').evaluateAll((keys) =>
    Object.fromEntries(
      keys.flatMap((key) => {
        const version = /^\d+\.\d+\.\d+/.exec(key.textContent.trim());
        return version ? [[version[0], /\bs\d\b/.exec(key.className)[0]]] : [];
      }),
    ),
  );

await play(async (server, browser) => {
  await server.mire('seed', 'demo', '--reports', '4000', '--data-dir', server.env.MIRED_DATA_DIR);
  const api = `${server.url}/api/v1/apps/demo`;
  await until('the month is worked on', async () => (await getJson(`${api}/overview?t=30d`)).waiting === 0);
  const { page, complaints } = await openPage(browser);

  await page.goto(`${server.url}/demo/settings/members`);
  const owners = page.getByRole('region', { name: 'Owners' });
  const rules = '# the shop\n*.c @kim\nfunction:decode_* @lee\n';
  await owners.getByRole('textbox').fill(`${rules}!x @kim`);
  await owners.getByRole('button', { name: 'Save' }).click();
  await owners.getByText(/Line 4 of the owners/).waitFor();
  assert.equal((await getJson(`${api}/settings`)).owners, '');
  await owners.getByRole('textbox').fill(rules);
  await owners.getByRole('button', { name: 'Save' }).click();
  await until('the rules are kept', async () => (await getJson(`${api}/settings`)).owners === rules);

  await page.goto(`${server.url}/demo/settings/reports`);
  await page.getByLabel('Goal: sessions with a hang, %').fill('0.5');
  await page.getByRole('button', { name: 'Save' }).first().click();
  await until('the goal is kept', async () => (await getJson(`${api}/settings`)).goal_lag_percent === 0.5);
  assert.equal((await getJson(`${api}/settings`)).owners, rules, 'one form leaves the settings of the other');

  await page.goto(`${server.url}/demo?t=30d`);
  await settle(page);
  await page.getByRole('button', { name: /Sessions with a hang.*goal 0\.50\s%.*▲/ }).waitFor();
  await page.getByText('Goal, the dashed level line: 0.50').waitFor();

  await until('the versions have their colours', async () => Object.keys(await colours(page)).length >= 4);
  const all = await colours(page);
  const day = (back) => new Date(Date.now() - back * 86_400_000).toISOString().slice(0, 10);
  const issue = (await getJson(`${api}/issues?t=30d&by=place`)).groups[0].issues[0].id;
  for (const path of [`/demo?t=${day(25)}T00Z..${day(13)}T00Z`, '/demo?t=30d&v=1.2.0', `/demo/issues/${issue}?t=30d`]) {
    await page.goto(server.url + path);
    await settle(page);
    await until(`the colours of ${path}`, async () => {
      const now = await colours(page);
      return Object.keys(now).length > 0 && Object.entries(now).every(([version, colour]) => (all[version] ?? colour) === colour);
    });
  }

  await page.goto(`${server.url}/demo?t=30d&v=1.2.0`);
  await settle(page);
  const chart = page.locator('.trend').last();
  const sum = await chart.locator('.legend .key b').first().textContent();
  await chart.scrollIntoViewIfNeeded();
  const box = await chart.locator('.plot').boundingBox();
  await until('the pointer tells another number', async () => {
    for (const share of [0.3, 0.45, 0.6]) {
      await page.mouse.move(box.x + box.width * share, box.y + box.height / 2);
      if ((await chart.locator('.legend .key b').first().textContent()) !== sum) return true;
    }
    return false;
  });
  await page.mouse.move(0, 0);
  await until('the sum is there again', async () => (await chart.locator('.legend .key b').first().textContent()) === sum);
  assert.deepEqual(complaints.filter((one) => !one.includes('422')), []);
});
