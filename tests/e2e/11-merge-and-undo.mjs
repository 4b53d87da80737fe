#!/usr/bin/env node
/*
 * Goal: an issue that looks like another one is suggested with the two stacks side by side; a click shows what merging
 * changes, another one does it, the list and the numbers follow at once, the old address leads to the new issue; taking
 * it back, looked at before too, leaves all as it was.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { reportOf } from './support/generated.mjs';
import { holdsTheRules, openPage, settle } from './support/rules.mjs';
import { play } from './support/scene.mjs';
import { BUILD, getJson, send, until, worked } from './support/server.mjs';

const run = promisify(execFile);
const WAY = [0x10, 0x20, 0x30, 0x40, 0x50];
await play(async (server, browser) => {
  const api = (path) => getJson(`${server.url}/api/v1/apps/alike${path}`);
  const key = await server.key('alike');
  const stacks = [[...WAY, 0x1000], [...WAY, 0x1000], [...WAY, 0x2000]];
  for (let i = 0; i < 12; i++) stacks.push([0x10000 + i * 0x100, 0x10010 + i * 0x100]);
  for (const offsets of stacks) await send(server, key, reportOf([{ offsets, weight_ms: 3000 }]));
  await worked(server, 'alike', stacks.length);
  const list = await api('/issues');
  const features = list.groups.flatMap((group) => group.issues);
  const [often, once] = ['0x1000', '0x2000'].map((end) => features.find((one) => one.caller1.endsWith(`+${end}`)));
  assert.equal(often.totals.reports, 2);

  const { page, complaints } = await openPage(browser);
  const here = `${server.url}/alike/issues/${often.id}?tab=group`;
  await page.goto(here);
  await settle(page);
  const card = page.getByRole('region', { name: once.id, exact: true });
  await card.locator('summary').click();
  const shared = await card.locator('tr.same').count();
  assert.equal(shared, WAY.length, 'the frames in common stand on one line');
  const words = { name: `Merge ${once.id} into this: 1 report` };
  const preview = page.getByRole('region', { name: 'What would change' });
  await card.getByRole('button', words).click();
  await preview.waitFor();
  const would = await preview.locator('tbody tr').allTextContents();
  assert.match(would[0], new RegExp(`^${often.id} .*2 reports, .*3 reports, `));
  assert.match(would[1], new RegExp(`^${once.id} .*1 report, .*merged$`));
  assert.deepEqual((await api('/issues')).groups, list.groups, 'a preview changes nothing');
  const merge = preview.getByRole('button', words);
  await merge.click();
  await page.getByRole('alert').getByText('Enter your name').waitFor();
  await page.getByLabel('Your name').fill('kim');
  await merge.click();
  await page.getByRole('button', { name: `Undo ${once.id}` }).waitFor();
  await until('the merge is stored', async () => (await api(`/issues/${often.id}`)).issue.members === 2);
  const merged = await api('/issues');
  assert.equal(merged.issues_total, list.issues_total - 1);
  assert.equal(merged.totals.reports, list.totals.reports);
  assert.equal((await api(`/issues/${often.id}`)).issue.totals.reports, 3);
  const { acts } = await api(`/issues/${often.id}/provenance`);
  assert.equal(acts[0].author, 'kim');
  await page.locator('main').getByText('3 reports').first().waitFor(); // it is asked for beside what it is made of
  await page.goto(`${server.url}/i/${once.id}`);
  await settle(page);
  assert.equal(new URL(page.url()).pathname, `/alike/issues/${often.id}`, 'the old address leads there');

  await page.goto(here);
  await settle(page);
  const undo = { name: `Undo ${once.id}` };
  await page.getByRole('button', undo).click();
  await preview.getByRole('button', undo).click();
  await page.getByText('undone by kim').waitFor();
  await until('all is as it was', async () => {
    const now = await api('/issues');
    return JSON.stringify(now.groups) === JSON.stringify(list.groups);
  });

  const mire = async (...words) =>
    (await run(join(BUILD, 'server/mire'), ['issues', ...words, '--app', 'alike', '--author', 'lee', '--server', server.url])).stdout;
  assert.match(await mire('merge', once.id, '--into', often.id, '--preview'), /\+ I-\d+ {2}\S+ in \S+: 3 reports/);
  assert.equal((await api('/issues')).issues_total, list.issues_total, 'a preview changes nothing');
  const said = await mire('merge', once.id, '--into', often.id);
  assert.equal((await api(`/issues/${often.id}`)).issue.members, 2);
  await mire('unmerge', often.id, '--act', said.match(/act (\d+)/)[1]);
  assert.deepEqual((await api('/issues')).groups, list.groups);
  await assert.rejects(mire('merge', 'I-999', '--into', often.id), /does not exist/);
  assert.deepEqual(complaints, []);
  await holdsTheRules(browser, here);
  console.log('merged and taken back');
});
