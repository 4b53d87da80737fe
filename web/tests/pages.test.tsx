/* Pages drawn from the examples of the contract, and each of the four states a widget can be in. */
import { cleanup, configure, fireEvent, render, screen, waitFor } from '@testing-library/preact';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import changes from '../../schema/api/examples/getChanges.json';
import facets from '../../schema/api/examples/getFacets.json';
import flame from '../../schema/api/examples/getFlame.json';
import memoryFlame from '../../schema/api/examples/getFlame.memory.json';
import threadsFlame from '../../schema/api/examples/getFlame.threads.json';
import healthy from '../../schema/api/examples/getHealthy.json';
import issue from '../../schema/api/examples/getIssue.json';
import lockIssue from '../../schema/api/examples/getIssue.lock.json';
import memoryIssue from '../../schema/api/examples/getIssue.memory.json';
import issueMemory from '../../schema/api/examples/getIssueMemory.json';
import memory from '../../schema/api/examples/getMemory.json';
import sampledMemory from '../../schema/api/examples/getMemory.sampled.json';
import emptyOverview from '../../schema/api/examples/getOverview.empty.json';
import overview from '../../schema/api/examples/getOverview.json';
import emptyRates from '../../schema/api/examples/getRates.empty.json';
import rates from '../../schema/api/examples/getRates.json';
import report from '../../schema/api/examples/getReport.json';
import lockReport from '../../schema/api/examples/getReport.lock.json';
import powerReport from '../../schema/api/examples/getReport.power.json';
import nothing from '../../schema/api/examples/getStart.nothing.json';
import symbols from '../../schema/api/examples/getSymbols.json';
import emptyIssues from '../../schema/api/examples/listIssues.empty.json';
import issues from '../../schema/api/examples/listIssues.json';
import memoryIssues from '../../schema/api/examples/listIssues.memory.json';
import reports from '../../schema/api/examples/listReports.json';
import problem from '../../schema/api/examples/problem.no-such-issue.json';
import stored from '../../schema/api/examples/uploadSymbols.json';
import { KEYS, onKey } from '../src/lib/keys';
import { followLinks, go, query } from '../src/lib/location';
import { client } from '../src/lib/query';
import { bytes, offBytes } from '../src/model/format';
import { Copyable } from '../src/views/copyable';
import { Late } from '../src/views/late';
import { Older } from '../src/views/older';
import { Pages } from '../src/views/pages';

/* A loaded machine draws late: what is looked for ends the wait. */
configure({ asyncUtilTimeout: 30000 });

type Answers = Record<string, unknown>;

const ALL: Answers = {
  '/facets': facets,
  '/overview': overview,
  '/issues': issues,
  '/issues/I-1': issue,
  '/issues/I-1/reports': reports,
  '/issues/I-1/reports/latest': report,
  '/issues/I-1/flame': flame,
};

let asked: URL[] = [];

/* Answer by the path after /api/v1/apps/redis-server. A number is the status of a problem, undefined never answers. */
function serve(answers: Answers): void {
  vi.stubGlobal('fetch', (request: Request) => {
    const url = new URL(request.url);
    asked.push(url);
    const key = url.pathname.replace('/api/v1/apps/redis-server', '');
    const body = key === '/api/v1/apps' ? (answers.apps ?? { apps: [] }) : answers[key];
    if (body === undefined) return new Promise(() => {});
    const status = typeof body === 'number' ? body : 200;
    return Promise.resolve(
      new Response(JSON.stringify(status === 200 ? body : { ...problem, status }), {
        status,
        headers: { 'content-type': status === 200 ? 'application/json' : 'application/problem+json' },
      }),
    );
  });
}

beforeEach(() => {
  asked = [];
  localStorage.clear();
  /* A request for changes that is never answered: queries ask at their intervals. */
  vi.stubGlobal(
    'EventSource',
    Object.assign(
      class {
        close() {}
      },
      { CONNECTING: 0, CLOSED: 2 },
    ),
  );
  vi.stubGlobal('Path2D', new Proxy(class {}, { construct: () => new Proxy({}, { get: () => () => {} }) }));
  HTMLCanvasElement.prototype.getContext = (() =>
    new Proxy({}, { get: (_, name) => (name === 'measureText' ? () => ({ width: 70 }) : () => {}) })) as never;
  document.addEventListener('keydown', onKey);
  document.addEventListener('click', followLinks);
});

