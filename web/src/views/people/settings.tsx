/* Settings of an app, a part at a time; its name, and how many reports are kept for how long. */

import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { api } from '../../api/client';
import type { AppSettings } from '../../api/types';
import { lang, say } from '../../lib/i18n';
import { query } from '../../lib/location';
import { client, useQuery } from '../../lib/query';
import { useTitle } from '../../lib/title';
import { bytes, exact } from '../../model/format';
import { carried, href, type SettingsPart } from '../../model/view';
import { announce, Loaded, Panel } from '../parts';
import { AuditPanel } from './audit';
import { ForgetPanel } from './forget';
import { Choice, Field, Form, useAttempt } from './forms';
import { Keys } from './keys';
import { Links } from './links';
import { Members } from './members';
import { Owners } from './owners';
import { TrackerSettings } from './tracker';

export function SettingsPage({ app, part }: { app: string; part: SettingsPart }): JSX.Element {
  useTitle(say('Settings'));
  const parts: [SettingsPart, string][] = [
    ['keys', say('API keys')],
    ['members', say('Members')],
    ['reports', say('Name and reports')],
    ['links', say('Links')],
    ['forget', say('Forget reports')],
    ['audit', say('Audit')],
  ];
  return (
    <>
      <h1>{say('Settings of {app}', { app })}</h1>
      <p class="row">
        <a href={href({ name: 'start', app }, carried(query.value))}>{say('Connect {app}', { app })}</a>
        <a href="/-/new">{say('New app')}</a>
      </p>
      <nav class="parts" aria-label={say('Settings')}>
        {parts.map(([name, text]) => (
          <a
            key={name}
            href={href({ name: 'settings', app, part: name }, carried(query.value))}
            aria-current={name === part ? 'page' : undefined}
          >
            {text}
          </a>
        ))}
      </nav>
      {part === 'keys' ? (
        <Keys app={app} />
      ) : part === 'members' ? (
        <>
          <Members app={app} />
          <Owners app={app} />
        </>
      ) : part === 'reports' ? (
        <Reports app={app} />
      ) : part === 'links' ? (
        <>
          <Links app={app} />
          <TrackerSettings app={app} />
        </>
      ) : part === 'forget' ? (
        <ForgetPanel app={app} />
      ) : (
        <AuditPanel app={app} />
      )}
    </>
  );
}

function Reports({ app }: { app: string }): JSX.Element {
  const result = useQuery(['settings', app], (signal) => api.settings(app, signal));
  return (
    <Panel title={say('Name and reports')}>
      <Loaded result={result} rows={3} label={say('settings')}>
        {(settings) => (
          <>
            <ReportsForm app={app} settings={settings} />
            <h3>{say('Reports of the last 7 days')}</h3>
            <Door door={settings.door} />
          </>
        )}
      </Loaded>
    </Panel>
  );
}

const GOALS = [
  'goal_lag_percent',
  'goal_foom_percent',
  'goal_watchdog_percent',
  'goal_crash_percent',
  'goal_hang_s_per_hour',
] as const;
type Goal = (typeof GOALS)[number];

function goalsOf(settings: AppSettings): Record<Goal, string> {
  return Object.fromEntries(GOALS.map((one) => [one, settings[one]?.toString() ?? ''])) as Record<Goal, string>;
}

function goalLabel(goal: Goal): string {
  const labels: Record<Goal, string> = {
    goal_lag_percent: say('Goal: sessions with a hang, %'),
    goal_foom_percent: say('Goal: out of memory, %'),
    goal_watchdog_percent: say('Goal: killed while hung, %'),
    goal_crash_percent: say('Goal: crashes, %'),
    goal_hang_s_per_hour: say('Goal: hang time per hour, s'),
  };
  return labels[goal];
}

const inPercent = (share: number | null) => (share === null ? '' : Math.round(share * 100).toString());

