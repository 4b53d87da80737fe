#!/usr/bin/env node
/*
 * Goal: a first run needs no password and says so; a link makes the first admin; from then on a page asks who is nobody
 * to sign in and then shows what was asked for; an admin makes a key, a viewer sees no settings; all of it is in the
 * audit log. The pages hold the rules that every page holds.
 */
import assert from 'node:assert/strict';
import { holdsTheRules, openPage, settle } from './support/rules.mjs';
import { play } from './support/scene.mjs';
import { getJson, send, sql, until, vector, worked } from './support/server.mjs';

const PASSWORD = 'correct horse battery';
await play(async (server, browser) => {
  const key = await server.key('shop');
  const user = async (...words) => (await server.mire('user', ...words, '--data-dir', server.env.MIRED_DATA_DIR)).trim();
  await send(server, key, await vector('every-field'));
  await worked(server, 'shop', 1);
  await until('the use of the key is told', async () =>
    (await getJson(`${server.url}/api/v1/apps/shop/keys`)).keys.every((one) => one.used_at));

  const { page, complaints } = await openPage(browser);
  await page.goto(`${server.url}/shop`);
  await settle(page);
  await page.getByRole('link', { name: 'No password' }).click();
  await page.getByText('for the user of this machine alone').waitFor();
  for (const path of ['/shop/settings', '/shop/settings/members', '/shop/settings/reports', '/shop/settings/forget', '/-/profile']) await holdsTheRules(browser, server.url + path);

  const link = new URL(await user('add', 'anna', '--server-admin'));
  await page.goto(`${server.url}${link.pathname}${link.hash}`);
  await page.getByText('Your name is').waitFor();
  assert.equal(new URL(page.url()).hash, '', 'the secret leaves the address bar');
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByLabel('Password again').fill(PASSWORD);
  await page.getByRole('button', { name: 'Set the password and sign in' }).click();
  await page.getByRole('link', { name: 'anna', exact: true }).waitFor();

  await page.goto(`${server.url}/shop/settings`);
  await settle(page);
  await page.getByLabel('Purpose').fill('release 8');
  await page.getByRole('button', { name: 'Make a key' }).click();
  const secret = await page.locator('code.secret').textContent();
  assert.match(secret, /^mk_[a-z2-7]{40}$/);
  await send(server, secret, await vector('every-field'));
  await page.goto(`${server.url}/-/server`);
  await settle(page);
  await page.getByLabel('Name or e-mail').fill('vic');
  await page.getByRole('button', { name: 'Make the account and a link' }).click();
  const invitation = new URL(await page.locator('code.secret').textContent());
  await page.goto(`${server.url}/-/audit`);
  await settle(page);
  for (const action of ['account.added', 'key.made', 'password.set', 'sign-in.made'])
    await page.locator('table.audit code', { hasText: action }).first().waitFor();

  /* A report is counted, and nothing happens; then it is taken out. */
  const events = async () => (await sql(server, 'SELECT report_id FROM event ORDER BY report_id')).split('\n').filter(Boolean);
  const [report, ...others] = await events();
  await page.goto(`${server.url}/shop/settings/forget`);
  await settle(page);
  await page.getByLabel('Which reports').selectOption('report');
  await page.getByLabel('Report', { exact: true }).fill(report);
  await page.getByLabel('Why').fill('it was made up');
  await page.getByRole('button', { name: 'Count them' }).click();
  await page.getByText('1 report would be forgotten').waitFor();
  assert.deepEqual(await events(), [report, ...others]);
  await page.getByRole('button', { name: `Forget them ${report}` }).click();
  await page.getByRole('button', { name: `Really? Forget them ${report}` }).click();
  await page.getByRole('cell', { name: 'it was made up' }).waitFor();
  await page.getByRole('cell', { name: 'done' }).waitFor();
  assert.deepEqual(await events(), others);
  await page.goto(`${server.url}/shop/settings/audit`);
  await page.locator('table.audit code', { hasText: 'reports.forgotten' }).waitFor();

  await page.goto(`${server.url}/-/profile`);
  await settle(page);
  await page.getByLabel('Purpose').fill('robot');
  await page.getByRole('button', { name: 'Make a token' }).click();
  const token = await page.locator('code.secret').textContent();
  const asked = await fetch(`${server.url}/api/v1/apps`, { headers: { authorization: `Bearer ${token}` } });
  assert.equal(asked.status, 200);
  await page.getByRole('button', { name: 'Sign out', exact: true }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  assert.deepEqual(complaints, []);

  /* A viewer, by the invitation. What the role does not hold is absent. */
  const viewer = await openPage(browser);
  await viewer.page.goto(`${server.url}${invitation.pathname}${invitation.hash}`);
  await viewer.page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await viewer.page.getByLabel('Password again').fill(PASSWORD);
  await viewer.page.getByRole('button', { name: 'Set the password and sign in' }).click();
  await viewer.page.getByRole('link', { name: 'vic', exact: true }).waitFor();
  await viewer.page.goto(`${server.url}/shop/rules`);
  await settle(viewer.page);
  await viewer.page.getByRole('link', { name: 'vic', exact: true }).waitFor();
  assert.equal(await viewer.page.getByRole('link', { name: 'Settings' }).count(), 0);
  assert.equal(await viewer.page.getByRole('button', { name: 'Save' }).count(), 0);
  assert.equal(await viewer.page.getByRole('link', { name: 'Server' }).count(), 0);
  await viewer.close();

  /* Somebody who follows a link signs in where they are, by the keyboard alone, and gets there. */
  await page.goto(`${server.url}/shop/issues`);
  await page.getByLabel('Name or e-mail').fill('anna');
  await page.keyboard.press('Tab');
  await page.keyboard.type('not the password');
  await page.keyboard.press('Enter');
  await page.getByText('Name or password is wrong.').first().waitFor();
  await page.getByLabel('Password').fill(PASSWORD);
  await page.keyboard.press('Enter');
  await until('the list is there', async () => (await page.getByRole('link', { name: /I-\d+/ }).count()) > 0);
  assert.equal(new URL(page.url()).pathname, '/shop/issues');

  /* A sign-in that ends elsewhere: the open page, at which nothing is done, says so and goes on where it was. */
  await settle(page);
  const other = await openPage(browser);
  await other.page.goto(`${server.url}/-/profile`);
  await other.page.getByLabel('Name or e-mail').fill('anna');
  await other.page.getByLabel('Password').fill(PASSWORD);
  await other.page.keyboard.press('Enter');
  await other.page.getByRole('button', { name: 'Sign out everywhere' }).click();
  await other.page.getByRole('button', { name: 'Really? Sign out everywhere' }).click();
  await page.getByRole('alert').filter({ hasText: 'You are no longer signed in as anna.' }).waitFor();
  await other.close();
  await page.getByLabel('Name or e-mail').fill('anna');
  await page.getByLabel('Password').fill(PASSWORD);
  await page.keyboard.press('Enter');
  await until('the list is there again', async () => (await page.getByRole('link', { name: /I-\d+/ }).count()) > 0);
  assert.equal(new URL(page.url()).pathname, '/shop/issues');
  await page.close();
  await holdsTheRules(browser, `${server.url}/-/sign-in`);
});
