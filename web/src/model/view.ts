/*
 * A view is the content of the URL: the page, with its filters, its order and its unfolded rows. Equal views have equal
 * URLs: keys have a fixed order, and defaults are dropped. Unknown keys are kept unchanged.
 */
export type Page =
  | { name: 'apps' }
  | { name: 'overview'; app: string }
  | { name: 'issues'; app: string }
  | { name: 'memory'; app: string }
  | { name: 'rules'; app: string }
  | { name: 'symbols'; app: string }
  | { name: 'alerts'; app: string }
  | { name: 'rollout'; app: string }
  | { name: 'versions'; app: string; version: string | null }
  | { name: 'start'; app: string }
  | { name: 'issue'; app: string; id: string }
  | { name: 'settings'; app: string; part: SettingsPart }
  | { name: 'sign-in' }
  | { name: 'welcome' }
  | { name: 'ack' }
  | { name: 'new' }
  | { name: 'profile' }
  | { name: 'server' }
  | { name: 'health' }
  | { name: 'audit' }
  | { name: 'lost'; app?: string };

export type SettingsPart = 'keys' | 'members' | 'reports' | 'links' | 'forget' | 'audit';
export const SETTINGS_PARTS: readonly SettingsPart[] = ['keys', 'members', 'reports', 'links', 'forget', 'audit'];

/* Pages of no app stand below a name that no app can have. */
const OF_NO_APP = ['sign-in', 'welcome', 'ack', 'new', 'profile', 'server', 'health', 'audit'] as const;

export type Tab = 'stack' | 'held' | 'all' | 'flame' | 'tree' | 'top' | 'reports' | 'group' | 'activity' | 'raw';
/** Tabs of an issue; and of a memory issue, whose id begins with M. */
export const TABS: readonly Tab[] = ['stack', 'flame', 'tree', 'top', 'reports', 'group', 'activity', 'raw'];
export const MEMORY_TABS: readonly Tab[] = [
  'held',
  'all',
  'flame',
  'tree',
  'top',
  'reports',
  'group',
  'activity',
  'raw',
];

/** The frames that a view folds. */
export type Folding = 'system' | 'recursion' | 'both' | 'none';
export const FOLDINGS: readonly Folding[] = ['system', 'recursion', 'both', 'none'];

/** Facets of the device and its channel that the lists are filtered by, besides version and kind. */
export const FACETS = ['os', 'os_version', 'model', 'class', 'channel'] as const;
export type FacetKey = (typeof FACETS)[number];

/** Filters are as the server takes them: `!` excludes, a backslash makes a comma part of a value. */
export interface Query extends Record<FacetKey, string[]> {
  /** Range: 14d, or FROM..TO. */
  t: string;
  /** Zone of the times shown: local or utc. */
  tz: 'local' | 'utc';
  v: string[];
  kind: string[];
  state: string[];
  q: string;
  by: 'place' | 'caller1' | 'category';
  sort: string;
  /** Cursor of the page of the list; empty for the first. */
  after: string;
  /** Unfolded groups; null: the page decides. */
  open: string[] | null;
  tab: Tab | null;
  /** Report cursor: latest, first, worst or a report id. */
  n: string;
  /** Chosen sample of the report. */
  s: number | null;
  /** Path hash of the frame the flame graph is zoomed to, 16 hex digits. */
  fz: string;
  /** Text searched for in flame graph, tree and table. */
  fs: string;
  /** The frames that flame graph and tree fold. */
  ff: Folding;
  /** Order of the function table. */
  fo: 'self' | 'total' | 'name';
  /** Category of memory chosen, as kind:name. */
  c: string;
  /** Kind of category shown; empty for all. */
  type: '' | 'heap' | 'vm' | 'object' | 'part' | 'gauge';
  /** The other side of a comparison: healthy (of versions: the one before), v:VERSION, week, FROM..TO or a report id. */
  cmp: string;
  /** The unit of allocations. */
  of: 'bytes' | 'objects';
  /** Order of the categories. */
  co: 'above' | 'bytes' | 'count' | 'grown' | 'name';
  /** Reports listed: user=ID, scene=NAME or tag=NAME=VALUE; empty: all. */
  r: string;
  rest: [string, string][];
}