function ReportsForm({ app, settings }: { app: string; settings: AppSettings }): JSX.Element {
  const [name, setName] = useState(settings.name);
  const [days, setDays] = useState(settings.retention_days?.toString() ?? '');
  const [reports, setReports] = useState(settings.quota_reports_day?.toString() ?? '');
  const [megabytes, setMegabytes] = useState(inMegabytes(settings.quota_bytes_day));
  const [leftOut, setLeftOut] = useState(settings.left_out.join(' '));
  const [keptTags, setKeptTags] = useState(settings.kept_tags.join(' '));
  const [enough, setEnough] = useState(settings.enough_per_issue_day?.toString() ?? '');
  const [alike, setAlike] = useState(inPercent(settings.merge_above));
  const [idle, setIdle] = useState(settings.idle);
  const [goals, setGoals] = useState(goalsOf(settings));
  const run = useAttempt();
  useEffect(() => {
    setName(settings.name);
    setIdle(settings.idle);
    setGoals(goalsOf(settings));
    setAlike(inPercent(settings.merge_above));
    setDays(settings.retention_days?.toString() ?? '');
    setReports(settings.quota_reports_day?.toString() ?? '');
    setMegabytes(inMegabytes(settings.quota_bytes_day));
    setLeftOut(settings.left_out.join(' '));
    setKeptTags(settings.kept_tags.join(' '));
    setEnough(settings.enough_per_issue_day?.toString() ?? '');
  }, [settings]);
  const standard = settings.server_retention_days;
  return (
    <Form
      run={run}
      submit={say('Save')}
      done={async () => {
        await api.setSettings(app, {
          name: name.trim(),
          retention_days: days.trim() === '' ? null : Number(days),
          quota_reports_day: reports.trim() === '' ? null : Number(reports),
          quota_bytes_day: megabytes.trim() === '' ? null : Math.round(Number(megabytes) * MEGABYTE),
          left_out: leftOut
            .toLowerCase()
            .split(/[\s,]+/)
            .filter(Boolean),
          kept_tags: keptTags.split(/[\s,]+/).filter(Boolean),
          merge_above: alike.trim() === '' ? null : Number(alike) / 100,
          enough_per_issue_day: enough.trim() === '' ? null : Number(enough),
          idle,
          ...Object.fromEntries(GOALS.map((one) => [one, goals[one].trim() === '' ? null : Number(goals[one])])),
        });
        announce(say('Saved'));
        await Promise.all([
          client.invalidateQueries({ queryKey: ['settings', app] }),
          client.invalidateQueries({ queryKey: ['apps'] }),
          client.invalidateQueries({ queryKey: ['rates', app] }),
        ]);
      }}
    >
      <Field
        label={say('Name of the app')}
        value={name}
        set={setName}
        note={say('The name on pages; addresses keep {app}.', { app })}
      />
      {GOALS.map((one) => (
        <Field
          key={one}
          label={goalLabel(one)}
          value={goals[one]}
          set={(text) => setGoals({ ...goals, [one]: text })}
          type="number"
          optional
        />
      ))}
      <p class="dim small">{say('Goals are drawn on the Overview. Empty: none.')}</p>
      <Field
        label={say('Days that reports are kept')}
        value={days}
        set={setDays}
        type="number"
        optional
        note={
          standard === 0
            ? say('0: forever. Empty: the server’s setting, forever.')
            : say('0: forever. Empty: the server’s setting, {days} days.', { days: standard })
        }
      />
      <Field
        label={say('Merge new issues automatically from % similar')}
        value={alike}
        set={setAlike}
        type="number"
        optional
        note={say(
          '50 to 100; empty: never. A new issue joins the most similar open issue. The activity shows each merge, and one click undoes it.',
        )}
      />
      <p class="dim small">{say('Counters stay. If many days are due, one is deleted each hour.')}</p>
      {settings.server_idle_days > 0 ? (
        <Choice
          label={say('Issues and versions without reports for {days} days', { days: settings.server_idle_days })}
          value={idle}
          set={setIdle}
          options={[
            ['keep', say('Stay')],
            ['archive', say('Are archived until their next report')],
            ['delete', say('Issues are deleted: their counts are those of the issue “other” of their kind')],
          ]}
        />
      ) : null}
      <Field
        label={say('Reports stored a day')}
        value={reports}
        set={setReports}
        type="number"
        optional
        note={quotaNote(settings.server_quota_reports_day)}
      />
      <Field
        label={say('MiB of reports stored a day')}
        value={megabytes}
        set={setMegabytes}
        type="number"
        optional
        note={quotaNote(settings.server_quota_bytes_day / MEGABYTE)}
      />
      <p class="dim small">
        {say(
          'Days are in UTC. Beyond the budget one report in 64 is stored; the others are only counted, here and in the status line.',
        )}
      </p>
      <Field
        label={say('Excluded installations')}
        value={leftOut}
        set={setLeftOut}
        optional
        note={say(
          'Identifiers as in reports, separated by spaces. No figure counts their new reports. Use it for the devices of a test farm, for example.',
        )}
      />
      <Field
        label={say('Tags kept')}
        value={keptTags}
        set={setKeptTags}
        optional
        note={say('Up to eight names of mire_set_tag, separated by spaces. New reports can be found by these tags.')}
      />
      <Field
        label={say('Reports of one issue, version and day that are kept whole')}
        value={enough}
        set={setEnough}
        type="number"
        optional
        note={quotaNote(settings.server_enough_per_issue_day)}
      />
      <p class="dim small">
        {say(
          'Further reports are counted only: every figure has them, but their stacks are not kept, and new rules do not move them.',
        )}
      </p>
    </Form>
  );
}

const MEGABYTE = 1_048_576;

function inMegabytes(size: number | null): string {
  return size === null ? '' : String(size / MEGABYTE);
}

function quotaNote(standard: number): string {
  return standard === 0
    ? say('0: no limit. Empty: the server’s setting, no limit.')
    : say('0: no limit. Empty: the server’s setting, {n}.', { n: exact(standard, lang.value) });
}

type Outcome = AppSettings['door'][number]['outcome'];

/** The outcomes at the door, in the order in which they are shown. */
function outcomes(): [Outcome, string][] {
  return [
    ['stored', say('Stored')],
    ['duplicate', say('Sent again')],
    ['quota', say('Beyond the budget')],
    ['too_often', say('Refused: rate limit')],
    ['queue_full', say('Refused: queue full')],
    ['disk_full', say('Refused: disk full')],
    ['body_refused', say('Refused: no report')],
    ['store_failed', say('Refused: store failed')],
  ];
}

function Door({ door }: { door: AppSettings['door'] }): JSX.Element {
  const days = [...new Set(door.map((row) => row.day))];
  const shown = outcomes().filter(([outcome]) => outcome === 'stored' || door.some((row) => row.outcome === outcome));
  if (days.length === 0) return <p class="dim">{say('No report came in the last 7 days.')}</p>;
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th scope="col">{say('Day (UTC)')}</th>
            {shown.map(([outcome, text]) => (
              <th key={outcome} scope="col" class="num">
                {text}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {days.map((day) => (
            <tr key={day}>
              <th scope="row">{day}</th>
              {shown.map(([outcome]) => {
                const row = door.find((one) => one.day === day && one.outcome === outcome);
                return (
                  <td key={outcome} class="num" title={row ? bytes(row.bytes) : undefined}>
                    {exact(row?.reports ?? 0, lang.value)}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
