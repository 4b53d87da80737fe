/* Reports made up to be large or hostile. Their numbers come from a fixed seed: every run sends the same. */

let last = 0;

/* A new identifier of version 7, later than the ones before. */
function identify() {
  last = Math.max(last + 1, Date.now());
  const time = last.toString(16).padStart(12, '0');
  const random = crypto.randomUUID();
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(15)}`;
}

/* A report of one image whose stacks are lists of offsets in it, outermost first; one sample each. */
export function reportOf(stacks, change = {}) {
  const frames = new Map();
  const nodes = { up: [], frame: [] };
  const known = new Map();
  const frameOf = (offset) => {
    if (!frames.has(offset)) frames.set(offset, frames.size);
    return frames.get(offset);
  };
  const nodeOf = (parent, offset) => {
    const key = `${parent} ${offset}`;
    if (!known.has(key)) {
      nodes.up.push(nodes.up.length + 1 - parent);
      nodes.frame.push(frameOf(offset));
      known.set(key, nodes.up.length);
    }
    return known.get(key);
  };
  const samples = { period_ms: 20, at_ms: [], weight_ms: [], node: [] };
  let at = 0;
  for (const { offsets, weight_ms } of stacks) {
    samples.at_ms.push(at);
    samples.weight_ms.push(weight_ms);
    samples.node.push(offsets.reduce(nodeOf, 0));
    at += weight_ms;
  }
  return {
    mire: 1,
    id: identify(),
    kind: 'event',
    app: { name: 'generated', version: change.version ?? '1.0' },
    device: { install: '00112233445566778899aabbccddeeff', os: 'linux', arch: 'x86_64', model: change.model ?? '' },
    process: { pid: 1, name: 'generated' },
    images: [{ name: change.image ?? '/opt/generated/app', id: '0123456789abcdef', load: 0x400000, size: 1 << 24 }],
    frames: { image: Array.from(frames, () => 0), offset: [...frames.keys()] },
    nodes,
    event: {
      begin_ns: 0,
      begin_wall_ms: Date.now() - at,
      duration_ms: at,
      threshold_ms: 1000,
      open: false,
      samples,
    },
  };
}

function numbers(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const HOT = { offsets: [0x10, 0x20, 0x30], weight_ms: 600_000 };

/*
 * Two reports of one issue: together more than 50,000 frames. Those of the second are too small for a graph of the
 * usual size, and stand directly under the root.
 */
export function wideReport() {
  const pick = numbers(7);
  const wide = [];
  for (let i = 0; i < 3800; i++) {
    const offsets = [0x10, 0x40 + pick(6)];
    for (let depth = 0; depth < 16; depth++) offsets.push(0x1000 + pick(6000));
    wide.push({ offsets, weight_ms: 10 + pick(40) });
  }
  const small = Array.from({ length: 1500 }, (_, i) => ({ offsets: [0x8000 + i, 0x9000 + i], weight_ms: 1 }));
  return [reportOf([HOT, ...wide]), reportOf([HOT, ...small])];
}

/* One call chain, 10,000 frames deep. */
export function deepReport() {
  const chain = Array.from({ length: 9997 }, (_, i) => 0x1000 + (i % 500));
  return reportOf([{ ...HOT, offsets: [...HOT.offsets, ...chain] }]);
}

const MIB = 2 ** 20;

/*
 * What a process of an app held. Its categories are 817, one of them `leak` times its usual size; stacks are lists of
 * offsets in the app, outermost first.
 */
export function memoryReport(trigger, leak = 1, change = {}) {
  const pick = numbers(change.seed ?? 11);
  const rows = [
    { name: 'Malloc 48.00 KiB', kind: 0, bytes: 21 * MIB * leak, count: 448 * leak, stacks: [[0x10, 0x20, 0x30, 0x40], [0x10, 0x50]] },
    { name: 'VM: anonymous', kind: 1, bytes: 34 * MIB, count: 12, stacks: [[0x10, 0x60]] },
    { name: 'MapViewController', kind: 2, bytes: 12_000 * leak, count: 12 * leak, stacks: [[0x10, 0x70]] },
    { name: 'VM: file', kind: 1, bytes: 14 * MIB, count: 61, stacks: [] },
    ...Array.from({ length: 813 }, (_, i) => ({
      name: i % 3 ? `Malloc ${16 * (i + 1)} B` : `Class<std::vector<${i}>>`,
      kind: i % 3 ? 0 : 2,
      bytes: 64 * (1 + pick(4000)),
      count: 1 + pick(400),
      stacks: [],
    })),
  ];
  const report = reportOf([]);
  const frames = [0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70];
  const nodes = { up: [], frame: [] };
  const known = new Map();
  const nodeOf = (parent, offset) => {
    const key = `${parent} ${offset}`;
    if (!known.has(key)) {
      nodes.up.push(nodes.up.length + 1 - parent);
      nodes.frame.push(frames.indexOf(offset));
      known.set(key, nodes.up.length);
    }
    return known.get(key);
  };
  const stacks = { category: [], node: [], count: [], bytes: [], grown_bytes: [], grown_count: [] };
  rows.forEach((row, i) => {
    row.stacks.forEach((offsets, k) => {
      const share = row.stacks.length === 1 ? 1 : k === 0 ? 0.8 : 0.2;
      stacks.category.push(i);
      stacks.node.push(offsets.reduce(nodeOf, 0));
      stacks.count.push(Math.round(row.count * share));
      stacks.bytes.push(Math.round(row.bytes * share));
      stacks.grown_bytes.push(Math.round((row.bytes * share) / 10));
      stacks.grown_count.push(Math.round((row.count * share) / 10));
    });
  });
  const column = (of) => rows.map((row) => Math.round(of(row)));
  const held = rows.reduce((sum, row) => sum + row.bytes, 0);
  const { event, ...rest } = report;
  return {
    ...rest,
    kind: 'memory',
    app: { name: 'generated', version: change.version ?? '1.0' },
    device: { ...rest.device, class: '4gb' },
    process: { ...rest.process, start_ns: 0 },
    frames: { image: frames.map(() => 0), offset: frames },
    nodes,
    memory: {
      trigger,
      taken_ns: 3e11,
      taken_wall_ms: Date.now(),
      foreground: true,
      mode: 'exact',
      footprint_bytes: Math.round(held * 1.04),
      limit_bytes: 512 * MIB,
      explained_bytes: Math.round(held),
      live_bytes: column((row) => (row.kind === 1 ? 0 : row.bytes)).reduce((a, b) => a + b, 0),
      live_count: column((row) => (row.kind === 1 ? 0 : row.count)).reduce((a, b) => a + b, 0),
      grown_ms: 60_000,
      trail: {
        at_ms: Array.from({ length: 20 }, (_, i) => i * 15_000),
        footprint_bytes: Array.from({ length: 20 }, (_, i) => Math.round((held * (i + 2)) / 21)),
      },
      categories: {
        name: rows.map((row) => row.name),
        kind: rows.map((row) => row.kind),
        live_count: column((row) => row.count),
        live_bytes: column((row) => row.bytes),
        grown_count: column((row) => (row.stacks.length > 0 ? row.count / 10 : 0)),
        grown_bytes: column((row) => (row.stacks.length > 0 ? row.bytes / 10 : 0)),
        stack_count: column((row) => row.stacks.length + 3),
      },
      stacks,
    },
  };
}
