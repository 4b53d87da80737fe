/* The first things said of an issue: a sentence of what happens and to whom, its rate by version, and the hand-over. */

import type { JSX } from 'preact';
import { api } from '../../api/client';
import type { Issue } from '../../api/types';
import { gap, lang, listed, say } from '../../lib/i18n';
import { useKeys } from '../../lib/keys';
import { query } from '../../lib/location';
import { useQuery } from '../../lib/query';
import { duration } from '../../lib/units';
import { factor } from '../../model/change';
import { isOfProcess } from '../../model/event';
import { percent, precise } from '../../model/format';
import { perThousand, type VersionRate } from '../../model/rates';
import { isMemory } from '../../model/view';
import { announce, Bar, copy } from '../parts';
import { useReleases } from '../releases';
import { IssueTicket } from './ticket';

const SHOWN_VERSIONS = 5;
const LEAST_REPORTS = 30; // of an issue, before a share of it is worth a sentence
const LEAST_LIFT = 1.5;

export function Verdict(props: { app: string; id: string; data: Issue; first: string }): JSX.Element {
  const { app, id, data, first } = props;
  const { t, v } = query.value;
  const rates = useQuery(['rates', app, t, v], (signal) => api.rates(app, { t, v }, signal));
  const rows = rates.data ? perThousand(data, rates.data).slice(-SHOWN_VERSIONS) : [];
  const words = [first, ...sentences(id, data)].filter((text) => text !== '');
  const releases = useReleases(app);
  const give = () => void handOver(id, words, rows);
  useKeys({ 'hand-over': give });
  return (
    <div class="verdict">
      {words.length > 0 ? <p class="said">{words.join(gap())}</p> : null}
      <div class="row">
        {rows.length > 0 ? <PerVersion rows={rows} /> : null}
        <span class="grow" />
        <button type="button" onClick={give} aria-keyshortcuts="h">
          {say('Hand over')}
        </button>
        <IssueTicket
          app={app}
          id={id}
          ticket={data.ticket}
          tracker={releases?.tracker ?? ''}
          form={releases?.ticket_link ?? ''}
          text={() => textOf(id, words, rows)}
        />
      </div>
    </div>
  );
}

function PerVersion({ rows }: { rows: readonly VersionRate[] }): JSX.Element {
  const most = Math.max(...rows.map((row) => row.value)) || 1;
  return (
    <dl class="per-version" aria-label={say('Events in 1,000 sessions, by version')}>
      <dt class="dim">{say('events in 1,000 sessions')}</dt>
      {rows.map((row, i) => (
        <dd key={row.version}>
          <span>{row.version}</span>
          <Bar share={row.value / most} />
          <b>{precise(row.value, lang.value)}</b>
          {i > 0 && i === rows.length - 1 && rows[i - 1]!.value > 0 ? (
            <span class="dim small">{factor(row.value / rows[i - 1]!.value, lang.value)}</span>
          ) : null}
        </dd>
      ))}
    </dl>
  );
}

function sentences(id: string, data: Issue): string[] {
  const { issue } = data;
  const out: string[] = [];
  if (!isMemory(id)) {
    const why = reasonSentence(issue.reason, data);
    if (why !== '') out.push(why);
    if (!isOfProcess(issue.category) && data.p50_ms > 0)
      out.push(say('Median {half}, 95 % under {most}.', { half: duration(data.p50_ms), most: duration(data.p95_ms) }));
  }
  const where = skew(data);
  if (where !== '') out.push(where);
  return out;
}

function reasonSentence(reason: string, data: Issue): string {
  const holder = data.distributions.find((one) => one.name === 'holder')?.values[0]?.key;
  if (holder === 'itself') return say('The thread waits for a lock that it holds itself: a deadlock.');
  if (holder) return say('The thread waits for a lock that {holder} holds.', { holder });
  const words: Record<string, string> = {
    lock: say('The thread waits for a lock.'),
    io: say('The thread waits for a file or a device.'),
    cpu: say('The thread is computing.'),
    sleep: say('The thread is asleep.'),
    wait: say('The thread waits for another thread.'),
    page_in: say('The thread waits for pages that are read from a file.'),
    ipc: say('The thread waits for another process.'),
  };
  return words[reason] ?? '';
}

/* Where it happens more often than other events do: at most two facets. */
function skew(data: Issue): string {
  const found: string[] = [];
  for (const one of data.distributions) {
    if (one.name !== 'version' && one.name !== 'os_version' && one.name !== 'model') continue;
    const sum = one.values.reduce((all, value) => all + value.reports, 0);
    const top = one.values.find((value) => value.key !== '' && (value.lift ?? 0) >= LEAST_LIFT && value.share >= 0.15);
    if (sum >= LEAST_REPORTS && top)
      found.push(
        say('{share} on {where} (×{lift})', {
          share: percent(top.share, lang.value),
          where: one.name === 'os_version' ? say('system {version}', { version: top.key }) : top.key,
          lift: top.lift!.toFixed(1),
        }),
      );
  }
  const [first, second] = found;
  if (!first) return '';
  return second ? say('{first}; {second}.', { first, second }) : say('{first}.', { first });
}

/* The issue as text for the person who mends it: the page's sentences, and the server's Markdown with a link back. */
async function textOf(id: string, words: readonly string[], rows: readonly VersionRate[]): Promise<string | null> {
  const asked = new URLSearchParams({ t: query.value.t }); // the tab and the rest are refused there
  const answer = await fetch(`/i/${id}.md?${asked}`).catch(() => null);
  if (!answer?.ok) {
    announce(say('The text could not be loaded'));
    return null;
  }
  const text = (await answer.text()).replace(/^- Page \//m, `- Page ${location.origin}/`);
  const [title, ...rest] = text.split('\n');
  const rates = listed(rows.map((row) => `${row.version} ${precise(row.value, 'en')}`));
  const said = [...words, ...(rates === '' ? [] : [say('In 1,000 sessions: {rates}.', { rates })])].join(gap());
  return [title, '', said, ...rest].join('\n');
}

async function handOver(id: string, words: readonly string[], rows: readonly VersionRate[]): Promise<void> {
  const text = await textOf(id, words, rows);
  if (text !== null) await copy(text, say('Copied, ready to be pasted into a ticket'));
}
