/*
 * What holds on every page: the policy is enforced and never violated, nothing is written to the console, axe finds
 * nothing in either theme, nothing scrolls sideways from 320 to 1920 pixels, and loading the address again shows
 * the same text.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { AXE } from './browser.mjs';

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "require-trusted-types-for 'script'",
  "frame-ancestors 'none'",
];
const WIDTHS = [320, 390, 768, 1440, 1920];
const THEMES = ['light', 'dark'];
const axe = await readFile(AXE, 'utf8');

/* A page that remembers everything it should not have said. */
export async function openPage(browser, options = {}) {
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    reducedMotion: 'reduce',
    ...options,
  });
  const page = await context.newPage();
  const complaints = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => complaints.push(`error: ${error.stack ?? error}`));
  page.on('requestfailed', (request) => {
    if (request.failure()?.errorText !== 'net::ERR_ABORTED') complaints.push(`failed: ${request.url()}`);
  });
  await page.exposeFunction('tellViolation', (text) => complaints.push(`policy: ${text}`));
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => {
      globalThis.tellViolation(
        `${event.effectiveDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`,
      );
    });
  });
  return { page, complaints, close: () => context.close() };
}

export async function settle(page) {
  await page.waitForFunction(() => document.querySelector('main h1, main .empty, main .heading') !== null);
  await page.waitForFunction(() => !document.querySelector('.skeleton, .refreshing, [aria-busy="true"]'));
  await page.waitForFunction(() => document.querySelectorAll('.plot:not(:has(.uplot))').length === 0);
}

/* The text of the page, without the times that move with the clock. */
export function text(page) {
  return page.evaluate(() => {
    const copy = document.body.cloneNode(true);
    for (const moving of copy.querySelectorAll('time, .status, [role="status"], .toast, script')) moving.remove();
    return copy.textContent.replace(/\s+/g, ' ').trim();
  });
}

function firstDifference(a, b) {
  if (a === b) return '';
  let i = 0;
  while (a[i] === b[i]) i++;
  return `...${a.slice(Math.max(0, i - 40), i + 40)}... became ...${b.slice(Math.max(0, i - 40), i + 40)}...`;
}

async function accessible(browser, url, theme, act, options) {
  /* The policy keeps out the script that axe is: this one context is let past it, all others are not. */
  const context = await browser.newContext({ colorScheme: theme, bypassCSP: true, reducedMotion: 'reduce', ...options });
  const page = await context.newPage();
  await page.goto(url, { waitUntil: 'networkidle' });
  await settle(page);
  await act(page);
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() =>
    globalThis.axe.run(document, {
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
    }),
  );
  await context.close();
  const told = violations.map(
    (v) => `${v.id}: ${v.nodes.map((node) => `${node.html} ${node.failureSummary}`).join('\n')}`,
  );
  assert.deepEqual(told, [], `axe, ${theme}, ${url}`);
}

/*
 * `isMoving`: its figures change by themselves, so its text is not the same a second later. `act` opens what is part of the
 * page on request only.
 */
export async function holdsTheRules(browser, url, { isMoving = false, act = async () => {}, ...options } = {}) {
  const { page, complaints, close } = await openPage(browser, options);
  const answer = await page.goto(url, { waitUntil: 'networkidle' });
  const policy = answer.headers()['content-security-policy'] ?? '';
  for (const directive of POLICY) assert.ok(policy.includes(directive), `${directive} in the policy of ${url}`);
  await settle(page);
  await act(page);

  const before = await text(page);
  const address = page.url();
  await page.goto('about:blank');
  await page.goto(address, { waitUntil: 'networkidle' });
  await settle(page);
  await act(page);
  if (!isMoving) assert.equal(firstDifference(before, await text(page)), '', `the same text after loading ${address} again`);

  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `${url} scrolls sideways by ${wide} px at ${width} px`);
  }
  assert.deepEqual(complaints, [], url);
  await close();
  for (const theme of THEMES) await accessible(browser, url, theme, act, options);
}