afterEach(() => {
  cleanup();
  client.clear();
  document.removeEventListener('keydown', onKey);
  document.removeEventListener('click', followLinks);
});

function open(path: string, answers: Answers = ALL): void {
  serve(answers);
  go(path, true);
  render(<Pages />);
}

it('the overview tells rates with what the sample leaves open, and nothing where no session was told', async () => {
  open('/redis-server', { ...ALL, '/rates': rates });
  const table = await screen.findByRole('region', { name: 'Rates table' });
  expect(table.textContent).toMatch(/2\.1\d* %1\.2\d* – 3\.6/);
  expect(table.textContent).toMatch(/3\.2\d* s1\.7\d* – 4\.7/);
  expect(table.textContent).toContain('8.0.38');
  expect(await screen.findByText(/Not sent: repeats 214 · storage full 12/)).toBeTruthy();
  cleanup();
  client.clear();
  open('/redis-server', { ...ALL, '/rates': emptyRates });
  await screen.findByText('Longest', { selector: '.label' });
  expect(screen.queryByRole('region', { name: 'Rates table' })).toBeNull();
});

it('the overview tells in words what changed, and by how much', async () => {
  open('/redis-server', { ...ALL, '/changes': changes });
  const panel = await screen.findByRole('region', { name: 'What changed' });
  await screen.findByText('0.22 → 1.7 hits in 1,000 sessions');
  expect(panel.textContent).toContain('×7.8');
  expect(panel.textContent).toContain('new in 7.2.4: 1.4 hits in 1,000 sessions');
  expect(panel.textContent).toContain('7.2.4 against 7.0.14, per session.');
  expect(panel.querySelector('a')!.getAttribute('href')).toBe('/redis-server/issues/I-1');
  fireEvent.click(screen.getByRole('button', { name: 'Week before' }));
  await waitFor(() => expect(asked.some((url) => url.searchParams.get('against') === 'week')).toBe(true));
  cleanup();
  client.clear();
  open('/redis-server', { ...ALL, '/changes': { ...changes, issues: [] } });
  await screen.findByText('No issue became more or less frequent.');
});

it('the overview links each number to the list behind it', async () => {
  open('/redis-server?t=24h&v=7.2.4');
  const tile = (await screen.findByText('Longest', { selector: '.label' })).closest('a');
  expect(tile?.getAttribute('href')).toBe('/redis-server/issues?t=24h&v=7.2.4&sort=-longest');
});

it('the filters of the address are sent as the contract writes them', async () => {
  open('/redis-server/issues?t=24h&v=7.2.4,!7.0.15&kind=hang&q=keys&sort=-events');
  await screen.findAllByText('keysCommand');
  const sent = asked.find((url) => url.pathname.endsWith('/issues'))!;
  expect(sent.searchParams.get('v')).toBe('7.2.4,!7.0.15');
  expect(sent.search).toContain('sort=-events');
});

it('the list shows a row a place, or both levels, and folding a group goes into the address', async () => {
  open('/redis-server/issues');
  await screen.findByRole('link', { name: /I-1\b.*keysCommand/ });
  expect(asked.findLast((url) => url.pathname.endsWith('/issues'))!.searchParams.get('state')).toBe('open,regressed');
  cleanup();
  open('/redis-server/issues?by=caller1');
  const group = await screen.findByRole('button', { name: /^keysCommand/ });
  expect(screen.getByRole('link', { name: /I-1\b.*processCommand/ })).toBeTruthy();
  fireEvent.click(group);
  await waitFor(() => expect(query.value.open).not.toContain(issues.groups[0]!.key));
  expect(screen.queryByRole('link', { name: /I-4\b.*execCommand/ })).toBeNull();
});

it('an issue opens at the hottest stack, with Caller1, Caller2 and the repeat of each frame', async () => {
  open('/redis-server/issues/I-1');
  await screen.findByText('Culprit');
  expect(screen.getByText('Scene')).toBeTruthy();
  expect(screen.getAllByText('20/20').length).toBeGreaterThan(3);
  expect(screen.getByText(/Sampled: the last/)).toBeTruthy();
  await waitFor(() => expect(location.search).toBe('?tab=stack'));
});

