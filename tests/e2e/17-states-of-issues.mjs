#!/usr/bin/env node
/*
 * Goal: what an engineer on call does with the list and an issue, with the clicks counted: a fix is resolved in one
 * action and undone in one; a report of a later version brings it back as regressed, which the list shows; several
 * issues are ignored at once; one is assigned and talked about, and nothing that is written becomes markup; a ticket is
 * filled in one. The first row is what changed most, with its factor. A viewer has no buttons.
 */
import assert from 'node:assert/strict';
import { reportOf } from './support/generated.mjs';
import { holdsTheRules, openPage, settle } from './support/rules.mjs';
import { play } from './support/scene.mjs';
import { getJson, send, sql, until, worked } from './support/server.mjs';

const PLACES = 6;
const BEFORE = [20, 20, 20, 20, 20, 20]; // reports of 1.0
const AFTER = [20, 20, 20, 20, 80, 20]; // and of 1.1: one place grew

await play(async (server, browser) => {
  const key = await server.key('shop');
  const api = (path) => getJson(`${server.url}/api/v1/apps/shop${path}`);
  const report = (place, version, device) => ({
    ...reportOf([{ offsets: [0x100 * (place + 1), 0x100 * (place + 1) + 0x10], weight_ms: 2000 + 10 * place }], { version }),
    device: { install: device.toString(16).padStart(32, '0'), os: 'linux', arch: 'x86_64', model: '' },
  });
  let sent = 0;
  for (const [version, counts] of [['1.0', BEFORE], ['1.1', AFTER]])
    for (let place = 0; place < PLACES; place++)
      for (let n = 0; n < counts[place]; n++) {
        await send(server, key, report(place, version, 1000 * place + n));
        sent++;
      }
  await worked(server, 'shop', sent);
  await sql(
    server,
    `INSERT INTO session_day SELECT 0, current_date, app_id, version_id, 'public', 15, 20000, 20000, 20000, 1, 0, 20000, 20000, 1,
     0, 0, 0, 0, 0, 0 FROM version`,
  );

  const { page, complaints } = await openPage(browser);
  let actions = 0;
  const click = async (what) => {
    actions++;
    await what.click();
  };
  const press = async (one) => {
    actions++;
    await page.keyboard.press(one);
  };
  const took = (most, what) => {
    assert.ok(actions <= most, `${what} took ${actions} actions`);
    actions = 0;
  };
  const row = (n) => page.locator('main tbody tr').nth(n);
  const list = async (query = '') => {
    await page.goto(`${server.url}/shop/issues${query}`);
    await settle(page);
  };

  /* What grew is on top, with its factor; every place is one row. */
  await list();
  await page.locator('.badge').first().waitFor();
  assert.equal(await page.locator('main tbody tr').count(), PLACES);
  assert.match(await row(0).textContent(), /×4\.0/);
  const grown = await row(0).locator('.id').textContent();
  const top = (await api('/issues?by=place&sort=auto')).groups[0].issues[0];
  assert.equal(grown, top.id);
  assert.equal((await api('/issues?by=place&sort=auto')).sort, '-change');

  /* Resolve it: one key on its page; undo it: one button. */
  await click(row(0).locator('a').first());
  await settle(page);
  await press('e');
  await page.locator('.tag.state-resolved', { hasText: 'resolved in 1.1' }).waitFor();
  took(2, 'to resolve the largest change');
  await click(page.locator('.toast button', { hasText: 'Undo' }));
  await page.locator('.tag.state-open').waitFor();
  took(1, 'to undo it');
  await press('e');
  await page.locator('.tag.state-resolved').waitFor();
  await send(server, key, report(4, '1.0', 1));
  await worked(server, 'shop', sent + 1);
  assert.equal((await api(`/issues/${grown}`)).issue.state, 'resolved', 'an old version changes nothing');
  await list();
  assert.equal(await page.locator('main tbody tr').count(), PLACES - 1, 'open ones alone');
  await send(server, key, report(4, '1.2', 1));
  await until('it is regressed', async () => (await api(`/issues/${grown}`)).issue.state === 'regressed');
  await list();
  await page.locator('tr', { hasText: grown }).locator('.tag.state-regressed', { hasText: 'regressed in 1.2' }).waitFor();

  /* Three at once, by the keyboard alone. */
  actions = 0;
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await press('x');
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await press('X');
  await page.getByText('3 issues selected').waitFor();
  await press('i');
  await click(page.getByRole('button', { name: 'For a week' }));
  await until('they are ignored', async () => (await api('/issues?state=ignored')).issues_total === 3);
  took(4, 'to ignore three');
  await click(page.getByRole('button', { name: /^Ignored/ }));
  await page.waitForFunction(() => document.querySelectorAll('main tbody tr').length === 3);
  assert.match(page.url(), /state=ignored/);

  /* Assigned and talked about. */
  await page.goto(`${server.url}/shop/issues/${grown}`);
  await settle(page);
  actions = 0;
  await press('a');
  await click(page.locator('#assign-menu button').first());
  await page.getByText('assigned to local user').first().waitFor();
  took(2, 'to assign');
  await press('c');
  await page.locator('.comment textarea:focus').waitFor();
  await page.keyboard.type('<img src=x onerror=alert(1)> **see** `lock()` at https://a.example/1');
  await click(page.getByRole('button', { name: 'Add the comment' }));
  await page.locator('.markdown strong', { hasText: 'see' }).waitFor();
  took(2, 'to comment');
  assert.equal(await page.locator('.markdown img').count(), 0);
  assert.equal(await page.locator('.markdown a').getAttribute('href'), 'https://a.example/1');
  assert.match(await page.locator('.activity').textContent(), /opened it again: regressed in 1\.2/);

  /* The form of a tracker, whose address the settings have, is filled in a window of its own. */
  assert.equal(await page.getByRole('button', { name: 'New ticket' }).count(), 0, 'no form, no button');
  await page.goto(`${server.url}/shop/settings/links`);
  await page.getByLabel('Form for a new ticket').fill('https://git.example/new?title={title}&body={body}&of={issue}');
  await page.getByRole('region', { name: 'Source and tickets' }).getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved', { exact: true }).first().waitFor();
  await page.context().route('https://git.example/**', (route) => route.fulfill({ body: 'a form' }));
  await page.goto(`${server.url}/shop/issues/${grown}`);
  await settle(page);
  const opened = page.waitForEvent('popup');
  actions = 0;
  await click(page.getByRole('button', { name: 'New ticket' }));
  const form = await opened;
  await form.waitForURL(/^https:\/\/git\.example\/new/);
  took(1, 'to fill a ticket');
  const ticket = new URL(form.url()).searchParams;
  assert.equal(ticket.get('of'), grown);
  assert.ok(ticket.get('title').startsWith(grown), ticket.get('title'));
  assert.ok(ticket.get('body').includes(`${server.url}/shop/issues/${grown}`), ticket.get('body'));
  assert.equal(await form.evaluate(() => globalThis.opener), null, 'the form knows nothing of the page');
  await form.close();
  assert.deepEqual(complaints, []);

  for (const path of ['/shop/issues', '/shop/issues?state=all&by=caller1', `/shop/issues/${grown}?tab=activity`])
    await holdsTheRules(browser, server.url + path);

  const link = new URL((await server.mire('user', 'add', 'root', '--server-admin', '--data-dir', server.env.MIRED_DATA_DIR)).trim());
  const vera = new URL((await server.mire('user', 'add', 'vera', '--role', 'viewer', '--app', 'shop', '--data-dir', server.env.MIRED_DATA_DIR)).trim());
  assert.ok(link);
  const viewer = await openPage(browser);
  await viewer.page.goto(`${server.url}${vera.pathname}${vera.hash}`);
  await viewer.page.getByLabel('Password', { exact: true }).fill('correct horse battery');
  await viewer.page.getByLabel('Password again').fill('correct horse battery');
  await viewer.page.getByRole('button', { name: 'Set the password and sign in' }).click();
  await viewer.page.getByRole('link', { name: 'vera', exact: true }).waitFor();
  await viewer.page.goto(`${server.url}/shop/issues/${grown}`);
  await settle(viewer.page);
  assert.equal(await viewer.page.getByRole('button', { name: 'Resolve' }).count(), 0);
  await viewer.close();
});
