#!/usr/bin/env node
/*
 * Goal: on the Grouping tab a way to Caller1 is split off after looking at what that changes; later reports of that way
 * follow it. An issue that is merged stays merged when a change of rules gives its reports another key, and undoing
 * that merge then takes out what it has become.
 */
import assert from 'node:assert/strict';
import { reportOf } from './support/generated.mjs';
import { holdsTheRules, openPage, settle } from './support/rules.mjs';
import { play } from './support/scene.mjs';
import { getJson, send, until, worked } from './support/server.mjs';

const HERE = [0x10, 0x20, 0x30, 0x1000];
const THERE = [0x10, 0x20, 0x40, 0x1000]; /* 0x40 is in a plugin: what has no name is told apart by its module */
const ELSEWHERE = [0x10, 0x20, 0x50, 0x2000];
await play(async (server, browser) => {
  const api = (path) => getJson(`${server.url}/api/v1/apps/ways${path}`);
  const features = async () => (await api('/issues')).groups.flatMap((group) => group.issues);
  const counts = async () => Object.fromEntries((await features()).map((one) => [one.id, one.totals.reports]));
  const key = await server.key('ways');
  let sent = 0;
  const report = async (...ways) => {
    for (const offsets of ways) {
      const one = reportOf([{ offsets, weight_ms: 3000 }]);
      one.images.push({ name: '/opt/generated/plugin.so', id: 'fedcba9876543210', load: 0x4000000, size: 1 << 20 });
      one.frames.image = one.frames.offset.map((offset) => (offset === 0x40 ? 1 : 0));
      await send(server, key, one);
    }
    sent += ways.length;
    await worked(server, 'ways', sent);
  };
  await report(HERE, HERE, THERE, ELSEWHERE);
  const first = await features();
  const [id, otherId] = ['0x1000', '0x2000'].map((end) => first.find((one) => one.caller1.endsWith(`+${end}`)).id);
  assert.deepEqual(await counts(), { [id]: 3, [otherId]: 1 });

  const { page, complaints } = await openPage(browser);
  const here = `${server.url}/ways/issues/${id}?tab=group`;
  await page.goto(here);
  await settle(page);
  await page.getByLabel('Your name').fill('kim');
  const preview = page.getByRole('region', { name: 'What would change' });
  const { trees } = await api(`/issues/${id}/provenance`);
  const rare = trees.find((tree) => tree.reports === 1);
  await page.getByRole('listitem').filter({ hasText: rare.id }).getByRole('checkbox').check();
  const split = { name: 'Split off as a separate issue: 1 report' };
  await page.getByRole('button', split).click();
  await preview.waitFor();
  const rows = await preview.locator('tbody tr').allTextContents();
  assert.equal(rows.length, 2);
  assert.match(rows[0], new RegExp(`^${id} .*3 reports, 1 device.*2 reports, 1 device`));
  assert.match(rows[1], /^A new issue .*not there yet.*1 report, 1 device/);
  await preview.getByRole('button', { name: 'Cancel' }).click();
  assert.equal(await preview.count(), 0);
  assert.deepEqual(await counts(), { [id]: 3, [otherId]: 1 }, 'a preview changes nothing');
  await page.getByRole('button', split).click();
  await preview.getByRole('button', split).click();
  await page.getByRole('tabpanel').getByText('Done: 1 report moved.').waitFor();
  const opened = (await features()).find((feature) => feature.split_from === id).id;
  assert.deepEqual(await counts(), { [id]: 2, [opened]: 1, [otherId]: 1 });
  await report(THERE, HERE);
  assert.deepEqual(await counts(), { [id]: 3, [opened]: 2, [otherId]: 1 }, 'reports follow their way');

  const card = page.getByRole('region', { name: otherId, exact: true });
  await card.getByRole('button').click();
  await preview.getByRole('button', { name: `Merge ${otherId} into this: 1 report` }).click();
  await page.getByRole('button', { name: `Undo ${otherId}` }).waitFor();
  assert.deepEqual(await counts(), { [id]: 4, [opened]: 2 });

  const made = await server.mire('key', 'create', 'ways', '--scope', 'rules', '--data-dir', server.env.MIRED_DATA_DIR);
  const rules = async (base, text) => {
    const answer = await fetch(`${server.url}/api/v1/apps/ways/rules`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${/mk_[a-z0-9]{40}/.exec(made)[0]}`, 'content-type': 'application/json' },
      body: JSON.stringify({ base, author: 'kim', reason: 'a helper', rules: text }),
    });
    assert.equal(answer.status, 201, await answer.text());
    await until('reports have their key by these rules', async () => {
      const { version, jobs } = await api('/rules');
      return version === base + 1 && jobs.length === base + 1 && jobs.every((job) => job.state === 'done');
    });
  };
  await rules(0, 'runtime app app+0x2000\n');
  assert.deepEqual(await counts(), { [id]: 4, [opened]: 2 }, 'what was merged and split holds for the new keys');
  const { members } = await api(`/issues/${id}/provenance`);
  const became = members.find((member) => member.id !== id && member.reports === 1).id;
  await report(ELSEWHERE);
  assert.deepEqual(await counts(), { [id]: 5, [opened]: 2 }, 'so do later reports');

  await page.goto(here);
  await settle(page);
  const undo = { name: `Undo ${otherId}` };
  await page.getByRole('button', undo).click();
  await preview.getByRole('button', undo).click();
  await page.getByText('undone by kim').waitFor();
  assert.deepEqual(await counts(), { [id]: 3, [opened]: 2, [became]: 2 });
  assert.deepEqual(complaints, []);
  await holdsTheRules(browser, here);
  console.log('split, merged, given other keys and taken back');
});