const LOCK: Answers = { ...ALL, '/issues/I-1': lockIssue, '/issues/I-1/reports/latest': lockReport };
const POWER: Answers = { ...ALL, '/issues/I-1/reports/latest': powerReport, '/issues/I-1/flame': threadsFlame };

it('an issue begins with a sentence and its rate by version, and is handed over as text', async () => {
  const versions = rates.versions.map((row, i) => ({ ...row, version: ['7.0.14', '7.2.4'][i] ?? row.version }));
  open('/redis-server/issues/I-1?tab=stack', { ...ALL, '/rates': { ...rates, versions } });
  expect((await screen.findByText(/^The thread is computing\./)).textContent).toContain(
    'Median 3.9 s, 95 % under 7.6 s.',
  );
  const list = await screen.findByLabelText('Events in 1,000 sessions, by version');
  expect(list.textContent).toBe('events in 1,000 sessions7.0.140.18');
  const markdown = '# I-1: `keysCommand`\n\n- Page /redis-server/issues/I-1?t=14d\n';
  const written: string[] = [];
  vi.stubGlobal('fetch', async () => new Response(markdown));
  vi.stubGlobal('navigator', { ...navigator, clipboard: { writeText: async (text: string) => written.push(text) } });
  fireEvent.click(screen.getByRole('button', { name: 'Hand over' }));
  await waitFor(() => expect(written.length).toBe(1));
  expect(written[0]).toContain('# I-1: `keysCommand`\n\nThe thread is computing.');
  expect(written[0]).toContain(`- Page ${location.origin}/redis-server/issues/I-1?t=14d`);
});

it('a lock names who held it, and shows that thread before the others', async () => {
  open('/redis-server/issues/I-1', LOCK);
  await screen.findByText(/held by thread journal/);
  expect(screen.getByText('mostly held by journal in flush_journal')).toBeTruthy();
  expect(screen.getByText('Lock held by')).toBeTruthy();
  const threads = [...document.querySelectorAll('details.thread')];
  expect(threads[0]!.textContent).toMatch(/holds the lock.*journal.*4213, in disk sleep, 40 ms on the CPU/);
  expect(threads.map((one) => (one as HTMLDetailsElement).open)).toEqual([true, false]);
  expect(screen.getByText('holds it here').closest('li')!.textContent).toContain('flush_journal');
});

it('a report says what its clocks, its filters and its cost were', async () => {
  open('/redis-server/issues/I-1', LOCK);
  await screen.findByText(/the machine slept 1\.2 s besides/);
  expect(screen.getByText(/2 more like it, 5\.4 s together, were counted on the device and not sent/)).toBeTruthy();
  expect(screen.getByText(/412 wake-ups, 5\.0 KiB stored, sampling slowed down 1 time to stay cheap/)).toBeTruthy();
  expect(screen.getByText(/foreground [\d.]+\s?% · 12 more not sent \(repeats\)/)).toBeTruthy();
  expect(screen.getByText('2.0 s and more').closest('tr')!.textContent).toContain('1');
});

it('the server and the device each say who is to blame', async () => {
  open('/redis-server/issues/I-1', LOCK);
  const row = (await screen.findByText('On the device')).closest('tr')!;
  expect(row.textContent).toContain('cache_lookup');
  expect(row.textContent).toContain('100');
  expect(screen.getByText('Mire says').closest('tr')!.textContent).toContain('cache_lookup');
});

it('an event of the whole process shows its load and the hottest thread', async () => {
  open('/redis-server/issues/I-1', POWER);
  await screen.findByText(/93\s% of a processor over/);
  expect(screen.getByText('in the background')).toBeTruthy();
  expect(screen.getByText('of thread encoder-0')).toBeTruthy();
  expect(screen.queryByText(/samples cover/)).toBeNull();
  open('/redis-server/issues/I-1?tab=tree', POWER);
  expect((await screen.findAllByText('encoder')).length).toBeGreaterThan(0);
});

