#!/usr/bin/env node
/*
 * Goal: each task of an engineer who was called takes five actions at most, and ends with its answer on the page. An action
 * is a click, a key, a filled field or a picked file; a key sequence such as `g m` is one.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { memoryReport, reportOf } from './support/generated.mjs';
import { openPage, settle } from './support/rules.mjs';
import { play } from './support/scene.mjs';
import { BUILD, getJson, send, sql, until, worked } from './support/server.mjs';

const run = promisify(execFile);
const MOST = 5;
const DEVICES = 40;
const OLD = 'Redmi Note 11';

/* Hangs in one function of a version, each of another device; those of the newer version on old models. */
async function hangs(server, key, version, offset, model) {
  for (let n = 0; n < DEVICES; n++) {
    const report = reportOf([{ offsets: [0x10, offset], weight_ms: 3000 }], { version, model: model(n) });
    report.device.install = n.toString(16).padStart(32, '0');
    await send(server, key, report);
  }
}

async function fillShop(server) {
  const key = await server.key('shop');
  await hangs(server, key, '8.0.39', 0x100, (n) => (n % 4 ? 'Pixel 7' : OLD));
  await hangs(server, key, '8.0.40', 0x200, () => OLD);
  await worked(server, 'shop', 2 * DEVICES);
  await sql(server, `
    INSERT INTO session_day SELECT 0, (now() AT TIME ZONE 'UTC')::date - d, app_id, version_id, 'public', 15, n, n, n, n * 600000.0, 0, n, n,
        n * 600000.0, n * rate, n * rate, 0, 0, 0, 0
      FROM version JOIN app USING (app_id), generate_series(0, 9) d,
        LATERAL (SELECT CASE WHEN version = '8.0.40' THEN 9000 ELSE 20000 END AS n, CASE WHEN version = '8.0.40' THEN 0.04 ELSE 0.02 END AS rate) x
      WHERE slug = 'shop' AND (version = '8.0.39' OR d < 4)`);
}

async function fillMemory(server) {
  const key = await server.key('photos');
  for (let i = 0; i < 6; i++) await send(server, key, memoryReport('baseline', 1, { seed: i }));
  for (let i = 0; i < 6; i++) await send(server, key, memoryReport('foom', 16, { seed: i }));
  await worked(server, 'photos', 6);
  await until('baselines are counted', async () => (await getJson(`${server.url}/api/v1/apps/photos/healthy?v=1.0`)).reports === 6);
}

/* Two issues whose stacks are alike, and others. */
async function fillTwins(server) {
  const key = await server.key('twins');
  const way = [0x10, 0x20, 0x30, 0x40, 0x50];
  const stacks = [[...way, 0x1000], [...way, 0x1000], [...way, 0x2000]];
  for (let i = 0; i < 12; i++) stacks.push([0x10000 + i * 0x100, 0x10010 + i * 0x100]);
  for (const offsets of stacks) await send(server, key, reportOf([{ offsets, weight_ms: 3000 }]));
  await worked(server, 'twins', stacks.length);
}

/* A program without names hangs; returns the file that has them. */
async function fillNameless(server) {
  const whole = join(BUILD, 'tests/e2e/locker');
  const [app, debug] = [join(server.dir, 'locker'), join(server.dir, 'locker.debug')];
  await run('objcopy', ['--only-keep-debug', whole, debug]);
  await run('objcopy', ['--strip-all', whole, app]);
  const env = { ...server.env, MIRE_SERVER: server.url, MIRE_KEY: await server.key('locker'), MIRE_STORE: join(server.dir, 'store') };
  await run('mire', ['run', '--threshold', '500', '--', app, '2000', '0'], { env });
  await until('the hang is told', () => nameless(server));
  const made = await server.mire('key', 'create', 'locker', '--scope', 'symbols', '--data-dir', server.env.MIRED_DATA_DIR);
  return { debug, key: /mk_[a-z0-9]{40}/.exec(made)[0] };
}

async function nameless(server) {
  const { groups } = await getJson(`${server.url}/api/v1/apps/locker/issues`);
  return groups.flatMap((group) => group.issues).find((one) => one.category === 'hang');
}

