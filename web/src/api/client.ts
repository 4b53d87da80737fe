/*
 * The only code with HTTP. Every call returns the typed body or throws a ProblemError with all that a reader needs to
 * report it: title, advice, request id.
 */
import createClient from 'openapi-fetch';
import type { FacetKey } from '../model/view';
import type { paths } from './schema';
import type {
  AlertChannelBody,
  AlertRuleBody,
  Audit,
  Changes,
  Facets,
  Flame,
  Healthy,
  Issue,
  IssueList,
  IssueMemory,
  Memory,
  Merge,
  Overview,
  Problem,
  Provenance,
  RampBegin,
  Rates,
  Regrouped,
  Rekey,
  Releases,
  Report,
  ReportList,
  Rollout,
  RolloutRules,
  Rules,
  RulesChanged,
  RulesJob,
  Similar,
  Split,
  Start,
  Suspects,
  SymbolFile,
  Symbols,
  TrackerBody,
  Triage,
  Unmerge,
  Versions,
} from './types';

export class ProblemError extends Error {
  constructor(
    readonly status: number,
    readonly title: string,
    readonly detail: string,
    readonly requestId: string,
  ) {
    super(title);
  }
}

/* fetch is looked up at each call, so that a test can replace it. */
const client = createClient<paths, 'application/json'>({
  baseUrl: globalThis.location.origin,
  headers: { 'X-Mire-Change': '1' }, // what a page of another origin cannot send: the server asks for it on changes
  querySerializer: { array: { style: 'form', explode: false } },
  fetch: (request) => globalThis.fetch(request),
});

interface Answer<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

async function body<T>(call: Promise<Answer<T>>): Promise<T> {
  const { data, error, response } = await call;
  if (data !== undefined && response.ok) return data;
  const problem = (typeof error === 'object' && error !== null ? error : {}) as Partial<Problem>;
  throw new ProblemError(
    response.status,
    problem.title ?? `${response.status} ${response.statusText}`.trim(),
    problem.detail ?? '',
    problem.request_id ?? response.headers.get('x-request-id') ?? '',
  );
}

export type Role = 'viewer' | 'triager' | 'admin';
export type Scopes = 'ingest' | 'symbols' | 'rollout' | 'rules' | 'read' | 'admin';

/* The filters of a request. Empty lists and absent values are not sent. */
export interface Scope {
  t?: string;
  v?: string[];
  kind?: string[];
}

/** The reports of a list: of a user's id or hash, of a scene, with a tag as name=value. */
export interface ReportsWanted {
  user?: string;
  scene?: string;
  tag?: string;
}

export interface IssueQuery extends Scope, Partial<Record<FacetKey, string[]>> {
  state?: string[];
  q?: string;
  by?: 'place' | 'caller1' | 'category';
  sort?: string;
  cursor?: string;
  limit?: number;
}

function sent<T extends object>(query: T): T {
  const kept = Object.entries(query).filter(
    ([, value]) => value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0),
  );
  return Object.fromEntries(kept) as T;
}

/* The address of an answer as a file. */
export function fileOf(path: string, asked: object, format: string): string {
  return `/api/v1/${path}?${new URLSearchParams({ ...sent(asked), format })}`;
}

/* The author of a change, unless an account is known by itself. */
function named<T extends { author: string }>(change: T): T {
  return sent(change);
}

type RatesFacet = NonNullable<NonNullable<paths['/api/v1/apps/{app}/rates']['get']['parameters']['query']>['by']>;

/** The reports to take out: of one installation, of one key, or one report. */
export type ForgetBody = NonNullable<
  paths['/api/v1/apps/{app}/forget']['post']['requestBody']
>['content']['application/json'];

type RampPlugin = paths['/api/v1/apps/{app}/rollout/ramps/{plugin}']['put']['parameters']['path']['plugin'];