const MEMORY: Answers = {
  ...ALL,
  '/issues': memoryIssues,
  '/issues/M-11': memoryIssue,
  '/issues/M-11/reports': reports,
  '/issues/M-11/reports/latest/memory': memory,
  '/issues/M-11/reports/latest': report,
  '/issues/M-11/memory': issueMemory,
  '/issues/M-11/flame': memoryFlame,
  '/healthy': healthy,
};

it('the list of memory asks for its kinds alone, and shows what there is too much of', async () => {
  open('/redis-server/memory', MEMORY);
  await screen.findByRole('heading', { name: 'Memory' });
  expect((await screen.findAllByText('Malloc 48.00 KiB')).length).toBeGreaterThan(0);
  const list = asked.find((url) => url.pathname.endsWith('/issues'))!;
  expect([list.searchParams.get('kind'), list.searchParams.get('sort')]).toEqual(['foom,memory', 'auto']);
  expect(screen.getByRole('columnheader', { name: /Largest/ })).toBeTruthy();
  cleanup();
  open('/redis-server/issues');
  await screen.findByRole('heading', { name: 'Issues' });
  expect(asked.findLast((url) => url.pathname.endsWith('/issues'))!.searchParams.get('kind')).toBe('!foom,!memory');
});

it('allocations name the suspects, why, and who allocated them', async () => {
  open('/redis-server/memory/M-11?tab=held', MEMORY);
  const suspects = await screen.findByRole('region', { name: 'Suspect categories' });
  expect(suspects.textContent).toMatch(/Malloc 48.00 KiB.*too many bytes/);
  expect(suspects.textContent).toMatch(/GdkPixbuf.*\(count\).*too many objects/);
  const stacks = screen.getByRole('region', { name: 'Stacks of Malloc 48.00 KiB' });
  expect(stacks.textContent).toMatch(/78\s%.*TileCache::insert\(Key, Tile&&\)\s*Culprit/);
  expect(screen.getByText('Killed: out of memory.')).toBeTruthy();
  expect(screen.getByText(/of 9 baselines of this version and device class/)).toBeTruthy();
  expect(screen.getByText(/99\s% sure, 7 of 7 exclusions hold/)).toBeTruthy();
  fireEvent.click(screen.getAllByRole('button', { name: 'Malloc 32 B' })[0]!);
  await screen.findByText(/No stacks: below the top categories/);
  expect(query.value.c).toBe('heap:Malloc 32 B');
  fireEvent.click(screen.getByRole('button', { name: 'Mappings' }));
  await waitFor(() => expect(screen.queryByRole('button', { name: 'Malloc 32 B' })).toBeNull());
});

it('where frames are called by another name than the process, the page says by which', async () => {
  const facts = [...report.facts, { name: 'path', value: '/usr/bin/redis-check-rdb' }];
  open('/redis-server/issues/I-1?tab=stack', { ...ALL, '/issues/I-1/reports/latest': { ...report, facts } });
  const picker = await screen.findByRole('group', { name: 'Report' });
  expect(picker.textContent).toContain('redis-server is the file redis-check-rdb');
});

it('of a killed process it is said what explains too little of it', async () => {
  const late = { ...memory, explained_bytes: memory.footprint_bytes / 2 };
  open('/redis-server/memory/M-11?tab=held', { ...MEMORY, '/issues/M-11/reports/latest/memory': late });
  await screen.findByText(/pages filled between then and the kill are missing/);
  for (const other of [memory, { ...late, trigger: 'pressure' }]) {
    cleanup();
    client.clear();
    open('/redis-server/memory/M-11?tab=held', { ...MEMORY, '/issues/M-11/reports/latest/memory': other });
    await screen.findByText('Explained');
    expect(screen.queryByText(/pages filled between then/)).toBeNull();
  }
});

