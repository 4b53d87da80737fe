#!/usr/bin/env node
/*
 * Goal: two people look at the same app. What one changes is on the other's page without a reload, through a proxy that cuts
 * connections too; new reports are offered, and no row moves by itself; a tab at which nothing happens costs nearly nothing.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { reportOf } from './support/generated.mjs';
import { openPage, settle } from './support/rules.mjs';
import { play } from './support/scene.mjs';
import { getJson, send, until, worked } from './support/server.mjs';

const IDLE_S = 30;
const IDLE_BYTES = 1024;

/* Passes bytes on, and cuts all connections when it is told to. */
async function proxyTo(port) {
  const open = new Set();
  const proxy = createServer((client) => {
    const behind = connect(port, '127.0.0.1');
    for (const one of [client, behind]) {
      open.add(one);
      one.on('error', () => {});
      one.on('close', () => {
        open.delete(one);
        client.destroy();
        behind.destroy();
      });
    }
    client.pipe(behind).pipe(client);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const cut = () => {
    for (const one of open) one.destroy();
  };
  return {
    url: `http://127.0.0.1:${proxy.address().port}`,
    cut,
    close: () => {
      proxy.close();
      cut();
    },
  };
}

/* At least so many requests wait for changes. */
const waits = (server, count) => async () => {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  return Number(/^mire_live_waiting (\d+)/m.exec(text)?.[1] ?? 0) >= count;
};

await play(async (server, browser) => {
  const key = await server.key('shop');
  const place = (n) => reportOf([{ offsets: [0x100 * n, 0x100 * n + 0x10], weight_ms: 2000 }]);
  for (let n = 1; n <= 3; n++) await send(server, key, place(n));
  await worked(server, 'shop', 3);
  const [{ issues: [first] }] = (await getJson(`${server.url}/api/v1/apps/shop/issues?by=place`)).groups;

  const proxy = await proxyTo(Number(new URL(server.url).port));
  const ann = await openPage(browser);
  const bob = await openPage(browser);
  await ann.page.goto(`${server.url}/shop/issues/${first.id}?tab=activity`);
  await bob.page.goto(`${proxy.url}/shop/issues/${first.id}?tab=activity`);
  await settle(ann.page);
  await settle(bob.page);
  await until('both wait', waits(server, 2));

  /* A state, a comment, and their undoing. */
  await ann.page.keyboard.press('e');
  await bob.page.locator('.tag.state-resolved').waitFor();
  await bob.page.locator('.activity li').first().waitFor();
  await bob.page.keyboard.press('c');
  await bob.page.locator('.comment textarea:focus').waitFor();
  await bob.page.keyboard.type('seen by both');
  await bob.page.getByRole('button', { name: 'Add the comment' }).click();
  await ann.page.locator('.markdown', { hasText: 'seen by both' }).waitFor();

  /* The proxy cuts every connection; the page goes on by itself. */
  proxy.cut();
  await ann.page.locator('.activity').getByRole('button', { name: 'Undo' }).first().click();
  await bob.page.locator('.tag.state-open').waitFor();

  /* In a list, the other's change shows; new reports are offered, and rows stay where they are. */
  await bob.page.goto(`${server.url}/shop/issues`);
  await settle(bob.page);
  await until('both wait', waits(server, 2));
  const rows = bob.page.locator('main tbody tr');
  assert.equal(await rows.count(), 3);
  await ann.page.keyboard.press('e');
  await bob.page.waitForFunction(() => document.querySelectorAll('main tbody tr').length === 2);
  await send(server, key, place(4));
  await worked(server, 'shop', 4);
  const offer = bob.page.getByRole('button', { name: 'New reports · show' });
  await offer.waitFor();
  assert.equal(await rows.count(), 2, 'no row moves by itself');
  await offer.click();
  await bob.page.waitForFunction(() => document.querySelectorAll('main tbody tr').length === 3);

  /* A tab at which nothing happens. */
  await ann.close();
  await until('it waits', waits(server, 1));
  const session = await bob.page.context().newCDPSession(bob.page);
  await session.send('Network.enable');
  let bytes = 0;
  let requests = 0;
  session.on('Network.requestWillBeSent', () => requests++);
  session.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength));
  await sleep(IDLE_S * 1000);
  console.log(`an idle tab: ${bytes} bytes by ${requests} requests in ${IDLE_S} s`);
  assert.ok(bytes <= IDLE_BYTES, `${bytes} bytes`);
  /* The proxy's cuts are told to the console; nothing else is. */
  assert.deepEqual(ann.complaints, []);
  assert.deepEqual(bob.complaints.filter((text) => !text.startsWith('console: Failed to load resource')), []);
  proxy.close();
});
