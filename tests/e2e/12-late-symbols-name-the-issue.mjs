#!/usr/bin/env node
/*
 * Goal: a hang of a stripped program is an issue of addresses, and list and issue say so; the Symbols page says what is missing; the debug
 * file is picked in the issue's bar, and the same issue has a function name in place, with its number, state and first sight. The pages hold
 * the rules of every page.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { holdsTheRules, openPage, settle } from './support/rules.mjs';
import { play } from './support/scene.mjs';
import { BUILD, getJson, sought, until } from './support/server.mjs';

const run = promisify(execFile);
await play(async (server, browser) => {
  const whole = join(BUILD, 'tests/e2e/locker');
  const [app, debug] = [join(server.dir, 'locker'), join(server.dir, 'locker.debug')];
  await run('objcopy', ['--only-keep-debug', whole, debug]);
  await run('objcopy', ['--strip-all', whole, app]);
  const env = {
    ...server.env,
    MIRE_SERVER: server.url,
    MIRE_KEY: await server.key('locker'),
    MIRE_STORE: join(server.dir, 'store'),
  };
  await run('mire', ['run', '--threshold', '500', '--', app, '2000', '0'], { env });
  const hang = async () => {
    const { groups } = await getJson(`${server.url}/api/v1/apps/locker/issues`);
    return groups.flatMap((group) => group.issues).find((one) => one.category === 'hang');
  };
  const before = await until('the hang is told', hang);
  assert.match(before.caller1, /^locker\+0x/);

  const made = await server.mire('key', 'create', 'locker', '--scope', 'symbols', '--data-dir', server.env.MIRED_DATA_DIR);
  const key = /mk_[a-z0-9]{40}/.exec(made)[0];
  await sought(server, 'locker');
  await holdsTheRules(browser, `${server.url}/locker/symbols`);
  const { page, complaints } = await openPage(browser);
  await page.goto(`${server.url}/locker/symbols`);
  await settle(page);
  await page.getByRole('rowheader', { name: /^locker / }).waitFor();
  assert.match(await page.locator('main').textContent(), /mire symbols upload .*\/path\/to\/locker/);

  await page.getByRole('button', { name: 'Pick files' }).waitFor();
  await page.locator('input[type=file]').setInputFiles(debug);
  await page.getByText('Enter a symbols key first.').waitFor();
  await page.getByLabel('Key with scope symbols').fill('mk_wrong');
  await page.locator('input[type=file]').setInputFiles(debug);
  await page.locator('.sent .bad-text').waitFor();

  const issue = `${server.url}/locker/issues/${before.id}?tab=stack`;
  await holdsTheRules(browser, issue);
  await page.goto(`${server.url}/locker/issues`);
  await page.locator('tr.issue', { hasText: before.caller1 }).getByText('no symbols').waitFor();
  await page.goto(issue);
  await page.getByText('locker has no symbols: this issue blames an address.').click();
  await page.getByText(/mire symbols upload .*\/path\/to\/locker/).waitFor();
  await page.getByLabel('Key with scope symbols').fill(key);
  await page.locator('input[type=file]').setInputFiles(debug);
  await page.locator('.sent').getByText(/^debug [0-9a-f]{40}$/).waitFor();

  const after = await until('the issue has names', async () => {
    const now = await hang();
    return now?.caller1 === 'save_document' && now;
  });
  assert.deepEqual([after.id, after.state, after.first_seen_at], [before.id, before.state, before.first_seen_at]);
  await page.getByRole('heading', { name: /save_document/, level: 1 }).waitFor(); // without a load of the page
  await page.locator('.nameless.blamed').waitFor({ state: 'detached' });
  await page.goto(`${server.url}/locker/issues`);
  await page.locator('tr.issue', { hasText: 'save_document' }).waitFor();
  assert.equal(await page.getByText('no symbols').count(), 0);
  await page.goto(`${server.url}/locker/symbols`);
  await page.getByRole('rowheader', { name: /locker.debug/ }).waitFor();
  await page.getByText('new symbols').waitFor();
  assert.deepEqual(complaints.filter((one) => !/401/.test(one)), []); // the wrong key
});