it('an estimate says how sure it is: the whole, a category, a stack; what is exact says nothing', async () => {
  open('/redis-server/memory/M-11?tab=held', { ...MEMORY, '/issues/M-11/reports/latest/memory': sampledMemory });
  const { live_bytes, error_bytes } = sampledMemory;
  const stacks = await screen.findByRole('region', { name: /^Stacks of/ });
  expect(stacks.textContent).toMatch(/% +[\d.]+ [KMG]iB ± [\d.]+ /);
  expect(screen.getByText(/blocks and objects/).textContent).toContain(
    `${bytes(live_bytes)} ${offBytes(live_bytes, error_bytes)} in `,
  );
  const table = screen.getByRole('region', { name: 'All categories' });
  expect(table.textContent).toMatch(/MapViewController class[\d.]+ [KM]iB± [\d.]+/);
  expect(table.textContent).toMatch(/VM: file mapping[\d.]+ MiB\d/);
  expect(screen.getByText(/estimated, one sample every 512 KiB/).textContent).toContain('±: 95 % interval');
  cleanup();
  client.clear();
  open('/redis-server/memory/M-11?tab=held', MEMORY);
  await screen.findByText('every allocation counted · growth of the last 1 min');
  expect(document.body.textContent).not.toContain('±');
});

it('pages that are the same at all times offer no range, and its keys leave the address alone', async () => {
  const menus = () => document.querySelectorAll('.filters > [popovertarget]').length;
  open('/redis-server/issues');
  await screen.findByRole('button', { name: 'Copy link' });
  await waitFor(() => expect(menus()).toBe(4));
  cleanup();
  open('/redis-server/rules');
  await screen.findByRole('button', { name: 'Copy link' });
  expect(menus()).toBe(0);
  fireEvent.keyDown(document.body, { key: ',' });
  expect(query.value.t).toBe('14d');
});

it('a page whose code cannot be had says so, and can be loaded again', async () => {
  render(<Late load={() => Promise.reject(new Error('404'))} props={{}} label="Rules" />);
  expect((await screen.findByRole('alert')).textContent).toContain('The page could not be loaded');
  expect(screen.getByRole('button', { name: 'Load again' })).toBeTruthy();
});

it('what allocators mapped is told apart from the blocks in it, and has no share', async () => {
  open('/redis-server/memory/M-11?tab=held&c=vm:VM:%20allocator', MEMORY);
  const table = await screen.findByRole('region', { name: 'All categories' });
  expect(table.textContent).toMatch(/VM: allocator holds blocks\d+ MiB\d+—/);
  expect(screen.getByText(/besides the \d+ MiB that hold blocks/).parentElement!.textContent).toMatch(/^\d+/);
  expect(screen.getByText('Its blocks have the stacks: see the rows of the heap.')).toBeTruthy();
  fireEvent.click(screen.getByRole('button', { name: 'VM: anonymous' }));
  const stacks = await screen.findByRole('region', { name: 'Stacks of VM: anonymous' });
  expect(stacks.textContent).toMatch(/MiB of addresses/);
  fireEvent.click(screen.getByRole('tab', { name: 'All reports' }));
  const all = await screen.findByRole('region', { name: 'Categories over all reports' });
  expect(all.textContent).toMatch(/VM: allocator holds blocks/);
});

it('what a report is compared with can be chosen, and is in the address', async () => {
  open('/redis-server/memory/M-11?tab=held', MEMORY);
  const choice = await screen.findByRole('combobox', { name: 'Compared with' });
  await screen.findByRole('option', { name: '8.0.38' });
  fireEvent.change(choice, { target: { value: 'v:8.0.38' } });
  expect((await screen.findAllByText('vs 8.0.38')).length).toBe(2);
  expect(query.value.cmp).toBe('v:8.0.38');
  expect(asked.findLast((url) => url.pathname.endsWith('/healthy'))!.searchParams.get('v')).toBe('8.0.38');
});

it('every tab of an issue of memory draws', async () => {
  for (const [tab, text] of [
    ['all', 'Suspect in'],
    ['flame', 'Count'],
    ['tree', 'onScroll(GtkWidget*, double)'],
    ['top', 'malloc'],
    ['reports', 'Held by the category'],
    ['raw', 'Operating system'],
  ] as const) {
    open(`/redis-server/memory/M-11?tab=${tab}`, MEMORY);
    expect((await screen.findAllByText(text)).length, tab).toBeGreaterThan(0);
    cleanup();
  }
});

