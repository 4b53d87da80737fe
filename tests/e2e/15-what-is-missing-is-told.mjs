#!/usr/bin/env node
/*
 * Goal: where most samples have no stack, or no function has most of the time, nobody is blamed: the verdict says so with the
 * counts, and so do the page, the flame graph, the text that is copied and `mire show`.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openPage, settle } from './support/rules.mjs';
import { play } from './support/scene.mjs';
import { BUILD, getJson, until } from './support/server.mjs';

const run = promisify(execFile);
const PARTS = join(BUILD, 'tests/e2e/parts');
const LOST = /^(\d+) of (\d+) samples have no stack: /;
const SPREAD = /^nobody holds most of the sampled time: (\w+) holds (\d+) %, the others less/;

async function copied(page) {
  await page.getByRole('button', { name: 'Copy stack' }).click();
  return page.evaluate(() => navigator.clipboard.readText());
}

await play(async (server, browser) => {
  const env = { ...server.env, MIRE_SERVER: server.url, MIRE_KEY: await server.key('parts') };
  for (const how of ['deaf', 'spread'])
    await run('mire', ['run', '--store', join(server.dir, how), '--threshold', '500', '--', PARTS, how], { env });
  const issues = `${server.url}/api/v1/apps/parts/issues`;
  const found = await until('both hangs are told', async () => {
    const all = (await getJson(issues)).groups.flatMap((group) => group.issues);
    const deaf = all.find((one) => one.caller1 === '(no stack)');
    const spread = all.find((one) => one.caller1 === 'diffuse at main');
    return deaf && spread && { deaf, spread };
  });
  const { page, complaints } = await openPage(browser, { permissions: ['clipboard-read', 'clipboard-write'] });

  const deaf = await getJson(`${issues}/${found.deaf.id}/reports/latest`);
  const lost = deaf.samples.stack.filter((stack) => stack < 0).length;
  const [, count, all] = LOST.exec(deaf.why);
  assert.deepEqual([lost, deaf.samples.stack.length], [Number(count), Number(all)]);
  assert.ok(lost * 2 > deaf.samples.stack.length, deaf.why);
  assert.equal(deaf.verdict, null);
  const flame = await getJson(`${issues}/${found.deaf.id}/flame`);
  const nothing = flame.name.findIndex((name) => flame.names[name] === '(no stack)');
  assert.ok(flame.value[nothing] * 2 > flame.value[0], 'most of the flame graph has no stack');
  await page.goto(`${server.url}/parts/issues/${found.deaf.id}?tab=stack`);
  await settle(page);
  const told = await page.getByRole('tabpanel').textContent();
  assert.match(told, new RegExp(`${lost} of ${all} samples have no stack`));
  assert.doesNotMatch(told, /Sampled: the whole time|100\s?%/);
  assert.match(await copied(page), LOST);

  const spread = await getJson(`${issues}/${found.spread.id}/reports/latest`);
  assert.ok(Number(SPREAD.exec(spread.why)[2]) < 30, spread.why);
  assert.equal(spread.verdict, null);
  await page.goto(`${server.url}/parts/issues/${found.spread.id}?tab=stack`);
  await settle(page);
  assert.match(await page.getByRole('tabpanel').textContent(), /nobody holds most of the sampled time/);
  assert.match(await copied(page), SPREAD);
  assert.deepEqual(complaints, []);

  /* The same from the device alone. */
  const alone = join(server.dir, 'alone');
  await run('mire', ['run', '--store', alone, '--threshold', '500', '--', PARTS, 'deaf'], { env: server.env });
  const [file] = (await readdir(join(alone, 'out'))).filter((name) => name.endsWith('.report'));
  const shown = await server.mire('show', join(alone, 'out', file));
  assert.match(/^because +(.*)$/m.exec(shown)[1], LOST);
  assert.ok(Number(/^ *([\d.]+) % \(no stack\)$/m.exec(shown)[1]) > 50, shown);
});
