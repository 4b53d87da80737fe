/* The view of each page. */

import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { say } from '../lib/i18n';
import { page } from '../lib/location';
import { isWide } from '../lib/media';
import { useSignIn } from '../lib/who';
import { isMemory } from '../model/view';
import { Late } from './late';
import { Apps } from './overview/apps';
import { OverviewPage } from './overview/overview';
import { Shell } from './shell';

const loadIssues = () => import('./issues/issues').then((module) => module.IssuesPage);
const loadIssue = () => import('./issue/issue').then((module) => module.IssuePage);
const loadBeside = () => import('./issue/beside').then((module) => module.Beside);
const loadRules = () => import('./rules/rules').then((module) => module.RulesPage);
const loadSymbols = () => import('./symbols/symbols').then((module) => module.SymbolsPage);
const loadMemory = () => import('./memory/memory').then((module) => module.MemoryPage);

const loadStart = () => import('./start/start').then((module) => module.StartPage);
const loadNew = () => import('./start/new').then((module) => module.NewAppPage);
const loadAlerts = () => import('./alerts/alerts').then((module) => module.AlertsPage);
const loadVersions = () => import('./versions/versions').then((module) => module.VersionsPage);
const loadRollout = () => import('./rollout/rollout').then((module) => module.RolloutPage);
const loadAck = () => import('./alerts/ack').then((module) => module.AckPage);
const loadSignIn = () => import('./people/sign-in').then((module) => module.SignInPage);
const loadWelcome = () => import('./people/sign-in').then((module) => module.WelcomePage);
const loadProfile = () => import('./people/profile').then((module) => module.ProfilePage);
const loadSettings = () => import('./people/settings').then((module) => module.SettingsPage);
const loadServer = () => import('./people/server').then((module) => module.ServerPage);
const loadHealth = () => import('./people/health').then((module) => module.HealthPage);
const loadAudit = () => import('./people/audit').then((module) => module.AuditPage);

export function Pages(): JSX.Element {
  const here = page.value;
  const known = useSignIn(here.name !== 'apps'); // the list of apps is asked for again, and would be refused
  const signedIn = useRef('');
  if (known?.who?.has_account) signedIn.current = known.who.name;
  /* The next page is mostly the issues or an issue, so their code is loaded ahead. */
  useEffect(() => void Promise.all([loadIssues(), loadIssue()]).catch(() => {}), []);
  /* Who is nobody signs in where they are, and then sees what they came for. */
  if (known && known.who === null && here.name !== 'welcome' && here.name !== 'ack')
    return (
      <Shell app={null}>
        <Late key="sign-in" load={loadSignIn} props={{ before: signedIn.current }} label={say('Sign in')} />
      </Shell>
    );
  switch (here.name) {
    case 'apps':
      return (
        <Shell app={null}>
          <Apps />
        </Shell>
      );
    case 'overview':
      return (
        <Shell key={here.app} app={here.app}>
          <OverviewPage app={here.app} />
        </Shell>
      );
    case 'issues':
      return (
        <Shell key={here.app} app={here.app}>
          <Late key="issues" load={loadIssues} props={{ app: here.app }} label={say('Issues')} />
        </Shell>
      );
    case 'memory':
      return (
        <Shell key={here.app} app={here.app}>
          <Late key="memory" load={loadIssues} props={{ app: here.app, memory: true }} label={say('Memory')} />
        </Shell>
      );
    case 'rules':
      return (
        <Shell key={here.app} app={here.app}>
          <Late key="rules" load={loadRules} props={{ app: here.app }} label={say('Rules')} />
        </Shell>
      );
    case 'symbols':
      return (
        <Shell key={here.app} app={here.app}>
          <Late key="symbols" load={loadSymbols} props={{ app: here.app }} label={say('symbols')} />
        </Shell>
      );
    case 'issue':
      return (
        <Shell key={here.app} app={here.app}>
          <Panes app={here.app} id={here.id}>
            <Late
              key={here.id}
              load={isMemory(here.id) ? loadMemory : loadIssue}
              props={{ app: here.app, id: here.id }}
              label={here.id}
            />
          </Panes>
        </Shell>
      );
    case 'alerts':
      return (
        <Shell key={here.app} app={here.app}>
          <Late key="alerts" load={loadAlerts} props={{ app: here.app }} label={say('Alerts')} />
        </Shell>
      );
    case 'versions':
      return (
        <Shell key={here.app} app={here.app}>
          <Late
            key="versions"
            load={loadVersions}
            props={{ app: here.app, version: here.version }}
            label={say('Versions')}
          />
        </Shell>
      );
    case 'rollout':
      return (
        <Shell key={here.app} app={here.app}>
          <Late key="rollout" load={loadRollout} props={{ app: here.app }} label={say('Rollout')} />
        </Shell>
      );
    case 'ack':
      return (
        <Shell app={null}>
          <Late key="ack" load={loadAck} props={{}} label={say('Alerts')} />
        </Shell>
      );
    case 'settings':
      return (
        <Shell key={here.app} app={here.app}>
          <Late key="settings" load={loadSettings} props={{ app: here.app, part: here.part }} label={say('Settings')} />
        </Shell>
      );
    case 'start':
      return (
        <Shell key={here.app} app={here.app}>
          <Late
            key="start"
            load={loadStart}
            props={{ app: here.app }}
            label={say('Connect {app}', { app: here.app })}
          />
        </Shell>
      );
    case 'new':
      return (
        <Shell app={null}>
          <Late key="new" load={loadNew} props={{}} label={say('New app')} />
        </Shell>
      );
    case 'sign-in':
      return (
        <Shell app={null}>
          <Late key="sign-in" load={loadSignIn} props={{ before: '' }} label={say('Sign in')} />
        </Shell>
      );
    case 'welcome':
      return (
        <Shell app={null}>
          <Late key="welcome" load={loadWelcome} props={{}} label={say('Welcome')} />
        </Shell>
      );
    case 'profile':
      return (
        <Shell app={null}>
          <Late key="profile" load={loadProfile} props={{}} label={say('Profile')} />
        </Shell>
      );
    case 'server':
      return (
        <Shell app={null}>
          <Late key="server" load={loadServer} props={{}} label={say('Server')} />
        </Shell>
      );
    case 'health':
      return (
        <Shell app={null}>
          <Late key="health" load={loadHealth} props={{}} label={say('Health')} />
        </Shell>
      );
    case 'audit':
      return (
        <Shell app={null}>
          <Late key="audit" load={loadAudit} props={{}} label={say('Audit')} />
        </Shell>
      );
    case 'lost':
      return (
        <Shell key={here.app} app={here.app ?? null}>
          <section class="empty" aria-label={say('Page not found')}>
            <h1>{say('Page not found')}</h1>
            <p>
              <a href="/">{say('All apps')}</a>
            </p>
          </section>
        </Shell>
      );
  }
}

/* An issue, and in a wide window the list to its left, which stays while one issue follows another. */
function Panes({ app, id, children }: { app: string; id: string; children: ComponentChildren }): JSX.Element {
  return (
    <div class="panes">
      {isWide.value ? (
        <div class="pane">
          <Late key={String(isMemory(id))} load={loadBeside} props={{ app, id }} label={say('Issues')} rows={18} />
        </div>
      ) : null}
      <div class="pane-main">{children}</div>
    </div>
  );
}
