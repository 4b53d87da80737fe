/* The frame of every page: navigation, filter bar, status line, key sheet, and the region read out politely. */

import type { ComponentChildren, ComponentType, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { api, ProblemError } from '../api/client';
import type { Overview } from '../api/types';
import { choose, lang, say } from '../lib/i18n';
import { enabled, KEYS, setEnabled, useKeys } from '../lib/keys';
import { idle } from '../lib/live';
import { go, page, query } from '../lib/location';
import { type Result, useQuery } from '../lib/query';
import { choice, nextTheme } from '../lib/theme';
import { useSignIn } from '../lib/who';
import { exact } from '../model/format';
import type { Page } from '../model/view';
import { carried, href, isMemory } from '../model/view';
import { mayFound } from '../model/who';
import { FilterBar } from './filter';
import { useMenu } from './menu';
import { announce, announcement, Moment, offered } from './parts';

const LANGUAGES = { en: 'English', 'zh-CN': '中文' };

export function Shell({ app: asked, children }: { app: string | null; children: ComponentChildren }): JSX.Element {
  const missing = useMissing(asked);
  const app = missing ? null : asked;
  const sheet = useRef<HTMLDialogElement>(null);
  const [searches, setSearches] = useState(false);
  const here = page.value;
  const carry = carried(query.value);
  const known = useSignIn();
  const menu = useMenu(app);
  useEffect(() => (app === null ? undefined : followLater(app)), [app]);
  useKeys({
    help: () => (sheet.current?.open ? sheet.current.close() : sheet.current?.showModal()),
    palette: () => setSearches(!searches),
    overview: () => app && go(href({ name: 'overview', app }, carry)),
    issues: () => app && go(href({ name: 'issues', app }, carry)),
    memory: () => app && go(href({ name: 'memory', app }, carry)),
    versions: () => app && go(href({ name: 'versions', app, version: null }, carry)),
    rollout: () => app && go(href({ name: 'rollout', app }, carry)),
    rules: () => app && go(href({ name: 'rules', app }, carry)),
    symbols: () => app && go(href({ name: 'symbols', app }, carry)),
  });
  const section = here.name !== 'issue' ? here.name : isMemory(here.id) ? 'memory' : 'issues';
  const themes = { auto: say('Auto'), light: say('Light'), dark: say('Dark') };
  const link = (to: Page, label: string, current: boolean) => (
    <a key={to.name} href={href(to, carry)} aria-current={current ? 'page' : undefined}>
      {label}
    </a>
  );
  return (
    <div class="shell">
      <a class="skip" href="#main">
        {say('Skip to content')}
      </a>
      <nav class="rail" aria-label={say('Main')}>
        <a class="brand" href="/">
          <Mark />
          Mire
        </a>
        {app ? (
          <>
            <span class="app" title={app}>
              {app}
            </span>
            {menu.map(([label, to]) => link(to, label, section === to.name))}
          </>
        ) : null}
        <span class="grow" />
        {known?.who ? (
          <>
            {known.who.is_server_admin ? link({ name: 'server' }, say('Server'), here.name === 'server') : null}
            {known.who.has_account ? null : link({ name: 'health' }, say('Health'), here.name === 'health')}
            <a href="/-/profile" aria-current={here.name === 'profile' ? 'page' : undefined} title={known.who.name}>
              {known.who.has_account ? known.who.name : say('No password')}
            </a>
          </>
        ) : null}
        <a href={lang.value === 'en' ? '/docs/' : '/docs/zh/'}>{say('Documentation')}</a>
        <button type="button" class="quiet" onClick={() => setSearches(true)} aria-keyshortcuts="Control+k">
          <Lens /> <span>{say('Search or jump')}</span>
        </button>
        <button type="button" class="quiet" onClick={nextTheme} aria-label={`${say('Theme')}: ${themes[choice.value]}`}>
          <span aria-hidden="true">◐</span> <span>{themes[choice.value]}</span>
        </button>
        <button
          type="button"
          class="quiet"
          aria-label={`${say('Language')}: ${LANGUAGES[lang.value]}`}
          onClick={() => choose(lang.value === 'en' ? 'zh-CN' : 'en')}
        >
          <Globe /> <span>{LANGUAGES[lang.value]}</span>
        </button>
        <button type="button" class="quiet" onClick={() => sheet.current?.showModal()}>
          <kbd>?</kbd> <span>{say('Keys')}</span>
        </button>
      </nav>
      <div class="page">
        {app && here.name !== 'settings' && here.name !== 'alerts' && here.name !== 'rollout' ? (
          <FilterBar app={app} />
        ) : null}
        <main id="main" tabIndex={-1}>
          {app && known?.who?.demo === app ? <DemoLine removable={mayFound(known.who)} /> : null}
          {missing ? <NoApp app={asked!} /> : children}
        </main>
        {app ? <StatusLine app={app} /> : null}
      </div>
      <div class="offscreen" role="status" aria-live="polite">
        {announcement.value}
      </div>
      <Toast />
      <KeySheet sheet={sheet} />
      {searches ? <LatePalette app={app} onClose={() => setSearches(false)} /> : null}
    </div>
  );
}

/* On every page of the demo app. */
function DemoLine({ removable }: { removable: boolean }): JSX.Element {
  return (
    <p class="notice demo">
      <span>{say('This is the demo app: its reports are invented, and nothing in it can be changed.')}</span>
      <a href="/-/new">{say('Connect an app of your own')}</a>
      {removable ? (
        <button type="button" onClick={() => void import('./start/demo').then((module) => module.removeDemo())}>
          {say('Remove the demo app')}
        </button>
      ) : null}
    </p>
  );
}

/* Follow an app by code that is loaded after the page. */
function followLater(app: string): () => void {
  let stop: (() => void) | null = null;
  let over = false;
  void import('../lib/follow')
    .then(({ follow }) => {
      if (!over) stop = follow(app);
    })
    .catch(() => {});
  return () => {
    over = true;
    stop?.();
  };
}

/* The palette, whose code is loaded with its first use. */
let Palette: ComponentType<PaletteProps> | null = null;
type PaletteProps = { app: string | null; onClose: () => void };

function LatePalette(props: PaletteProps): JSX.Element | null {
  const [, redraw] = useState(false);
  useEffect(() => {
    if (Palette) return;
    import('./palette').then(
      (module) => {
        Palette = module.Palette;
        redraw(true);
      },
      () => {
        announce(say('The page could not be loaded'));
        props.onClose();
      },
    );
  }, []);
  return Palette ? <Palette {...props} /> : null;
}

/* Whether there is no such app, or none that the reader may see. */
function useMissing(app: string | null): boolean {
  const { t } = query.value;
  const ask = (signal: AbortSignal) => api.overview(app!, { t }, signal);
  const { data, error } = useQuery(['overview', app, t, [], []], ask, { enabled: app !== null });
  return !data && error instanceof ProblemError && error.status === 404;
}

function NoApp({ app }: { app: string }): JSX.Element {
  return (
    <section class="empty" role="alert">
      <h1>{say('Page not found')}</h1>
      <p>{say('There is no app “{app}”, or you may not see it.', { app })}</p>
      <p>
        <a href="/">{say('All apps')}</a>
      </p>
    </section>
  );
}

function Mark(): JSX.Element {
  return (
    <svg viewBox="0 0 32 32" width="20" height="20" aria-hidden="true">
      <path class="mark-line" d="M4 11h24M4 17h7m10 0h7M4 23h24" />
      <circle class="mark-dot" cx="16" cy="17" r="3" />
    </svg>
  );
}

function Lens(): JSX.Element {
  return (
    <svg class="globe" viewBox="0 0 16 16" width="13" height="13" aria-hidden="true">
      <circle cx="7" cy="7" r="5" />
      <path d="M11 11l4 4" />
    </svg>
  );
}

function Globe(): JSX.Element {
  return (
    <svg class="globe" viewBox="0 0 16 16" width="13" height="13" aria-hidden="true">
      <circle cx="8" cy="8" r="7" />
      <path d="M1 8h14M8 1c-5 5-5 9 0 14M8 1c5 5 5 9 0 14" />
    </svg>
  );
}

/* The last announcement to assistive technology, visible for a moment too. */
function Toast(): JSX.Element | null {
  const text = announcement.value;
  const way = offered.value;
  useEffect(() => {
    if (text === '') return;
    const timer = setTimeout(() => announce(''), way ? 10_000 : 3000);
    return () => clearTimeout(timer);
  }, [text, way]);
  if (text === '') return null;
  return (
    <div class="toast">
      <span aria-hidden="true">{text}</span>
      {way ? (
        <button type="button" onClick={way.act} aria-keyshortcuts="u">
          {way.label}
        </button>
      ) : null}
    </div>
  );
}

/* The whole app in the range, without filters; loaded again when reports came. */
export function useOverview(app: string, t: string): Result<Overview> {
  return useQuery(['overview', app, t, [], []], (signal) => api.overview(app, { t }, signal), {
    again: () => idle(10_000),
  });
}

function failure(error: unknown): string {
  return error instanceof ProblemError && error.status > 0 ? error.title : say('No connection to the server');
}

/* The time of the newest data, and the backlog. */
function StatusLine({ app }: { app: string }): JSX.Element {
  const result = useOverview(app, query.value.t);
  const data = result.data;
  return (
    <footer class="status">
      {data ? (
        <>
          {data.totals.reports > 0 ? (
            <span>
              {say('Data through')} <Moment at={data.range.as_of} seconds />
            </span>
          ) : null}
          <span>{say('{n|report|reports} in range', { n: exact(data.totals.reports, lang.value) })}</span>
          <span>
            {data.waiting === 0
              ? say('up to date')
              : say('{n} waiting to be processed', { n: exact(data.waiting, lang.value) })}
          </span>
          {data.dead_letters > 0 ? (
            <span class="bad-text">
              {say('{n} could not be processed', { n: exact(data.dead_letters, lang.value) })}
            </span>
          ) : null}
          {data.over_quota > 0 ? (
            <span class="warn-text">
              {say('{n} beyond the daily budget: counted here, in no other figure', {
                n: exact(data.over_quota, lang.value),
              })}
            </span>
          ) : null}
          {data.put_aside.map(({ kind, reports }) => (
            <span key={kind} class="warn-text">
              {say('{n} counted as other: too many new names ({kind})', { n: exact(reports, lang.value), kind })}
            </span>
          ))}
        </>
      ) : (
        <span>{result.isError ? failure(result.error) : '…'}</span>
      )}
    </footer>
  );
}

function KeySheet({ sheet }: { sheet: { current: HTMLDialogElement | null } }): JSX.Element {
  const parts = [...new Set(KEYS.map((row) => row.part))];
  return (
    <dialog ref={sheet} class="sheet" aria-labelledby="sheet-title">
      <header>
        <h2 id="sheet-title">{say('Keys')}</h2>
        <button type="button" class="quiet" onClick={() => sheet.current?.close()}>
          {say('Close')}
        </button>
      </header>
      <div class="sheet-body">
        {parts.map((part) => (
          <section key={part} aria-label={say(part)}>
            <h3>{say(part)}</h3>
            <dl>
              {KEYS.filter((row) => row.part === part).map((row) => (
                <div key={row.id}>
                  <dt>
                    <kbd>{row.keys}</kbd>
                  </dt>
                  <dd>{say(row.does)}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <label class="check">
        <input
          type="checkbox"
          checked={enabled.value}
          onChange={(event) => setEnabled((event.currentTarget as HTMLInputElement).checked)}
        />
        {say('Single-key shortcuts')}
      </label>
    </dialog>
  );
}
