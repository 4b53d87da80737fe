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

/* Green says better, red says worse: nothing else on the page has either colour. */
function misusedColours() {
  const BETTER = '.better, .state-resolved, .ticks';
  const WORSE = '.worse, .rose, .bad, .state-regressed, .ends';
  const pen = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const hueOf = (colour) => {
    pen.clearRect(0, 0, 1, 1);
    pen.fillStyle = colour;
    pen.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = pen.getImageData(0, 0, 1, 1).data;
    const [top, low] = [Math.max(r, g, b), Math.min(r, g, b)];
    if (a < 128 || top - low < 60) return null; // see-through, or nearly grey
    const sixth = top === r ? (g - b) / (top - low) : top === g ? 2 + (b - r) / (top - low) : 4 + (r - g) / (top - low);
    return (sixth * 60 + 360) % 360;
  };
  const wrong = [];
  for (const one of document.querySelectorAll('body *')) {
    const style = getComputedStyle(one);
    const isDrawing = one instanceof SVGElement;
    for (const colour of isDrawing ? [style.fill, style.stroke] : [style.color, style.backgroundColor, style.borderTopColor]) {
      const hue = colour === 'none' ? null : hueOf(colour);
      const says = hue === null ? '' : hue > 90 && hue < 180 ? BETTER : hue > 335 || hue < 15 ? WORSE : '';
      if (says !== '' && !one.closest(says)) wrong.push(`${colour} of ${one.tagName}.${one.getAttribute('class')}`);
    }
  }
  return [...new Set(wrong)];
}

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
    for (const colorScheme of ['dark', 'light']) {
      await page.emulateMedia({ colorScheme });
      assert.deepEqual(await page.evaluate(misusedColours), [], `${name}, ${colorScheme}`);
    }
    const sizes = { 'hang-overview': ['button.tile .value', '28px'], 'hang-issue': ['.verdict .said', '20px'] };
    if (sizes[name]) {
      const [what, size] = sizes[name];
      assert.equal(await page.locator(what).first().evaluate((one) => getComputedStyle(one).fontSize), size, what);
    }
    await page.screenshot({ path: join(folder, `${name}.png`) });
    const text = await readFile(join(SOURCE, 'docs/on-call.md'), 'utf8');
    assert.ok(text.includes(`(${name}.png)`), `docs/on-call.md shows ${name}`);
  }
  assert.deepEqual(complaints, []);
});