it('every tab of an issue draws', async () => {
  for (const [tab, text] of [
    ['flame', /Width = time/],
    ['tree&ff=none', 'aeProcessEvents'],
    ['top', 'siphash_nocase'],
    ['reports', '63610791'],
    ['raw', 'Operating system'],
  ] as const) {
    open(`/redis-server/issues/I-1?tab=${tab}`);
    expect((await screen.findAllByText(text)).length, tab).toBeGreaterThan(0);
    cleanup();
  }
});

it('the reports of an issue are found by user, scene and tag', async () => {
  const last = () => asked.findLast((url) => url.pathname.endsWith('/reports'))?.searchParams;
  open('/redis-server/issues/I-1?tab=reports');
  const what = (await screen.findByLabelText('Reports with')) as HTMLSelectElement;
  await waitFor(() => expect(last()?.has('user')).toBe(false));
  fireEvent.change(what, { target: { value: 'tag' } });
  fireEvent.input(screen.getByLabelText('name=value of a tag kept'), { target: { value: ' plan=a=b ' } });
  fireEvent.click(screen.getByText('Find'));
  await waitFor(() => expect(last()?.get('tag')).toBe('plan=a=b'));
  expect(location.search).toContain('r=tag');
  expect(await screen.findByText(`${reports.reports.length} found`)).toBeTruthy();
  fireEvent.click(screen.getByText('Show all'));
  await waitFor(() => expect(location.search).not.toContain('r='));
  cleanup();
  open('/redis-server/issues/I-1?tab=reports&r=user=4711', {
    ...ALL,
    '/issues/I-1/reports': { ...reports, reports: [], next: 'c' },
  });
  expect(await screen.findByText('No such report so far; older ones are not searched yet.')).toBeTruthy();
  expect(last()?.get('user')).toBe('4711');
});

it('while loading, a skeleton stands where the page will be', async () => {
  open('/redis-server/issues', {});
  expect(await screen.findByLabelText('Loading issues')).toBeTruthy();
});

it('before the first report, the page says how to send one', async () => {
  open('/redis-server', { ...ALL, '/overview': emptyOverview, '/start': nothing, apps: { apps: [] } });
  fireEvent.click(await screen.findByText('Linux: run it'));
  const lines = (await screen.findByText(/mire run --app redis-server/)).textContent!.split('\n');
  expect(lines).toEqual([
    `export MIRE_SERVER=${location.origin}`,
    'export MIRE_KEY=mk_…',
    'mire run --app redis-server --threshold 500 -- ./redis-server',
  ]);
  expect(await screen.findByText('Waiting for the first report')).toBeTruthy();
});

it('when filters leave nothing, the page offers to drop them', async () => {
  open('/redis-server/issues?q=nothing', { ...ALL, '/issues': emptyIssues });
  fireEvent.click(await screen.findByText('Remove q:nothing'));
  await waitFor(() => expect(query.value.q).toBe(''));
});

it('a problem shows its title, its request id and a way to try again', async () => {
  open('/redis-server/issues/I-1', { ...ALL, '/issues/I-1': 500 });
  expect(await screen.findByText(problem.title)).toBeTruthy();
  expect(screen.getByText(problem.request_id)).toBeTruthy();
  serve(ALL);
  fireEvent.click(screen.getByText('Retry'));
  expect(await screen.findByText('Culprit')).toBeTruthy();
});

it.each([
  ['/redis-server/issues/I-1', '/issues/I-1', 'All issues', '/redis-server/issues'],
  ['/redis-server/memory/M-1', '/issues/M-1', 'All memory issues', '/redis-server/memory'],
  ['/redis-server', '/overview', 'All apps', '/'],
])('what is not there leads to what is: %s', async (path, key, words, to) => {
  open(path, { ...ALL, [key]: 404 });
  const link = (await screen.findAllByText(words)).find((one) => one.closest('[role=alert]'));
  expect(link?.getAttribute('href')).toBe(to);
  expect(screen.queryByText('Retry')).toBeNull();
});

it('a share of values of which none is known is not shown', async () => {
  const unknown = { name: 'model', values: [{ key: '', count: 3, share: 1, lift: null }] };
  open('/redis-server/issues/I-1', {
    ...ALL,
    '/issues/I-1': { ...issue, distributions: [...issue.distributions.filter((one) => one.name !== 'model'), unknown] },
  });
  expect(await screen.findByText('Architecture')).toBeTruthy();
  expect(screen.queryByText('Model')).toBeNull();
});

