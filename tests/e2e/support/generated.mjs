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
    kind: 'hang',
    app: { name: 'generated', version: change.version ?? '1.0' },
    device: { install: '00112233445566778899aabbccddeeff', os: 'linux', arch: 'x86_64', model: change.model ?? '' },
    process: { pid: 1, name: 'generated' },
    images: [{ name: change.image ?? '/opt/generated/app', id: '0123456789abcdef', load: 0x400000, size: 1 << 24 }],
    frames: { image: Array.from(frames, () => 0), offset: [...frames.keys()] },
    nodes,
    hang: {
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
