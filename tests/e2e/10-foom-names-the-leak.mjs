#!/usr/bin/env node
/*
 * Goal: programs that leak are killed by the kernel for lack of memory, in a group of processes that may have so much;
 * `mire run` tells, and the server says that it was a FOOM and names the function that leaked as Caller1: a program in
 * C++, python3 with a library of its own, redis-server as Debian ships it.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BUILD, getJson, startServer, until } from './support/server.mjs';

const GROUP = `/sys/fs/cgroup/memory/mire_foom_${process.pid}`;
const LIMIT_BYTES = 160 << 20;
const SKIPPED = 77;
const TOOLS = join(BUILD, 'tests/e2e');

const LEAK_IN_PYTHON = `
import ctypes, time
lib = ctypes.CDLL("${TOOLS}/libleaky.so")
keep = [str(i) * 20 for i in range(30000)]
for turn in range(100000):
    lib.open_session(50000)
    kept = [str(turn + i) for i in range(200)]
    if turn % 50 == 0: time.sleep(0.005)
`;

const programs = (dir) => [
  { app: 'leaker', command: [join(TOOLS, 'leaker'), '1024'], blamed: /^decode_picture/ },
  { app: 'python-leak', command: ['/usr/bin/python3', '-c', LEAK_IN_PYTHON], blamed: /^leak_session$/ },
  {
    app: 'redis-leak',
    command: ['redis-server', '--port', '0', '--unixsocket', join(dir, 'socket'), '--save', ''],
    client: ['redis-benchmark', '-s', join(dir, 'socket'), '-t', 'lpush', '-d', '4000', '-n', '10000000', '-q'],
    blamed: /^(pushGenericCommand|listTypePush|quicklistPush\w*)$/,
  },
];

/* The last program that was killed in the group. */
async function kills() {
  return Number(/oom_kill (\d+)/.exec(await readFile(`${GROUP}/memory.oom_control`, 'utf8'))[1]);
}

async function makeGroup() {
  await mkdir(GROUP);
  await writeFile(`${GROUP}/memory.limit_in_bytes`, `${LIMIT_BYTES}`);
  await writeFile(`${GROUP}/memory.memsw.limit_in_bytes`, `${LIMIT_BYTES}`).catch(() => {}); // where swap is counted
}

async function runUntilKilled(server, { app, command, client }) {
  const env = {
    ...server.env,
    MIRE_SERVER: server.url,
    MIRE_KEY: await server.key(app),
    MIRE_STORE: join(server.dir, `store-${app}`),
  };
  const before = await kills();
  const enter = ['sh', '-c', `echo $$ > ${GROUP}/cgroup.procs && exec "$@"`, 'sh'];
  const child = spawn('mire', ['run', '--app', app, '--', ...enter, ...command], { env, stdio: 'ignore' });
  const ended = once(child, 'exit');
  if (client) {
    await until('the server listens', () => readFile(`${client[2]}`).catch((error) => error.code === 'ENXIO'), 20);
    const flood = spawn(client[0], client.slice(1), { stdio: 'ignore' });
    await ended;
    flood.kill('SIGKILL');
  }
  const [code] = await ended;
  assert.equal(code, 137, `${app} was not killed`);
  assert.equal(await kills(), before + 1, `${app} was not killed by the kernel`);
}

try {
  await makeGroup();
} catch (error) {
  console.log(`skipped: no group of processes with a memory limit can be made here (${error.code})`);
  process.exit(SKIPPED);
}
const server = await startServer();
try {
  for (const program of programs(server.dir)) {
    await runUntilKilled(server, program);
    const foom = await until(`the FOOM of ${program.app} is told`, async () => {
      const { groups } = await getJson(`${server.url}/api/v1/apps/${program.app}/issues`);
      return groups.flatMap((group) => group.issues).find((one) => one.category === 'foom');
    });
    console.log(`${program.app}: ${foom.caller1} < ${foom.caller2}, ${foom.reason}`);
    assert.match(foom.caller1, program.blamed);
  }
} catch (error) {
  console.error(server.log.slice(-40).join(''));
  throw error;
} finally {
  await server.stop();
  await rmdir(GROUP);
}