export const DEFAULTS: Query = {
  t: '14d',
  tz: 'local',
  v: [],
  kind: [],
  state: [],
  os: [],
  os_version: [],
  model: [],
  class: [],
  channel: [],
  q: '',
  by: 'place',
  sort: 'auto',
  after: '',
  open: null,
  tab: null,
  n: 'latest',
  s: null,
  fz: '',
  fs: '',
  ff: 'system',
  fo: 'self',
  c: '',
  type: '',
  cmp: 'healthy',
  of: 'bytes',
  co: 'above',
  r: '',
  rest: [],
};

const ORDER = [
  't',
  'tz',
  'v',
  'kind',
  'state',
  ...FACETS,
  'q',
  'by',
  'sort',
  'after',
  'open',
  'tab',
  'n',
  's',
  'fz',
  'fs',
  'ff',
  'fo',
  'c',
  'type',
  'cmp',
  'of',
  'co',
  'r',
] as const;
const KNOWN = new Set<string>(ORDER);
const APP = /^[a-z0-9][a-z0-9-]{0,62}$/;
const ISSUE = /^[IM]-[0-9]{1,18}$/;

/* Is an issue a memory issue? */
export function isMemory(id: string): boolean {
  return id.startsWith('M');
}

/* A segment of a path as text; unchanged where it is no escape. */
function textOf(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

export function parsePage(path: string): Page {
  const parts = path.split('/').filter((part) => part !== '');
  const [app, section, id, ...more] = parts;
  if (app === undefined) return { name: 'apps' };
  if (app === '-') {
    const name = OF_NO_APP.find((one) => one === section);
    return name && id === undefined ? { name } : { name: 'lost' };
  }
  if (!APP.test(app)) return { name: 'lost' };
  const lost: Page = { name: 'lost', app };
  if (section === undefined) return { name: 'overview', app };
  if (section === 'rules' && id === undefined) return { name: 'rules', app };
  if (section === 'start') return id === undefined ? { name: 'start', app } : lost;
  if (section === 'symbols') return id === undefined ? { name: 'symbols', app } : lost;
  if (section === 'versions' && more.length === 0)
    return { name: 'versions', app, version: id === undefined ? null : textOf(id) };
  if (section === 'rollout') return id === undefined ? { name: 'rollout', app } : lost;
  if (section === 'alerts') return id === undefined ? { name: 'alerts', app } : lost;
  if (section === 'settings') {
    const part = SETTINGS_PARTS.find((one) => one === (id ?? 'keys'));
    return part && more.length === 0 ? { name: 'settings', app, part } : lost;
  }
  if (section !== 'issues' && section !== 'memory') return lost;
  if (id === undefined) return { name: section, app };
  if (ISSUE.test(id) && isMemory(id) === (section === 'memory') && more.length === 0) return { name: 'issue', app, id };
  return lost;
}

/* The permalink of a report has it in the path; in a view it is the report cursor of its issue. Null for any other
 * path. */
export function unfoldReport(path: string, search: string): string | null {
  const match = /^(\/[^/]+\/(?:issues\/I|memory\/M)-\d+)\/reports\/([\w-]{1,64})\/?$/.exec(path);
  if (!match) return null;
  const tab = match[1]!.includes('/M-') ? 'held' : 'stack';
  return match[1] + formatQuery({ ...parseQuery(search), n: match[2]!, tab });
}

export function formatPage(page: Page): string {
  switch (page.name) {
    case 'overview':
      return `/${page.app}`;
    case 'issues':
    case 'memory':
    case 'rules':
    case 'symbols':
    case 'alerts':
    case 'rollout':
    case 'start':
      return `/${page.app}/${page.name}`;
    case 'issue':
      return `/${page.app}/${isMemory(page.id) ? 'memory' : 'issues'}/${page.id}`;
    case 'versions':
      return `/${page.app}/versions${page.version === null ? '' : `/${encodeURIComponent(page.version)}`}`;
    case 'settings':
      return page.part === 'keys' ? `/${page.app}/settings` : `/${page.app}/settings/${page.part}`;
    case 'sign-in':
    case 'welcome':
    case 'ack':
    case 'new':
    case 'profile':
    case 'server':
    case 'audit':
      return `/-/${page.name}`;
    default:
      return '/';
  }
}

function oneOf<T extends string>(value: string | null, allowed: readonly T[], otherwise: T): T {
  return allowed.includes(value as T) ? (value as T) : otherwise;
}

/* Values have commas between that no backslash stands before. */
function list(params: URLSearchParams, key: string): string[] {
  return [...new Set(params.getAll(key).flatMap((value) => value.match(/(?:\\.|[^\\,])+/gs) ?? []))];
}

/* A value as a filter has it, and back. */
export function wantedText(value: string): string {
  return value.replace(/[\\,]/g, '\\$&').replace(/^!/, '\\!');
}

export function plainText(filter: string): string {
  return filter.replace(/\\(.)/gs, '$1');
}

/* The hash travels as base64url, 11 characters for 16 hex digits. */
function packHash(hex: string): string {
  const bytes = hex.match(/../g)?.map((pair) => Number.parseInt(pair, 16)) ?? [];
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}

function unpackHash(text: string): string {
  if (!/^[\w-]{11}$/.test(text)) return '';
  const bytes = atob(`${text.replaceAll('-', '+').replaceAll('_', '/')}=`);
  return [...bytes].map((c) => c.charCodeAt(0).toString(16).padStart(2, '0')).join('');
}

export function facetsOf(of: (key: FacetKey) => string[]): Record<FacetKey, string[]> {
  return Object.fromEntries(FACETS.map((key) => [key, of(key)])) as Record<FacetKey, string[]>;
}

/* Is a list filtered by a facet of the device? */
export function isFaceted(query: Query): boolean {
  return FACETS.some((key) => query[key].length > 0);
}

export function parseQuery(search: string): Query {
  const params = new URLSearchParams(search);
  const sample = params.get('s');
  return {
    t: params.get('t') || DEFAULTS.t,
    tz: oneOf(params.get('tz'), ['local', 'utc'], DEFAULTS.tz),
    v: list(params, 'v'),
    kind: list(params, 'kind'),
    state: list(params, 'state'),
    ...facetsOf((key) => list(params, key)),
    q: params.get('q') ?? '',
    by: oneOf(params.get('by'), ['place', 'caller1', 'category'], DEFAULTS.by),
    sort: params.get('sort') || DEFAULTS.sort,
    after: params.get('after') ?? DEFAULTS.after,
    open: params.has('open') ? list(params, 'open') : null,
    tab: params.has('tab') ? oneOf(params.get('tab'), [...TABS, ...MEMORY_TABS], 'stack') : null,
    n: params.get('n') || DEFAULTS.n,
    s: sample !== null && /^\d{1,4}$/.test(sample) ? Number(sample) : null,
    fz: unpackHash(params.get('fz') ?? ''),
    fs: params.get('fs') ?? '',
    ff: oneOf(params.get('ff'), FOLDINGS, DEFAULTS.ff),
    fo: oneOf(params.get('fo'), ['self', 'total', 'name'], DEFAULTS.fo),
    c: params.get('c') ?? DEFAULTS.c,
    type: oneOf(params.get('type'), ['', 'heap', 'vm', 'object', 'part', 'gauge'], DEFAULTS.type),
    cmp: params.get('cmp') || DEFAULTS.cmp,
    of: oneOf(params.get('of'), ['bytes', 'objects'], DEFAULTS.of),
    co: oneOf(params.get('co'), ['above', 'bytes', 'count', 'grown', 'name'], DEFAULTS.co),
    r: params.get('r') ?? '',
    rest: [...params].filter(([key]) => !KNOWN.has(key)),
  };
}

function text(query: Query, key: (typeof ORDER)[number]): string | null {
  const value = query[key];
  if (value === null || value === DEFAULTS[key]) return null;
  if (key === 'open') return (value as string[]).join(',');
  if (Array.isArray(value)) return value.length > 0 ? value.join(',') : null;
  if (key === 'fz') return packHash(value as string);
  return String(value);
}

/* Commas, colons and exclamation marks are legal in a query and stay readable. */
function readable(value: string): string {
  return encodeURIComponent(value).replace(/%(2C|3A|21|2F)/g, (code) => decodeURIComponent(code));
}

export function formatQuery(query: Query): string {
  const pairs: [string, string][] = [];
  for (const key of ORDER) {
    const value = text(query, key);
    if (value !== null) pairs.push([key, value]);
  }
  pairs.push(...query.rest);
  return pairs.length === 0 ? '' : `?${pairs.map(([key, value]) => `${readable(key)}=${readable(value)}`).join('&')}`;
}

export function href(page: Page, query: Query): string {
  return formatPage(page) + formatQuery(query);
}

/* The part of a query that moves to another page: the range and the filters. */
export function carried(query: Query): Query {
  const { t, tz, v, kind, state, q, rest } = query;
  return { ...DEFAULTS, t, tz, v, kind, state, ...facetsOf((key) => query[key]), q, rest };
}