it('an answer that can no longer be renewed stays, and says how old it is', async () => {
  open('/redis-server/issues');
  await screen.findAllByText('keysCommand');
  serve({ ...ALL, '/issues': 404 });
  await client.refetchQueries({ queryKey: ['issues'] });
  expect(await screen.findByText(/Showing data from/)).toBeTruthy();
  expect(screen.getAllByText('keysCommand').length).toBeGreaterThan(0);
});

it('new reports are offered, and rows stay where they are until then', async () => {
  open('/redis-server/issues');
  await screen.findAllByText('keysCommand');
  await screen.findByText(/reports in range/);
  serve({ ...ALL, '/overview': { ...overview, range: { ...overview.range, as_of: '2027-01-01T00:00:00.000Z' } } });
  await client.refetchQueries({ queryKey: ['overview'] });
  fireEvent.click(await screen.findByText('New reports · show'));
  await waitFor(() => expect(screen.queryByText('New reports · show')).toBeNull());
});

it('a filter that a page cannot honour says so', async () => {
  open('/redis-server?q=keys');
  expect(await screen.findByText(/not used here/)).toBeTruthy();
});

it('the key sheet lists every key that is bound', async () => {
  open('/redis-server');
  for (const row of KEYS) expect(screen.getAllByText(row.does, { ignore: false }).length).toBeGreaterThan(0);
});

it('Ctrl K finds by a few letters, by arrows, and leaves Enter alone while a word is composed', async () => {
  open('/redis-server');
  fireEvent.keyDown(screen.getByRole('searchbox'), { key: 'k', ctrlKey: true });
  const field = await screen.findByRole('combobox', { name: 'A page, an issue, a function, a version' });
  const chosen = () => screen.getAllByRole('option').findIndex((one) => one.getAttribute('aria-selected') === 'true');
  fireEvent.keyDown(field, { key: 'ArrowUp' });
  await waitFor(() => expect(chosen()).toBe(screen.getAllByRole('option').length - 1));
  fireEvent.keyDown(field, { key: 'ArrowDown' });
  await waitFor(() => expect(chosen()).toBe(0));
  fireEvent.input(field, { target: { value: 'ROLL' } });
  await waitFor(() => expect(screen.getAllByRole('option')[0]!.textContent).toContain('Rollout'));
  fireEvent.keyDown(field, { key: 'Enter', isComposing: true });
  expect(location.pathname).toBe('/redis-server');
  fireEvent.keyDown(field, { key: 'Enter' });
  await waitFor(() => expect(location.pathname).toBe('/redis-server/rollout'));
  expect(screen.queryByRole('combobox')).toBeNull();
});

it('keys move, and do nothing inside a field', async () => {
  open('/redis-server');
  const field = screen.getByRole('searchbox');
  fireEvent.keyDown(field, { key: 'g' });
  fireEvent.keyDown(field, { key: 'i' });
  expect(location.pathname).toBe('/redis-server');
  fireEvent.keyDown(document.body, { key: 'g' });
  fireEvent.keyDown(document.body, { key: 'i' });
  await waitFor(() => expect(location.pathname).toBe('/redis-server/issues'));
});

it('markup in names is text', async () => {
  const name = '<script>alert(1)</script>';
  const hostile = { ...issues, groups: [{ ...issues.groups[0]!, title: name }] };
  open('/redis-server/issues', { ...ALL, '/issues': hostile });
  expect((await screen.findAllByText(name)).length).toBeGreaterThan(0);
  expect(document.querySelector('#root script, .issues script')).toBeNull();
});

it('a missing debug file tells where it was looked for, or that it will be, or has to be sent', async () => {
  open('/redis-server/symbols', { ...ALL, '/symbols': symbols, '/rekey': { jobs: [] } });
  const told = async (name: RegExp) => (await screen.findByRole('row', { name })).querySelector('.looked')!.textContent;
  expect(await told(/^redis-server x86_64/)).toMatch(/^not in 1 directory, nor at 1 debuginfod server · since .+/);
  expect(await told(/^libc/)).toBe('not yet');
  expect(await told(/^base.apk/)).toBe('it has to be sent');
});

