#!/usr/bin/env node
/*
 * Goal: every table of the pages is a click away from a file, CSV or JSON, with the rows of its filters; the graph has
 * its own formats. The links are those of the pages, with a month of `mire seed` behind them.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { openPage, settle } from './support/rules.mjs';
import { play } from './support/scene.mjs';
import { getJson, until } from './support/server.mjs';

/* The first line names columns, and a row follows; an empty list gives an empty file. */
const CSV = /^"?\w[^\r\n]*\r?\n./;
const CSV_OR_NONE = /^$|^"?\w[^\r\n]*\r?\n/;
/* Lists with rows after a seed. */
const FILLED = /\/(rates|changes|issues|reports|versions)\?/;
const TYPES = { csv: /^text\/csv/, json: /^application\/json/ };

await play(async (server, browser) => {
  await server.mire('seed', 'demo', '--reports', '6000', '--data-dir', server.env.MIRED_DATA_DIR);
  const api = `${server.url}/api/v1/apps/demo`;
  await until('the month is worked on', async () => (await getJson(`${api}/overview?t=30d`)).waiting === 0);
  const list = await getJson(`${api}/issues?t=30d&by=place&kind=hang,!foom`);
  const issue = `/demo/issues/${list.groups[0].issues[0].id}`;
  const { page, complaints } = await openPage(browser);

  for (const [path, tables] of [
    ['/demo?t=30d', ['What changed', 'Rates']],
    ['/demo/issues?t=30d', ['Issues']],
    ['/demo/memory?t=30d&state=all', []],
    [`${issue}?t=30d&tab=reports`, ['Reports']],
    [`${issue}?t=30d&tab=group`, ['Similar issues']],
    [`${issue}?t=30d&tab=activity`, []],
    ['/demo/versions?t=30d', ['All versions']],
    ['/demo/alerts', ['History']],
    ['/demo/symbols', []],
    ['/demo/rollout', []],
    ['/demo/settings', []],
    ['/demo/settings/members', []],
    ['/demo/settings/audit', ['Changes and sign-ins']],
  ]) {
    await page.goto(server.url + path);
    await settle(page);
    for (const table of tables)
      for (const format of ['CSV', 'JSON'])
        await page.getByLabel(`${table}: ${format}`, { exact: true }).first().waitFor({ state: 'attached', timeout: 20_000 });
    for (const link of await page.locator('a[download]').all()) {
      const href = await link.getAttribute('href');
      const answer = await page.request.get(server.url + href);
      const told = `${path}: ${href}: ${answer.status()}`;
      assert.equal(answer.status(), 200, told);
      const format = new URL(href, server.url).searchParams.get('format');
      assert.match(answer.headers()['content-type'], TYPES[format], told);
      if (format === 'json') await answer.json();
      else assert.match(await answer.text(), FILLED.test(href) ? CSV : CSV_OR_NONE, told);
    }
  }

  /* A click gives the file, with the rows that the filters of the page leave. */
  await page.goto(`${server.url}/demo/issues?t=30d&kind=hang,!foom`);
  await settle(page);
  const coming = page.waitForEvent('download');
  await page.getByLabel('Issues: CSV').click();
  const file = await (await coming).path();
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\r\n');
  assert.equal(lines.length, list.issues_total + 1);

  await page.goto(`${server.url}${issue}?t=30d&tab=flame`);
  await settle(page);
  const [folded] = await Promise.all([page.waitForEvent('download'), page.getByLabel('Flame graph: Folded').click()]);
  assert.match(await readFile(await folded.path(), 'utf8'), /^[^\n]+ \d+\n/);
  assert.deepEqual(complaints, []);
});
