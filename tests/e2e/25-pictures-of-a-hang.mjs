#!/usr/bin/env node
/*
 * Goal: the pictures of docs/on-call.md are of the pages as they are: of a month of `mire seed`. With MIRE_PICTURES=docs
 * they are written there, otherwise into a directory that is gone afterwards.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openPage, settle } from './support/rules.mjs';
import { play } from './support/scene.mjs';
import { getJson, SOURCE, until } from './support/server.mjs';

const SIZE = { width: 1200, height: 1000 };

await play(async (server, browser) => {
  /* About one in five of them is a hang or a kill; the others are sessions and samples of healthy processes. */
  await server.mire('seed', 'demo', '--reports', '20000', '--data-dir', server.env.MIRED_DATA_DIR);
  const api = `${server.url}/api/v1/apps/demo`;
  await until('the month is worked on', async () => {
    const { waiting } = await getJson(`${api}/overview?t=30d`);
    if (waiting > 0) throw new Error(`${waiting} reports wait`);
    return true;
  });
  const changes = await getJson(`${api}/changes?t=30d`);
  assert.equal(changes.issues[0].verdict, 'worse', 'the seed makes one hang frequent');
  const issue = changes.issues[0].issue.id;
  const folder = process.env.MIRE_PICTURES ?? server.dir;
  const { page, complaints } = await openPage(browser, { viewport: SIZE });
  for (const [name, path, shown] of [
    ['hang-overview', '/demo?t=30d', 'Sessions with a hang by day and version'],
    ['hang-issue', `/demo/issues/${issue}?t=30d&tab=stack`, 'events in 1,000 sessions'],
    ['hang-flame', `/demo/issues/${issue}?t=30d&tab=flame`, 'Width = time'],
  ]) {
    await page.goto(server.url + path, { waitUntil: 'networkidle' });
    await settle(page);
    await page.getByText(shown).first().waitFor();
    await page.evaluate(() => document.fonts.ready);
    await page.screenshot({ path: join(folder, `${name}.png`) });
    const text = await readFile(join(SOURCE, 'docs/on-call.md'), 'utf8');
    assert.ok(text.includes(`(${name}.png)`), `docs/on-call.md shows ${name}`);
  }
  assert.deepEqual(complaints, []);
});
