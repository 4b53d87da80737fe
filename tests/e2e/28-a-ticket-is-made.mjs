#!/usr/bin/env node
/*
 * Goal: an admin names a tracker on the page, a click makes the ticket of an issue there, once, and the page leads to it. The
 * tracker's webhook closes the ticket, and the page shows the issue resolved without a reload. The token is never told again.
 */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { holdsTheRules, openPage, settle } from './support/rules.mjs';
import { play } from './support/scene.mjs';
import { getJson, send, until, vector, worked } from './support/server.mjs';

/* GitHub's API, as far as tickets need it. */
async function startTracker() {
  const made = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const part of request) text += part;
    const shown = (at) => ({ id: 7001 + at, number: at + 1, html_url: `${url}/acme/shop/issues/${at + 1}`, body: made[at].body.body, state: 'open' });
    const [status, body] =
      request.method === 'POST'
        ? [201, shown(made.push({ body: JSON.parse(text), token: request.headers.authorization }) - 1)]
        : [200, made.map((_, at) => shown(at))];
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${server.address().port}`;
  return { url, made, stop: () => server.close() };
}

process.env.MIRED_ALERT_PRIVATE_HOOKS = 'yes';
const tracker = await startTracker();
try {
  await play(async (server, browser) => {
    const { page, complaints } = await openPage(browser);
    const key = await server.key('shop');
    await send(server, key, await vector('every-field'));
    await worked(server, 'shop', 1);
    const id = (await getJson(`${server.url}/api/v1/apps/shop/issues`)).groups[0].issues[0].id;
    const issue = `${server.url}/shop/issues/${id}`;

    await page.goto(issue);
    await settle(page);
    assert.equal(await page.getByRole('button', { name: 'New ticket' }).count(), 0, 'no tracker, no button');

    await page.goto(`${server.url}/shop/settings/links`);
    const form = page.getByRole('region', { name: 'Tracker' });
    await form.getByLabel('Kind', { exact: true }).selectOption('github');
    await form.getByLabel('Address of the API').fill(tracker.url);
    await form.getByLabel('Project', { exact: true }).fill('acme/shop');
    await form.getByLabel('Token', { exact: true }).fill('ghp_only_for_the_tracker');
    await form.getByRole('button', { name: 'Save' }).click();
    const secret = (await page.locator('code.secret').textContent()).trim();
    assert.match(secret, /^[0-9a-f]{64}$/);
    await page.reload();
    await settle(page);
    const html = await page.content();
    for (const told of ['ghp_only_for_the_tracker', secret]) assert.ok(!html.includes(told), 'it is told once');
    await holdsTheRules(browser, page.url());

    await page.goto(issue);
    await page.getByRole('button', { name: 'New ticket' }).click();
    const link = page.getByRole('link', { name: 'Ticket #1' });
    await link.waitFor();
    assert.equal(await link.getAttribute('href'), `${tracker.url}/acme/shop/issues/1`);
    assert.equal(tracker.made.length, 1);
    assert.equal(tracker.made[0].token, 'Bearer ghp_only_for_the_tracker');
    assert.ok(tracker.made[0].body.body.includes(issue), 'the ticket leads back');
    assert.equal(await page.getByRole('button', { name: 'New ticket' }).count(), 0, 'an issue has one ticket');
    await holdsTheRules(browser, issue);

    const call = JSON.stringify({ action: 'closed', issue: { id: 7001, number: 1, updated_at: '2040-01-01T00:00:01Z' } });
    const heard = await fetch(`${server.url}/api/v1/apps/shop/tracker/calls`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(call).digest('hex')}` },
      body: call,
    });
    assert.equal(heard.status, 200, await heard.text());
    await page.getByRole('link', { name: 'Ticket #1 (closed)' }).waitFor();
    await until('the issue is resolved', async () => (await getJson(`${server.url}/api/v1/apps/shop/issues/${id}`)).issue.state === 'resolved');
    assert.deepEqual(complaints, []);
  });
} finally {
  tracker.stop();
}
