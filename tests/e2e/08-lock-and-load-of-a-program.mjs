#!/usr/bin/env node
/*
 * Goal: a program that waits for a lock and then computes too much is on the page with the function and thread that held the
 * lock, and with the threads that computed: from the device to the page, nothing made up.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openPage, settle } from './support/rules.mjs';
import { play } from './support/scene.mjs';
import { BUILD, getJson, until } from './support/server.mjs';

const run = promisify(execFile);
await play(async (server, browser) => {
  const env = {
    ...server.env,
    MIRE_SERVER: server.url,
    MIRE_KEY: await server.key('locker'),
    MIRE_STORE: join(server.dir, 'store'),
    MIRE_SETTINGS: 'cpu_percent=20 cpu_window_ms=1000', // a machine under test may give it little more
  };
  await run('mire', ['run', '--threshold', '500', '--', join(BUILD, 'tests/e2e/locker'), '2000', '6000'], { env });
  const features = await until('a lock and a load are told', async () => {
    const { groups } = await getJson(`${server.url}/api/v1/apps/locker/issues`);
    const all = groups.flatMap((group) => group.issues);
    const lock = all.find((one) => one.category === 'hang' && one.reason === 'lock');
    const load = all.find((one) => one.category === 'cpu');
    return lock && load && { lock, load };
  });
  assert.equal(features.lock.caller1, 'save_document');
  assert.equal(features.load.caller1, 'encode_block');

  const { page, complaints } = await openPage(browser);
  await page.goto(`${server.url}/locker/issues/${features.lock.id}?tab=stack`);
  await settle(page);
  await page.getByText('mostly held by journal in flush_journal').waitFor();
  const holder = page.locator('details.thread').first();
  assert.match(await holder.textContent(), /holds the lock.*journal/);
  assert.match(await holder.locator('li', { hasText: 'holds it here' }).textContent(), /^flush_journal/);

  await page.goto(`${server.url}/locker/issues/${features.load.id}?tab=tree`);
  await settle(page);
  const tree = page.getByRole('treegrid');
  await tree.getByText('encoder', { exact: true }).first().waitFor();
  assert.match(await page.locator('main').textContent(), /high CPU/);
  assert.deepEqual(complaints, []);
});