await play(async (server, browser) => {
  await fillShop(server);
  await fillMemory(server);
  await fillTwins(server);
  const symbols = await fillNameless(server);

  const { page, complaints } = await openPage(browser, { permissions: ['clipboard-read', 'clipboard-write'] });
  let actions = 0;
  const count = (act) => {
    actions++;
    return act;
  };
  const click = (where) => count(where.click());
  const fill = (where, text) => count(where.fill(text));
  const press = (keys) => count((async () => {
    for (const key of keys.split(' ')) await page.keyboard.press(key);
  })());
  const told = (text) => page.locator('main').getByText(text).first().waitFor();
  const counted = [];
  const task = async (name, from, play) => {
    await page.goto(server.url + from);
    await settle(page);
    actions = 0;
    await play();
    counted.push([name, actions]);
    console.log(`${name}: ${actions}`);
  };
  const changed = (caller1) => page.locator('.changes li', { hasText: caller1 }).getByRole('link').first();

  await task('a: lag rose in a version; what is it?', '/shop', async () => {
    await page.locator('.changes li').first().getByText('app+0x200').waitFor(); // the worst stands first
    await click(changed('app+0x200'));
    await page.getByRole('heading', { name: /app\+0x200/, level: 1 }).waitFor();
    await told('8.0.40');
  });
  await task('b: who is affected?', `/shop/issues`, async () => {
    await click(page.locator('table.issues').getByRole('link', { name: /app\+0x200/ }).first());
    const model = page.locator('.shares tr', { hasText: OLD });
    assert.match(await model.textContent(), /100\s%×1\.6/);
    await click(model.getByRole('link'));
    await page.waitForURL((url) => url.searchParams.get('model') === OLD);
    await settle(page);
    const rows = await page.locator('table.issues tbody').allTextContents();
    assert.equal(rows.length, 2);
    assert.match(rows.find((row) => row.includes('app+0x100')), /no symbols1010/, 'ten of forty devices had that model');
  });
  await task('c: all that the developer needs', '/shop', async () => {
    await click(changed('app+0x200'));
    await page.getByRole('heading', { name: /app\+0x200/, level: 1 }).waitFor();
    await settle(page);
    await press('h');
    const text = await until('the text is copied', () => page.evaluate(() => navigator.clipboard.readText()));
    for (const part of [/^# I-\d+/m, /app\+0x200/, /8\.0\.40/, new RegExp(`${server.url}/shop/issues/I-`), new RegExp(OLD)]) assert.match(text, part);
  });
  await task('d: did the version fix it?', '/shop', async () => {
    const fixed = page.locator('.changes li', { hasText: 'app+0x100' });
    await fixed.getByText(/gone: .* before/).waitFor();
    await click(fixed.getByRole('link').first());
    await page.getByRole('heading', { name: /app\+0x100/, level: 1 }).waitFor();
    await settle(page);
    assert.match(await page.locator('main').textContent(), /8\.0\.40\D*0\b/);
  });
  await task('e: memory rises; what holds it, against healthy', '/photos', async () => {
    await press('g m');
    await settle(page);
    await click(page.locator('table.issues tbody a').first());
    await page.getByRole('tab', { name: 'All reports', selected: true }).waitFor();
    await settle(page);
    const main = await page.locator('main').textContent();
    for (const part of [/Malloc 48\.00 KiB/, /×16/, /app\+0x40/]) assert.match(main, part);
  });
  await task('f: twice the same issue: merged, and undone', '/twins/issues', async () => {
    const { groups } = await getJson(`${server.url}/api/v1/apps/twins/issues`);
    const issues = groups.flatMap((group) => group.issues);
    const [often, once] = ['0x1000', '0x2000'].map((end) => issues.find((one) => one.caller1.endsWith(`+${end}`)).id);
    await page.goto(`${server.url}/twins/issues/${often}?tab=group`); // the address that the tag of an issue with a twin leads to
    await settle(page);
    const words = { name: `Merge ${once} into this: 1 report` };
    await click(page.getByRole('region', { name: once, exact: true }).getByRole('button', words));
    const preview = page.getByRole('region', { name: 'What would change' });
    await preview.waitFor();
    await fill(page.getByLabel('Your name'), 'kim');
    await click(preview.getByRole('button', words));
    const undo = { name: `Undo ${once}` };
    await click(page.getByRole('button', undo));
    await click(preview.getByRole('button', undo));
    await page.getByText('undone by kim').waitFor();
  });
  await task('g: an address gets a name', '/locker/issues', async () => {
    const { id } = await nameless(server);
    await click(page.locator('table.issues').getByRole('link', { name: /locker\+0x/ }).first());
    await page.waitForURL(new RegExp(`/issues/${id}`));
    await click(page.getByText('locker has no symbols: this issue blames an address.'));
    await fill(page.getByLabel('Key with scope symbols'), symbols.key);
    await count(page.locator('input[type=file]').setInputFiles(symbols.debug));
    await page.getByRole('heading', { name: /save_document/, level: 1 }).waitFor();
  });
  await task('h: more of the devices report', '/shop', async () => {
    await press('g w');
    await settle(page);
    await fill(page.getByLabel('Share of Memory in the rule public, percent'), '5');
    await told(/Memory: .* → 5 % in the rule public/);
    const form = page.locator('form', { has: page.getByRole('button', { name: 'Make the change', exact: true }) });
    await fill(form.getByLabel('Author'), 'kim');
    await fill(form.getByLabel('Reason'), 'more samples');
    await click(form.getByRole('button', { name: 'Make the change', exact: true }));
    await page.getByText('version 1', { exact: true }).waitFor();
  });
  await task('i: a first visit, from no app to its first issue', '/-/new', async () => {
    await fill(page.getByRole('textbox', { name: 'Name' }), 'First');
    await click(page.getByRole('button', { name: 'Make the app and a key' }));
    await page.waitForURL(`${server.url}/first/start`);
    await click(page.getByRole('button', { name: 'Send a test hang' }));
    await click(page.getByRole('link', { name: 'Open the issue' }));
    await page.getByText('Checkout.pay').first().waitFor();
  });

  assert.equal(counted.length, 9);
  assert.deepEqual(counted.filter(([, n]) => n > MOST), [], `no task takes more than ${MOST} actions`);
  assert.deepEqual(complaints, []);
});
