/* Debian's Chromium driven by playwright-core, which is installed in web/. */
import { createRequire } from 'node:module';

const need = createRequire(new URL('../../../web/package.json', import.meta.url));
const { chromium } = need('playwright-core');

export const AXE = need.resolve('axe-core/axe.min.js');

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-dev-shm-usage',
];

const PATIENCE_MS = 180_000; // until a page shows what it is waited for: other programs may use all processors

export async function openBrowser() {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: FLAGS, timeout: PATIENCE_MS });
  const newContext = browser.newContext.bind(browser);
  browser.newContext = async (options) => {
    const context = await newContext(options);
    context.setDefaultTimeout(PATIENCE_MS);
    return context;
  };
  return browser;
}
