#!/usr/bin/env node
/*
 * A picture of one page: node tests/e2e/screenshot.mjs URL FILE [--dark] [--width N] [--height N] [--full] [--scale N]
 */
import { parseArgs } from 'node:util';
import { openBrowser } from './support/browser.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    dark: { type: 'boolean', default: false },
    full: { type: 'boolean', default: false },
    width: { type: 'string', default: '1440' },
    height: { type: 'string', default: '900' },
    scale: { type: 'string', default: '1' },
  },
});
const [url, file] = positionals;
if (!url || !file) {
  console.error('usage: screenshot.mjs URL FILE [--dark] [--full] [--width N] [--height N] [--scale N]');
  process.exit(2);
}

const browser = await openBrowser();
try {
  const page = await browser.newPage({
    viewport: { width: Number(values.width), height: Number(values.height) },
    deviceScaleFactor: Number(values.scale),
    colorScheme: values.dark ? 'dark' : 'light',
    reducedMotion: 'reduce',
  });
  await page.goto(url, { waitUntil: 'networkidle' });
  await page.waitForFunction(() => !document.querySelector('.skeleton'));
  await page.screenshot({ path: file, fullPage: values.full });
} finally {
  await browser.close();
}
