/*
 * A mired of our own: installed from $MIRE_BINARY_DIR (or $MIRE_BUILD) into a new directory, on a free port of the
 * loopback, with its private PostgreSQL there too; all of it gone afterwards.
 */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export const SOURCE = fileURLToPath(new URL('../../../', import.meta.url));
export const BUILD = process.env.MIRE_BINARY_DIR ?? process.env.MIRE_BUILD ?? join(SOURCE, 'build/release');
const run = promisify(execFile);

export async function until(what, check, seconds = 180) {
  const end = Date.now() + seconds * 1000;
  let last;
  while (Date.now() < end) {
    last = await check().catch((error) => error);
    if (last && !(last instanceof Error)) return last;
    await sleep(100);
  }
  assert.fail(`${what}: not within ${seconds} s (${last instanceof Error ? last.message : 'no answer'})`);
}

export async function getJson(url) {
  const answer = await fetch(url);
  assert.ok(answer.ok, `${url}: ${answer.status}`);
  return answer.json();
}

export async function startServer() {
  const dir = await mkdtemp(join(tmpdir(), 'mire-e2e-'));
  await chmod(dir, 0o755);
  const portFile = join(dir, 'port');
  await run('cmake', ['--install', BUILD, '--prefix', join(dir, 'mire')]);
  const bin = join(dir, 'mire/bin');
  const env = {
    ...process.env,
    PATH: `${bin}:${process.env.PATH}`,
    MIRED_DATA_DIR: join(dir, 'data'),
    MIRED_LISTEN: '127.0.0.1:0',
    MIRED_PORT_FILE: portFile,
    MIRED_WEB_DIR: join(SOURCE, 'web/dist'),
  };
  const log = [];
  const child = spawn(join(bin, 'mired'), ['serve'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => log.push(chunk.toString()));
  let url = '';
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    await rm(dir, { recursive: true, force: true });
  };
  try {
    await until('mired is healthy', async () => {
      if (child.exitCode !== null) throw new Error(`mired ended with ${child.exitCode}`);
      url = `http://127.0.0.1:${(await readFile(portFile, 'utf8')).trim()}`;
      return (await fetch(`${url}/healthz`)).ok;
    });
  } catch (error) {
    await stop();
    error.message += `\n${log.join('')}`;
    throw error;
  }
  const mire = async (...args) => (await run(join(bin, 'mire'), args, { env })).stdout;
  const key = async (app) =>
    /mk_[a-z0-9]{40}/.exec(await mire('key', 'create', app, '--data-dir', env.MIRED_DATA_DIR))[0];
  return { url, dir, env, mire, key, stop, log };
}

/* A session record of the contract's vectors, as if it had just ended. */
export async function sessionVector(name) {
  return asOfNow(await readVector('session/valid', name, 'document.json'));
}

/* One report of the contract's vectors, as if it had just happened. */
export async function vector(name, change = {}) {
  return { ...asOfNow(await readVector('valid', name, 'report.json')), ...change };
}

async function readVector(...path) {
  return JSON.parse(await readFile(join(SOURCE, 'schema/wire/vectors', ...path), 'utf8'));
}

function asOfNow(report) {
  const now = Date.now();
  const time = now.toString(16).padStart(12, '0');
  const tail = crypto.randomUUID().slice(19);
  const random = crypto.randomUUID().slice(15, 18);
  report.id = `${time.slice(0, 8)}-${time.slice(8)}-7${random}-${tail}`;
  if (report.event) report.event.begin_wall_ms = now - report.event.duration_ms;
  if (report.session) report.session.begin_wall_ms = now - report.session.duration_ms;
  return report;
}

export async function send(server, key, report) {
  const answer = await fetch(`${server.url}/api/v1/reports`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(report),
  });
  assert.equal(answer.status, 202, await answer.text());
}

/* All reports sent so far are worked on, those that are nobody's trouble too. */
export function worked(server, app, reports) {
  return until(`${reports} reports of ${app} are worked on`, async () => {
    const overview = await getJson(`${server.url}/api/v1/apps/${app}/overview`);
    const apart = overview.apart.reduce((sum, share) => sum + share.reports, 0);
    return overview.waiting === 0 && overview.totals.reports + apart >= reports && overview;
  });
}

/* Every debug file that reports of the app lack has been looked for: the Symbols page stays as it is. */
export function sought(server, app) {
  return until(`what ${app} lacks is looked for`, async () => {
    const { missing } = await getJson(`${server.url}/api/v1/apps/${app}/symbols`);
    return missing.every((one) => one.answer !== '');
  });
}

/* The output of a statement on the private database of a server. */
export async function sql(server, statement) {
  const lines = (await readFile(join(server.env.MIRED_DATA_DIR, 'postgres/postmaster.pid'), 'utf8')).split('\n');
  const words = ['-qXAt', '-h', lines[4], '-p', lines[3], '-U', 'mire', '-d', 'postgres', '-c', statement];
  return (await run('psql', words)).stdout;
}