/* Who is signed in needs no key. */
function bearer(key: string): Record<string, string> {
  return key === '' ? {} : { Authorization: `Bearer ${key}` };
}

export const api = {
  signedIn: (signal: AbortSignal) => body(client.GET('/api/v1/sign-in', { signal })),
  signIn: (name: string, password: string) => body(client.POST('/api/v1/sign-in', { body: { name, password } })),
  server: (signal: AbortSignal) => body(client.GET('/api/v1/server', { signal })),
  serverHealth: (signal: AbortSignal) => body(client.GET('/api/v1/server/health', { signal })),
  settings: (app: string, signal: AbortSignal) =>
    body(client.GET('/api/v1/apps/{app}/settings', { params: { path: { app } }, signal })),
  setSettings: (
    app: string,
    settings: {
      name: string;
      retention_days: number | null;
      quota_reports_day?: number | null;
      quota_bytes_day?: number | null;
      enough_per_issue_day?: number | null;
      idle?: 'keep' | 'archive' | 'delete';
      source_link?: string;
      source_root?: string;
      ticket_link?: string;
      owners?: string;
      goal_lag_percent?: number | null;
      goal_hang_s_per_hour?: number | null;
      goal_foom_percent?: number | null;
      goal_watchdog_percent?: number | null;
      goal_crash_percent?: number | null;
      merge_above?: number | null;
      left_out?: string[];
      kept_tags?: string[];
    },
  ) => body(client.PUT('/api/v1/apps/{app}/settings', { params: { path: { app } }, body: settings })),
  forgets: (app: string, signal: AbortSignal) =>
    body(client.GET('/api/v1/apps/{app}/forget', { params: { path: { app } }, signal })),
  forget: (app: string, asked: ForgetBody) =>
    body(client.POST('/api/v1/apps/{app}/forget', { params: { path: { app } }, body: asked })),
  makeCode: () => body(client.POST('/api/v1/code')),
  signOut: () => body(client.DELETE('/api/v1/sign-in')),
  signOutEverywhere: () => body(client.DELETE('/api/v1/sign-ins')),
  useLink: (link: string, given: { name?: string; password?: string } = {}) =>
    body(client.POST('/api/v1/welcome', { body: { link, ...given } })),
  changePassword: (change: { old: string; new: string }) => body(client.PUT('/api/v1/password', { body: change })),
  signIns: (signal: AbortSignal) => body(client.GET('/api/v1/sign-ins', { signal })),
  endSignIn: (sign_in: number) => body(client.DELETE('/api/v1/sign-ins/{sign_in}', { params: { path: { sign_in } } })),
  tokens: (signal: AbortSignal) => body(client.GET('/api/v1/tokens', { signal })),
  makeToken: (token: { label: string; scope: 'read' | 'triage' | 'admin'; days: number }) =>
    body(client.POST('/api/v1/tokens', { body: token })),
  revokeToken: (token: number) => body(client.DELETE('/api/v1/tokens/{token}', { params: { path: { token } } })),
  accounts: (signal: AbortSignal) => body(client.GET('/api/v1/accounts', { signal })),
  addAccount: (account: { name: string; is_server_admin: boolean; role: '' | Role }) =>
    body(client.POST('/api/v1/accounts', { body: account })),
  changeAccount: (name: string, account: { is_server_admin: boolean; is_disabled: boolean; role: '' | Role }) =>
    body(client.PUT('/api/v1/accounts/{name}', { params: { path: { name } }, body: account })),
  makeLink: (name: string) => body(client.POST('/api/v1/accounts/{name}/link', { params: { path: { name } } })),
  members: (app: string, signal: AbortSignal) =>
    body(client.GET('/api/v1/apps/{app}/members', { params: { path: { app } }, signal })),
  setMember: (app: string, name: string, role: '' | Role) =>
    body(client.PUT('/api/v1/apps/{app}/members/{name}', { params: { path: { app, name } }, body: { role } })),
  keys: (app: string, signal: AbortSignal) =>
    body(client.GET('/api/v1/apps/{app}/keys', { params: { path: { app } }, signal })),
  makeKey: (app: string, key: { scope: Scopes; label: string; days: number }) =>
    body(client.POST('/api/v1/apps/{app}/keys', { params: { path: { app } }, body: key })),
  rotateKey: (app: string, key: number) =>
    body(client.POST('/api/v1/apps/{app}/keys/{key}/rotate', { params: { path: { app, key } }, body: {} })),
  revokeKey: (app: string, key: number) =>
    body(client.DELETE('/api/v1/apps/{app}/keys/{key}', { params: { path: { app, key } } })),
  alerts: (app: string, signal: AbortSignal) =>
    body(client.GET('/api/v1/apps/{app}/alerts', { params: { path: { app } }, signal })),
  alertHistory: (app: string, before: number, signal: AbortSignal) =>
    body(
      client.GET('/api/v1/apps/{app}/alerts/history', {
        params: { path: { app }, query: before > 0 ? { before } : {} },
        signal,
      }),
    ),
  replayAlertRule: (app: string, rule: AlertRuleBody, signal: AbortSignal) =>
    body(client.POST('/api/v1/apps/{app}/alerts/replay', { params: { path: { app } }, body: rule, signal })),
  makeAlertRule: (app: string, rule: AlertRuleBody) =>
    body(client.POST('/api/v1/apps/{app}/alerts/rules', { params: { path: { app } }, body: rule })),
  changeAlertRule: (app: string, rule: number, to: AlertRuleBody) =>
    body(client.PUT('/api/v1/apps/{app}/alerts/rules/{rule}', { params: { path: { app, rule } }, body: to })),
  removeAlertRule: (app: string, rule: number) =>
    body(client.DELETE('/api/v1/apps/{app}/alerts/rules/{rule}', { params: { path: { app, rule } } })),
  snoozeAlertRule: (app: string, rule: number, hours: number) =>
    body(
      client.POST('/api/v1/apps/{app}/alerts/rules/{rule}/snooze', {
        params: { path: { app, rule } },
        body: { hours },
      }),
    ),
  ackAlert: (app: string, alert: number) =>
    body(client.POST('/api/v1/apps/{app}/alerts/open/{alert}/ack', { params: { path: { app, alert } } })),
  tracker: (app: string, signal: AbortSignal) =>
    body(client.GET('/api/v1/apps/{app}/tracker', { params: { path: { app } }, signal })),
  setTracker: (app: string, tracker: TrackerBody) =>
    body(client.PUT('/api/v1/apps/{app}/tracker', { params: { path: { app } }, body: tracker })),
  removeTracker: (app: string) => body(client.DELETE('/api/v1/apps/{app}/tracker', { params: { path: { app } } })),
  makeTicket: (app: string, issue: string, ticket: { title: string; body: string }) =>
    body(client.POST('/api/v1/apps/{app}/issues/{issue}/ticket', { params: { path: { app, issue } }, body: ticket })),
  makeAlertChannel: (app: string, channel: AlertChannelBody) =>
    body(client.POST('/api/v1/apps/{app}/alerts/channels', { params: { path: { app } }, body: channel })),
  removeAlertChannel: (app: string, channel: number) =>
    body(client.DELETE('/api/v1/apps/{app}/alerts/channels/{channel}', { params: { path: { app, channel } } })),
  testAlertChannel: (app: string, channel: number) =>
    body(client.POST('/api/v1/apps/{app}/alerts/channels/{channel}/test', { params: { path: { app, channel } } })),
  ackByLink: (token: string, acknowledge: boolean) =>
    body(client.POST('/api/v1/ack', { body: { token, acknowledge } })),
  audit: (app: string | null, query: { action?: string; who?: string; before?: number }, signal: AbortSignal) =>
    (app === null
      ? body(client.GET('/api/v1/audit', { params: { query: sent(query) }, signal }))
      : body(
          client.GET('/api/v1/apps/{app}/audit', { params: { path: { app }, query: sent(query) }, signal }),
        )) as Promise<Audit>,

  apps: (signal: AbortSignal) => body(client.GET('/api/v1/apps', { signal })),
  makeApp: (app: { slug: string; name: string }) => body(client.POST('/api/v1/apps', { body: app })),
  makeDemo: () => body(client.POST('/api/v1/demo')),
  removeDemo: () => body(client.DELETE('/api/v1/demo')),
  start: (app: string, signal: AbortSignal): Promise<Start> =>
    body(client.GET('/api/v1/apps/{app}/start', { params: { path: { app } }, signal })),

  overview: (app: string, scope: Scope, signal: AbortSignal): Promise<Overview> =>
    body(client.GET('/api/v1/apps/{app}/overview', { params: { path: { app }, query: sent(scope) }, signal })),

  changes: (app: string, scope: Scope & { against?: string; before?: string }, signal: AbortSignal): Promise<Changes> =>
    body(client.GET('/api/v1/apps/{app}/changes', { params: { path: { app }, query: sent(scope) }, signal })),
  versions: (app: string, scope: Scope, signal: AbortSignal): Promise<Versions> =>
    body(client.GET('/api/v1/apps/{app}/versions', { params: { path: { app }, query: sent(scope) }, signal })),
  rates: (app: string, scope: Pick<Scope, 't' | 'v'> & { by?: RatesFacet }, signal: AbortSignal): Promise<Rates> =>
    body(client.GET('/api/v1/apps/{app}/rates', { params: { path: { app }, query: sent(scope) }, signal })),

  releases: (app: string, signal: AbortSignal): Promise<Releases> =>
    body(client.GET('/api/v1/apps/{app}/releases', { params: { path: { app } }, signal })),
  suspects: (app: string, issue: string, scope: Scope, signal: AbortSignal): Promise<Suspects> =>
    body(
      client.GET('/api/v1/apps/{app}/issues/{issue}/suspects', {
        params: { path: { app, issue }, query: sent(scope) },
        signal,
      }),
    ),

  symbols: (app: string, signal: AbortSignal): Promise<Symbols> =>
    body(client.GET('/api/v1/apps/{app}/symbols', { params: { path: { app } }, signal })),

  rekey: (app: string, signal: AbortSignal): Promise<Rekey> =>
    body(client.GET('/api/v1/apps/{app}/rekey', { params: { path: { app } }, signal })),

  facets: (app: string, t: string, signal: AbortSignal): Promise<Facets> =>
    body(client.GET('/api/v1/apps/{app}/facets', { params: { path: { app }, query: { t } }, signal })),
  facetValues: (app: string, t: string, by: FacetKey, signal: AbortSignal): Promise<Facets> =>
    body(client.GET('/api/v1/apps/{app}/facets', { params: { path: { app }, query: { t, by } }, signal })),

  issues: (app: string, query: IssueQuery, signal: AbortSignal): Promise<IssueList> =>
    body(client.GET('/api/v1/apps/{app}/issues', { params: { path: { app }, query: sent(query) as object }, signal })),

  issue: (app: string, issue: string, scope: Scope, signal: AbortSignal): Promise<Issue> =>
    body(
      client.GET('/api/v1/apps/{app}/issues/{issue}', { params: { path: { app, issue }, query: sent(scope) }, signal }),
    ),

  reports: (
    app: string,
    issue: string,
    query: Scope & ReportsWanted & { cursor?: string; limit?: number },
    signal: AbortSignal,
  ): Promise<ReportList> =>
    body(
      client.GET('/api/v1/apps/{app}/issues/{issue}/reports', {
        params: { path: { app, issue }, query: sent(query) },
        signal,
      }),
    ),

  report: (app: string, issue: string, report: string, scope: Scope, signal: AbortSignal): Promise<Report> =>
    body(
      client.GET('/api/v1/apps/{app}/issues/{issue}/reports/{report}', {
        params: { path: { app, issue, report }, query: sent(scope) },
        signal,
      }),
    ),

  memory: (app: string, issue: string, report: string, scope: Scope, signal: AbortSignal): Promise<Memory> =>
    body(
      client.GET('/api/v1/apps/{app}/issues/{issue}/reports/{report}/memory', {
        params: { path: { app, issue, report }, query: sent(scope) },
        signal,
      }),
    ),
  issueMemory: (app: string, issue: string, scope: Scope, signal: AbortSignal): Promise<IssueMemory> =>
    body(
      client.GET('/api/v1/apps/{app}/issues/{issue}/memory', {
        params: { path: { app, issue }, query: sent(scope) },
        signal,
      }),
    ),
  healthy: (app: string, query: { v?: string[]; os?: string; class?: string }, signal: AbortSignal): Promise<Healthy> =>
    body(client.GET('/api/v1/apps/{app}/healthy', { params: { path: { app }, query: sent(query) }, signal })),
  similar: (app: string, issue: string, scope: Scope, signal: AbortSignal, limit?: number): Promise<Similar> =>
    body(
      client.GET('/api/v1/apps/{app}/issues/{issue}/similar', {
        params: { path: { app, issue }, query: { ...sent(scope), ...(limit ? { limit } : {}) } },
        signal,
      }),
    ),
  provenance: (app: string, issue: string, scope: Scope, signal: AbortSignal): Promise<Provenance> =>
    body(
      client.GET('/api/v1/apps/{app}/issues/{issue}/provenance', {
        params: { path: { app, issue }, query: sent(scope) },
        signal,
      }),
    ),
  triage: (app: string, change: Triage) =>
    body(client.POST('/api/v1/apps/{app}/triage', { params: { path: { app } }, body: change })),
  undoTriage: (app: string, batch: number) =>
    body(client.POST('/api/v1/apps/{app}/triage/undo', { params: { path: { app } }, body: { batch } })),
  assignees: (app: string, signal: AbortSignal) =>
    body(client.GET('/api/v1/apps/{app}/assignees', { params: { path: { app } }, signal })),
  activity: (app: string, issue: string, signal: AbortSignal) =>
    body(client.GET('/api/v1/apps/{app}/issues/{issue}/activity', { params: { path: { app, issue } }, signal })),
  comment: (app: string, issue: string, text: string) =>
    body(
      client.POST('/api/v1/apps/{app}/issues/{issue}/comments', { params: { path: { app, issue } }, body: { text } }),
    ),
  removeComment: (app: string, issue: string, comment: number) =>
    body(
      client.DELETE('/api/v1/apps/{app}/issues/{issue}/comments/{comment}', {
        params: { path: { app, issue, comment } },
      }),
    ),
  merge: (app: string, issue: string, scope: Scope, change: Merge): Promise<Regrouped> =>
    body(
      client.POST('/api/v1/apps/{app}/issues/{issue}/merge', {
        params: { path: { app, issue }, query: sent(scope) },
        body: change,
      }),
    ),
  split: (app: string, issue: string, scope: Scope, change: Split): Promise<Regrouped> =>
    body(
      client.POST('/api/v1/apps/{app}/issues/{issue}/split', {
        params: { path: { app, issue }, query: sent(scope) },
        body: change,
      }),
    ),
  unmerge: (app: string, issue: string, scope: Scope, change: Unmerge): Promise<Regrouped> =>
    body(
      client.POST('/api/v1/apps/{app}/issues/{issue}/unmerge', {
        params: { path: { app, issue }, query: sent(scope) },
        body: change,
      }),
    ),
  flame: (
    app: string,
    issue: string,
    query: Scope & { report?: string; root?: string; max?: number; of?: 'bytes' | 'objects'; category?: string },
    signal: AbortSignal,
  ): Promise<Flame> =>
    body(
      client.GET('/api/v1/apps/{app}/issues/{issue}/flame', {
        params: { path: { app, issue }, query: sent(query) },
        signal,
      }),
    ),

  rollout: (app: string, signal: AbortSignal, version?: number): Promise<Rollout> =>
    body(
      client.GET('/api/v1/apps/{app}/rollout', {
        params: { path: { app }, query: version === undefined ? {} : { version } },
        signal,
      }),
    ),
  rolloutDevice: (app: string, facts: Record<string, string>, signal: AbortSignal) =>
    body(client.GET('/api/v1/apps/{app}/rollout/device', { params: { path: { app }, query: sent(facts) }, signal })),
  changeRollout: (app: string, change: { base: number; author: string; reason: string; rules: RolloutRules }) =>
    body(client.PUT('/api/v1/apps/{app}/rollout', { params: { path: { app } }, body: named(change) })),
  undoRollout: (app: string, change: { base: number; author: string; reason: string; to: number }) =>
    body(client.POST('/api/v1/apps/{app}/rollout/back', { params: { path: { app } }, body: named(change) })),
  beginRamp: (app: string, plugin: RampPlugin, ramp: RampBegin & { author: string }) =>
    body(
      client.PUT('/api/v1/apps/{app}/rollout/ramps/{plugin}', { params: { path: { app, plugin } }, body: named(ramp) }),
    ),
  actOnRamp: (
    app: string,
    plugin: string,
    change: { base: number; author: string; reason: string; action: 'pause' | 'resume' | 'back' },
  ) =>
    body(
      client.POST('/api/v1/apps/{app}/rollout/ramps/{plugin}', {
        params: { path: { app, plugin: plugin as RampPlugin } },
        body: named(change),
      }),
    ),

  rules: (app: string, version: number | null, signal?: AbortSignal): Promise<Rules> =>
    body(
      client.GET('/api/v1/apps/{app}/rules', {
        params: { path: { app }, query: version === null ? {} : { version } },
        signal: signal ?? null,
      }),
    ),
  rulesJob: (app: string, job: number, signal: AbortSignal): Promise<RulesJob> =>
    body(client.GET('/api/v1/apps/{app}/rules/jobs/{job}', { params: { path: { app, job } }, signal })),
  previewRules: (app: string, key: string, rules: string): Promise<RulesChanged> =>
    body(
      client.POST('/api/v1/apps/{app}/rules/preview', {
        params: { path: { app } },
        body: { rules },
        headers: bearer(key),
      }),
    ),
  changeRules: (
    app: string,
    key: string,
    change: { base: number; author: string; reason: string; rules: string },
  ): Promise<RulesChanged> =>
    body(
      client.PUT('/api/v1/apps/{app}/rules', {
        params: { path: { app } },
        body: change,
        headers: bearer(key),
      }),
    ),
};

/* Send a debug file or an archive of them; `progress` gets the number of sent bytes, which fetch cannot provide. */
export function sendSymbols(file: File, key: string, progress: (bytes: number) => void): Promise<SymbolFile[]> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('PUT', `/api/v1/symbols?name=${encodeURIComponent(file.name)}`);
    request.setRequestHeader('Authorization', `Bearer ${key}`);
    request.responseType = 'json';
    request.upload.onprogress = (event) => progress(event.loaded);
    request.onerror = () => reject(new ProblemError(0, 'The server could not be reached', '', ''));
    request.onload = () => {
      const answer = (request.response ?? {}) as { files?: SymbolFile[] } & Partial<Problem>;
      if (request.status === 201 && answer.files) resolve(answer.files);
      else
        reject(
          new ProblemError(
            request.status,
            answer.title ?? `${request.status} ${request.statusText}`.trim(),
            answer.detail ?? '',
            answer.request_id ?? '',
          ),
        );
    };
    request.send(file);
  });
}
