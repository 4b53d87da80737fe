#!/usr/bin/env node
/*
 * Goal: on every page, with real data, the policy is enforced and never violated, the console stays empty, axe finds
 * nothing in either theme, nothing scrolls sideways on narrow screens, where the chosen tab is in sight, and the address
 * reproduces the page.
 */
import assert from 'node:assert/strict';
import { holdsTheRules, openPage, settle } from './support/rules.mjs';
import { play } from './support/scene.mjs';
import { getJson, send, sought, vector, worked } from './support/server.mjs';

const LONG = 'std::map<std::string, std::vector<std::pair<int, long>>>::operator[]'.repeat(4);
await play(async (server, browser) => {
  const key = await server.key('mapview');
  await server.key('new-app');
  const names = [
    'every-field',
    'open-event',
    'deep-stack',
    'no-samples',
    'stacks-that-share-nothing',
    'stacks-of-many-threads',
    'unicode-as-utf8',
  ];
  const reports = await Promise.all(names.map((name) => vector(name)));
  const hostile = await vector('every-field');
  hostile.app.version = '<script>alert(1)</script>';
  hostile.images[0].name = `/usr/lib/${LONG}.so`;
  hostile.device.model = '地图 \u202e\u0627\u0644 🙂';
  for (const report of [...reports, hostile]) await send(server, key, report);
  await worked(server, 'mapview', names.length + 1);
  await sought(server, 'mapview');

  const { groups } = await getJson(`${server.url}/api/v1/apps/mapview/issues`);
  const issues = groups.flatMap((group) => group.issues.map((feature) => feature.id));
  const pages = [
    '/',
    '/mapview',
    '/new-app',
    '/mapview/issues',
    '/mapview/issues?by=category',
    '/mapview/issues?q=no+such+thing',
    '/mapview/rules',
    '/new-app/rules',
    '/mapview/symbols',
    '/new-app/symbols',
  ];
  for (const tab of ['stack', 'flame', 'tree', 'top', 'reports', 'raw'])
    pages.push(`/mapview/issues/${issues[0]}?tab=${tab}`);
  for (const id of issues.slice(1, 4)) pages.push(`/mapview/issues/${id}?tab=stack`);
  for (const path of pages) await holdsTheRules(browser, server.url + path);

  const { page } = await openPage(browser, { viewport: { width: 390, height: 844 } });
  await page.goto(`${server.url}/mapview/issues/${issues[0]}?tab=raw`);
  await settle(page);
  const { x, width } = await page.locator('[role="tab"][aria-selected="true"]').boundingBox();
  assert.ok(x >= 0 && x + width <= 390, `the chosen tab is in sight on a narrow screen, at ${x}`);
});
