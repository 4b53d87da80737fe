#!/usr/bin/env node
/*
 * Goal: a program nobody here wrote is watched as it is: redis-server hangs on KEYS * under `mire run`, and the page
 * names the command's function, in redis' own words, as Caller1.
 */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openBrowser } from './support/browser.mjs';
import { openPage, settle } from './support/rules.mjs';
import { startServer, until, worked } from './support/server.mjs';

const KEYS = 1_500_000;
const THRESHOLD_MS = 250;
const run = promisify(execFile);
const server = await startServer();
const browser = await openBrowser();
const socket = join(server.dir, 'redis.sock');
const redis = async (...args) => (await run('redis-cli', ['-s', socket, ...args], { maxBuffer: 1 << 30 })).stdout;
let child;
try {
  const env = {
    ...server.env,
    MIRE_SERVER: server.url,
    MIRE_KEY: await server.key('redis-server'),
    MIRE_STORE: join(server.dir, 'store'),
  };
  const command = [
    'run',
    '--threshold',
    `${THRESHOLD_MS}`,
    '--',
    'redis-server',
    '--port',
    '0',
    '--unixsocket',
    socket,
    '--save',
    '',
  ];
  child = spawn('mire', [...command, '--enable-debug-command', 'yes'], { env, stdio: 'ignore' });
  await until('redis answers', async () => (await redis('PING')).includes('PONG'), 20);
  await redis('DEBUG', 'POPULATE', `${KEYS}`);
  await redis('KEYS', '*');
  await redis('PING');
  await worked(server, 'redis-server', 1);

  const { page, complaints } = await openPage(browser);
  await page.goto(`${server.url}/redis-server/issues?q=keysCommand`);
  await settle(page);
  await page.locator('main a[data-row]').first().click();
  await settle(page);
  assert.match(await page.locator('h1').textContent(), /^keysCommand/);
  const stack = page.locator('table.stack');
  await stack.locator('tr', { hasText: 'keysCommand' }).getByText('Culprit').waitFor();
  await stack.getByText('aeMain').first().waitFor();
  assert.deepEqual(complaints, []);
} catch (error) {
  console.error(server.log.slice(-40).join(''));
  throw error;
} finally {
  await browser.close();
  if (child && child.exitCode === null) {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
  await server.stop();
}
