/* The cost of a page: bytes of its requests, nodes, moved layout; and of a tab at which nobody looks. */

/* Load an address in a context without a cache, and read everything once it stands still. */
export async function costOf(browser, url, settle, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce', ...options });
  const page = await context.newPage();
  const wire = await context.newCDPSession(page);
  const bytes = new Map(); // by request: those that came over the wire, heads included
  const answers = new Map();
  await wire.send('Network.enable');
  wire.on('Network.responseReceived', ({ requestId, response }) => answers.set(requestId, response));
  wire.on('Network.dataReceived', ({ requestId, encodedDataLength }) =>
    bytes.set(requestId, (bytes.get(requestId) ?? 0) + encodedDataLength),
  );
  wire.on('Network.loadingFinished', ({ requestId, encodedDataLength }) =>
    bytes.set(requestId, Math.max(bytes.get(requestId) ?? 0, encodedDataLength)),
  );
  await page.addInitScript(() => {
    globalThis.moved = 0;
    globalThis.movers = [];
    const told = (node) => `${node?.nodeName ?? ''}.${node?.className ?? ''}`;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        if (entry.hadRecentInput) continue;
        globalThis.moved += entry.value;
        for (const { node, previousRect, currentRect } of entry.sources)
          globalThis.movers.push(`${told(node)} ${previousRect.x},${previousRect.y} to ${currentRect.x},${currentRect.y}`);
      }
    }).observe({ type: 'layout-shift', buffered: true });
  });
  await page.goto(url, { waitUntil: 'networkidle' });
  await settle(page);
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const total = () => [...bytes.values()].reduce((sum, more) => sum + more, 0);
  const { nodes, moved, movers } = await page.evaluate(() => ({
    nodes: document.querySelectorAll('*').length,
    moved: globalThis.moved,
    movers: globalThis.movers,
  }));
  const largest = [...bytes].sort((a, b) => b[1] - a[1]).slice(0, 12);
  return {
    transferred: total(),
    largest: largest.map(([id, size]) => `${size} ${answers.get(id)?.url.replace(/^https?:\/\/[^/]+/, '')}`),
    nodes,
    moved,
    movers,
    answers: [...answers.values()],
    total,
    requests: () => answers.size,
    close: () => context.close(),
  };
}
