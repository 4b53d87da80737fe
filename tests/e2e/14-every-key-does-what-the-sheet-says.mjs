#!/usr/bin/env node
/*
 * Goal: every key that the sheet behind `?` lists does what it says, in a browser, and none is listed that is not tried
 * here; they do nothing inside a field, nor when they are switched off.
 */
import assert from 'node:assert/strict';
import { memoryReport } from './support/generated.mjs';
import { holdsTheRules, openPage, settle } from './support/rules.mjs';
import { play } from './support/scene.mjs';
import { getJson, send, vector, worked } from './support/server.mjs';

await play(async (server, browser) => {
  const key = await server.key('mapview');
  await send(server, key, await vector('every-field'));
  await send(server, key, await vector('open-event'));
  await send(server, key, await vector('deep-stack'));
  await send(server, key, memoryReport('foom', 18));
  await worked(server, 'mapview', 4);
  const { groups } = await getJson(`${server.url}/api/v1/apps/mapview/issues`);
  const { groups: ofMemory } = await getJson(`${server.url}/api/v1/apps/mapview/issues?kind=foom`);
  const issue = `/mapview/issues/${groups[0].issues[0].id}`;
  const memory = `/mapview/memory/${ofMemory[0].issues[0].id}`;

  const { page, complaints } = await openPage(browser, { permissions: ['clipboard-read', 'clipboard-write'] });
  const open = async (path) => {
    await page.goto(server.url + path);
    await settle(page);
  };
  const press = async (keys) => {
    for (const one of keys.split(' ')) await page.keyboard.press(one);
  };
  const goesTo = async (keys, path) => {
    await open(path === '/mapview' ? '/mapview/issues' : '/mapview');
    await press(keys);
    await page.waitForURL((url) => url.pathname === path);
  };
  const copied = async (pattern) => {
    await page.locator('.toast').waitFor();
    const text = await page.evaluate(() => navigator.clipboard.readText());
    assert.match(text, pattern);
  };
  const range = (t) => page.waitForURL((url) => url.searchParams.get('t') === t);
  const row = (n) =>
    page.waitForFunction((at) => [...document.querySelectorAll('main [data-row]')][at] === document.activeElement, n);
  const tells = (before) =>
    page.waitForFunction((text) => document.getElementById('flame-live').textContent !== text, before);
  const told = () => page.locator('#flame-live').textContent();
  const graph = async () => {
    await open(`${issue}?tab=flame`);
    await page.getByRole('application').focus();
    await press('ArrowDown');
    await tells('');
  };
  /* The issue whose graph has a row of two frames or more the earliest, and which row. */
  const forks = [];
  for (const { id } of groups.flatMap((group) => group.issues).filter((one) => one.id.startsWith('I-'))) {
    const { parent } = await getJson(`${server.url}/api/v1/apps/mapview/issues/${id}/flame`);
    const rows = [];
    for (const at of parent) rows.push(at < 0 ? 0 : rows[at] + 1);
    const row = rows.find((one, i) => rows.indexOf(one) < i);
    if (row) forks.push({ id, row });
  }
  const fork = forks.sort((a, b) => a.row - b.row)[0];
  assert.ok(fork, 'some graph has two frames beside each other');
  const walkToFork = async () => {
    await open(`/mapview/issues/${fork.id}?tab=flame`);
    await page.getByRole('application').focus();
    await press('ArrowDown'); // selects the root, which is told already
    for (let row = 0; row < fork.row; row++) {
      const before = await told();
      await press('ArrowDown');
      await tells(before);
    }
    return told();
  };
  const zoomed = async () => {
    await graph();
    await press('ArrowDown Enter');
    await page.waitForURL((url) => url.searchParams.has('fz'));
  };
  const found = async () => {
    await open(`${issue}?tab=flame&fs=mapview`);
    await page.getByText(/\d+ frames?, \d+\s% of all/).waitFor();
    await press('n');
    await tells('');
    return told();
  };

  const DAYS = '2026-01-10T00Z..2026-01-12T00Z';
  const tried = {
    '?': async () => {
      await open('/mapview');
      await press('?');
      await page.locator('dialog.sheet[open]').waitFor();
      await press('?');
      await page.locator('dialog.sheet').waitFor({ state: 'hidden' });
    },
    'Ctrl K': async () => {
      const chosen = (text) => page.locator('.palette [aria-selected="true"]', { hasText: text }).waitFor();
      const opened = async () => {
        await page.keyboard.press('Control+k');
        await page.locator('.palette input:focus').waitFor();
      };
      await open('/mapview');
      await opened();
      await page.keyboard.type('roll');
      await chosen('Rollout');
      await page.keyboard.press('Enter');
      await page.waitForURL((url) => url.pathname === '/mapview/rollout');
      await page.locator('.palette').waitFor({ state: 'detached' });
      await opened();
      await page.keyboard.type(groups[0].issues[0].id);
      await chosen(groups[0].issues[0].id);
      await page.keyboard.press('Enter');
      await page.waitForURL((url) => url.pathname === issue);
      await settle(page);
      await opened();
      await page.keyboard.type('link with the range');
      await chosen('Copy a link');
      await page.keyboard.press('Enter');
      await copied(/\/mapview\/issues\//);
      await page.locator('.filters [type=search]').focus();
      await opened(); // from within a field, too
      await page.keyboard.type('no such name');
      await page.getByText('Nothing has this name.').waitFor();
      await page.keyboard.press('Control+k');
      await page.locator('.palette').waitFor({ state: 'detached' });
      await opened();
      await page.keyboard.press('Escape');
      await page.locator('.palette').waitFor({ state: 'detached' });
    },
    '/': async () => {
      await open('/mapview');
      await press('/');
      await page.locator('.filters [type=search]:focus').waitFor();
      await page.keyboard.type('g i ?');
      assert.equal(await page.locator('.filters [type=search]').inputValue(), 'g i ?', 'a field takes every letter');
      assert.equal(new URL(page.url()).pathname, '/mapview');
    },
    'g o': () => goesTo('g o', '/mapview'),
    'g i': () => goesTo('g i', '/mapview/issues'),
    'g m': () => goesTo('g m', '/mapview/memory'),
    'g v': () => goesTo('g v', '/mapview/versions'),
    'g w': () => goesTo('g w', '/mapview/rollout'),
    'g r': () => goesTo('g r', '/mapview/rules'),
    'g s': () => goesTo('g s', '/mapview/symbols'),
    l: async () => {
      await open('/mapview/issues');
      await press('l');
      await copied(/\/mapview\/issues\?t=\d{4}-\d\d-\d\dT\d\dZ\.\.\d{4}-\d\d-\d\dT\d\dZ$/);
    },
    t: async () => {
      await open('/mapview');
      await press('t');
      await page.locator('#range-menu:popover-open').waitFor();
    },
    ',': async () => {
      await open(`/mapview?t=${DAYS}`);
      await press(',');
      await range('2026-01-08T00Z..2026-01-10T00Z');
    },
    '.': async () => {
      await open(`/mapview?t=${DAYS}`);
      await press('.');
      await range('2026-01-12T00Z..2026-01-14T00Z');
    },
    z: async () => {
      await open(`/mapview?t=${DAYS}`);
      await press('z');
      await range('2026-01-09T00Z..2026-01-13T00Z');
    },
    j: async () => {
      await open('/mapview/issues');
      await press('j');
      await row(0);
      await press('j');
      await row(1);
    },
    k: async () => {
      await open('/mapview/issues');
      await press('j j k');
      await row(0);
    },
    o: async () => {
      await open('/mapview/issues?by=caller1');
      const group = page.locator('main [data-row][aria-expanded]').first();
      const before = await group.getAttribute('aria-expanded');
      await group.focus();
      await press('o');
      await page.waitForFunction(
        (was) => document.querySelector('main [data-row][aria-expanded]').getAttribute('aria-expanded') !== was,
        before,
      );
    },
    Enter: async () => {
      await open('/mapview/issues');
      await page.locator('main a[data-row]').first().focus();
      await press('Enter');
      await page.waitForURL((url) => /\/issues\/I-\d+$/.test(url.pathname));
    },
    ']': async () => {
      await tried.Enter();
      await settle(page);
      const first = new URL(page.url()).pathname;
      await press(']');
      await page.waitForURL((url) => url.pathname !== first);
      await settle(page);
      return first;
    },
    '[': async () => {
      const first = await tried[']']();
      await press('[');
      await page.waitForURL((url) => url.pathname === first);
    },
    '1–9': async () => {
      for (const [path, count] of [[issue, 8], [memory, 9]]) {
        await open(path);
        assert.equal(await page.getByRole('tab').count(), count);
        for (let n = count; n > 0; n--) {
          await press(String(n));
          await page.waitForFunction(
            (at) => [...document.querySelectorAll('[role="tab"]')][at].getAttribute('aria-selected') === 'true',
            n - 1,
          );
        }
      }
    },
    x: async () => {
      await open('/mapview/issues');
      await press('j x');
      await page.getByText('1 issue selected').waitFor();
      await press('x');
      await page.getByText('1 issue selected').waitFor({ state: 'hidden' });
    },
    X: async () => {
      await open('/mapview/issues');
      await press('j x j j X');
      await page.getByText(/^3 issues selected$/).waitFor();
    },
    e: async () => {
      await open(issue);
      await press('e');
      await page.locator('main .tag.state-resolved').waitFor();
      await page.locator('.toast button').waitFor(); // from now on there is something to undo
      await press('u');
      await page.locator('main .tag.state-open').waitFor();
    },
    u: () => tried.e(),
    i: async () => {
      await open(issue);
      await press('i');
      await page.locator('#ignore-menu:popover-open').waitFor();
    },
    a: async () => {
      await open(issue);
      await press('a');
      await page.locator('#assign-menu:popover-open').waitFor();
    },
    c: async () => {
      await open(issue);
      await press('c');
      await page.locator('.comment textarea:focus').waitFor();
    },
    h: async () => {
      await open(issue);
      await press('h');
      await copied(/^# I-\d+/);
    },
    y: async () => {
      await open(`${issue}?tab=stack`);
      await page.locator('table.stack').waitFor();
      await press('y');
      await copied(/mapview/);
    },
    '← ↑ → ↓': async () => {
      await graph();
      for (const arrow of ['ArrowDown', 'ArrowDown', 'ArrowUp', 'ArrowDown']) {
        const before = await told();
        await press(arrow);
        await tells(before);
      }
      const before = await walkToFork();
      await press('ArrowRight');
      await tells(before);
      await press('ArrowLeft');
      await page.waitForFunction((text) => document.getElementById('flame-live').textContent === text, before);
    },
    'Enter ': () => zoomed(),
    Backspace: async () => {
      await zoomed();
      await press('Backspace');
      await page.waitForURL((url) => !url.searchParams.has('fz'));
    },
    Esc: async () => {
      await zoomed();
      await press('Escape');
      await page.waitForURL((url) => !url.searchParams.has('fz'));
    },
    f: async () => {
      await open(`${issue}?tab=flame`);
      await press('f');
      await page.locator('.tabpanel input[type="search"]:focus').waitFor();
    },
    s: async () => {
      await graph();
      await press('s');
      await page.waitForURL((url) => url.searchParams.get('ff') === 'none');
      await press('s');
      await page.waitForURL((url) => !url.searchParams.has('ff'));
    },
    r: async () => {
      await graph();
      await press('r');
      await page.waitForURL((url) => url.searchParams.get('ff') === 'both');
      await page.getByRole('button', { name: 'Fold recursion', pressed: true }).waitFor();
      await press('r');
      await page.waitForURL((url) => !url.searchParams.has('ff'));
    },
    n: async () => {
      const first = await found();
      await press('n');
      await tells(first);
    },
    N: async () => {
      const first = await found();
      await press('n');
      await tells(first);
      await press('N');
      await page.waitForFunction((text) => document.getElementById('flame-live').textContent === text, first);
    },
  };

  await open('/mapview');
  const listed = await page.locator('dialog.sheet dt kbd').allTextContents();
  const names = listed.map((name, at) => (listed.indexOf(name) < at ? `${name} ` : name)); // Enter is in two parts
  assert.deepEqual([...names].sort(), Object.keys(tried).sort(), 'the sheet lists what is tried here');
  for (const name of names) {
    try {
      await tried[name]();
    } catch (error) {
      error.message = `key ${name}: ${error.message}`;
      throw error;
    }
  }

  await open('/mapview');
  await press('?');
  await page.getByRole('checkbox', { name: 'Single-key shortcuts' }).uncheck();
  await page.getByRole('button', { name: 'Close' }).click();
  await press('g i');
  await press('?');
  await page.locator('dialog.sheet[open]').waitFor();
  assert.equal(new URL(page.url()).pathname, '/mapview', 'switched off, letters do nothing; ? still tells');
  assert.deepEqual(complaints, []);

  await holdsTheRules(browser, `${server.url}/mapview`, {
    act: async (page) => {
      await page.keyboard.press('Control+k');
      await page.locator('.palette input:focus').waitFor();
      await page.keyboard.type('map');
      await page.locator('.palette [role="option"]', { hasText: 'issue' }).first().waitFor();
      await settle(page);
    },
  });
});