it('a debug file that is there and damaged is told with what is wrong', async () => {
  open('/redis-server/symbols', { ...ALL, '/symbols': symbols, '/rekey': { jobs: [] } });
  const row = await screen.findByRole('row', { name: /^shop/ });
  expect(row.textContent).toContain('1 split file is damaged (6dc4f75957c4e516)');
  const tools = await screen.findByRole('row', { name: /^toolbox/ });
  expect(tools.textContent).toContain('its dwz file is missing (tools.debug');
  expect((await screen.findByRole('row', { name: /^libc/ })).querySelector('.warn-text')).toBeNull();
});

it('what the server says is damaged of a file that was sent stands beside it', async () => {
  const defect = 'is damaged: 3 or more of its units cannot be read whole';
  class Sent {
    upload = {};
    status = 201;
    response = { files: [{ ...stored.files[0], defect }] };
    onload = () => {};
    open() {}
    setRequestHeader() {}
    send() {
      this.onload();
    }
  }
  vi.stubGlobal('XMLHttpRequest', Sent);
  open('/redis-server/symbols', { ...ALL, '/symbols': symbols, '/rekey': { jobs: [] } });
  fireEvent.input(await screen.findByLabelText('Key with scope symbols'), { target: { value: 'mk_a' } });
  const picker = document.querySelector<HTMLInputElement>('input[type=file]')!;
  Object.defineProperty(picker, 'files', { value: [new File(['x'], 'app.debug')], configurable: true });
  fireEvent.change(picker);
  expect(await screen.findByText(defect)).toBeTruthy();
  vi.unstubAllGlobals();
});

it('of a long text the beginning is shown, to the end of a line, and all of it copied', async () => {
  const written = vi.fn(async (_text: string) => {});
  vi.stubGlobal('navigator', { ...navigator, clipboard: { writeText: written } });
  const text = 'first\nsecond\nthird\n';
  render(<Copyable label="Words" text={text} most={14} />);
  expect(document.querySelector('pre')!.textContent).toBe('first\nsecond');
  screen.getByText(/^The first part of/);
  fireEvent.click(screen.getByRole('button', { name: 'Copy' }));
  await waitFor(() => expect(written).toHaveBeenCalledWith(text));
  vi.unstubAllGlobals();
});

it('the command to upload takes any name for a word of the shell', async () => {
  const missing = [{ ...symbols.missing[0]!, name: 'a $(b)\u{1f600}.so' }];
  open('/redis-server/symbols', { ...ALL, '/symbols': { ...symbols, missing }, '/rekey': { jobs: [] } });
  const command = await screen.findByText(/mire symbols upload/);
  expect(command.textContent).toContain('mire symbols upload /path/to/a\\ \\$\\(b\\)\\\u{1f600}.so');
});

it('the empty list names the filter that excludes most', async () => {
  serve({ ...ALL, '/issues': emptyIssues });
  const answer = globalThis.fetch as (request: Request) => Promise<Response>;
  vi.stubGlobal('fetch', (request: Request) => {
    const url = new URL(request.url);
    const withoutText = url.pathname.endsWith('/issues') && !url.searchParams.has('q');
    return withoutText ? Promise.resolve(Response.json(issues)) : answer(request);
  });
  go('/redis-server/issues?q=nothing&kind=hang');
  render(<Pages />);
  await screen.findByText('q:nothing hides the most.');
});

it('a list goes on below its last row, and back to its newest', () => {
  const set = vi.fn();
  const rows = [{ id: 9 }, { id: 4 }];
  const { rerender } = render(<Older before={0} set={set} more rows={rows} />);
  expect(screen.queryByRole('button', { name: 'Newest' })).toBeNull();
  fireEvent.click(screen.getByRole('button', { name: 'Older' }));
  expect(set).toHaveBeenLastCalledWith(4);
  rerender(<Older before={4} set={set} more={false} rows={rows} />);
  expect(screen.queryByRole('button', { name: 'Older' })).toBeNull();
  fireEvent.click(screen.getByRole('button', { name: 'Newest' }));
  expect(set).toHaveBeenLastCalledWith(0);
});
