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

export function openBrowser() {
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: FLAGS });
}
