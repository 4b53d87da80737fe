#!/usr/bin/env node
/*
 * Goal: what a report tells besides its stacks is on the page: who held the lock, the device's own verdict, other threads,
 * what was suppressed; an event of the whole process has a kind of its own and threads in its flame graph; a test is ranked
 * with nobody, and found when asked for.
 */
import assert from 'node:assert/strict';
import { holdsTheRules, openPage, settle } from './support/rules.mjs';
import { play } from './support/scene.mjs';
import { getJson, send, vector, worked } from './support/server.mjs';

await play(async (server, browser) => {
  const issuesOf = async (query = '') =>
    (await getJson(`${server.url}/api/v1/apps/mapview/issues${query}`)).groups.flatMap((group) => group.issues);
  const key = await server.key('mapview');
  /* The share that the vectors say counts only if a rollout gave it. */
  const rollout = await fetch(`${server.url}/api/v1/apps/mapview/rollout`, {
    method: 'PUT',
    headers: { 'Content-Type': 'application/json', 'X-Mire-Change': '1' },
    body: JSON.stringify({
      base: 0,
      author: 'kim',
      reason: 'a quarter',
      rules: { fetch_s: 3600, kill: false, rules: [{ name: 'all', when: {}, plugins: { hang: { probability: 0.25 } } }] },
    }),
  });
  assert.equal(rollout.status, 201, await rollout.text());
  const test = await vector('stacks-of-many-threads');
  test.event.trigger = 'test';
  await send(server, key, await vector('every-field'));
  await send(server, key, await vector('stacks-of-many-threads'));
  await send(server, key, test);
  await worked(server, 'mapview', 2);

  const features = await issuesOf();
  assert.deepEqual(features.map((one) => one.category).sort(), ['cpu', 'hang'], 'tests are not listed with the others');
  assert.deepEqual((await issuesOf('?kind=test')).map((one) => one.category), ['test']);
  const hang = features.find((one) => one.category === 'hang');
  const cpu = features.find((one) => one.category === 'cpu');
  assert.equal(hang.totals.events, 20, 'four for the sampling, times one sent and four suppressed');
  assert.equal(cpu.totals.waited_ms, 0, 'nobody waits for a window of CPU time');

  const { page, complaints } = await openPage(browser);
  await page.goto(`${server.url}/mapview/issues/${hang.id}?tab=stack`);
  await settle(page);
  const shown = await page.locator('main').textContent();
  for (const told of [
    'held by thread worker in mapview+0x1000',
    'mostly held by worker in mapview+0x1000',
    'in the foreground',
    'the machine slept 1 min besides',
    '4 more like it, 11 s together, were counted on the device and not sent',
    'The device classified it as a hang in the foreground.',
    '64 wake-ups, 1.0 MiB stored',
  ])
    assert.ok(shown.includes(told), `the issue shows ${told}, among ${shown}`);
  await page.getByText('Main-loop blocks in this session').click();
  await page.getByText('250 ms – 500 ms').waitFor();

  await page.goto(`${server.url}/mapview/issues/${cpu.id}?tab=tree`);
  await settle(page);
  const tree = await page.locator('main').textContent();
  assert.ok(tree.includes('worker'), 'the threads are the first level of the tree');
  assert.ok(tree.includes('high CPU'), 'the kind is named');
  await page.goto(`${server.url}/mapview`);
  await settle(page);
  assert.match(await page.locator('main').textContent(), /Main-loop blocks by length/);
  assert.deepEqual(complaints, []);
  for (const id of [hang.id, cpu.id]) await holdsTheRules(browser, `${server.url}/mapview/issues/${id}?tab=stack`);
});
