/* The other threads of a report: the holder of the lock, beside the stack that waits for it, and the rest by CPU time. */

import type { ComponentChildren, JSX } from 'preact';
import type { Report } from '../../api/types';
import { say } from '../../lib/i18n';
import { duration } from '../../lib/units';
import { word } from '../../lib/words';
import { inOrder, type Thread } from '../../model/event';
import { base } from '../../model/name';
import { FramePlace } from '../place';

const STATES: Record<string, string> = { R: 'running', S: 'asleep', D: 'in disk sleep' };

type Listed = ReturnType<typeof inOrder>[number];

function isHolder(report: Report, [thread, i]: Listed): boolean {
  return i === report.lock?.thread || thread.role === 'owner';
}

function List({ app, report, threads }: { app: string; report: Report; threads: readonly Listed[] }): JSX.Element {
  return (
    <>
      {threads.map(([thread, i]) => (
        <OneThread
          key={thread.tid}
          app={app}
          version={report.row.version}
          thread={thread}
          holds={isHolder(report, [thread, i])}
          frame={i === report.lock?.thread ? report.lock.frame : null}
        />
      ))}
    </>
  );
}

/* What waits, and beside it what holds the lock, where that is known. */
export function WithHolder(props: { app: string; report: Report; children: ComponentChildren }): JSX.Element {
  const { app, report, children } = props;
  const holders = inOrder(report).filter((one) => isHolder(report, one));
  if (holders.length === 0) return <>{children}</>;
  return (
    <div class="waiter-holder">
      <div>{children}</div>
      <section aria-label={say('Holder of the lock')}>
        <h2>{say('Holder of the lock')}</h2>
        <List app={app} report={report} threads={holders} />
      </section>
    </div>
  );
}

export function Threads({ app, report }: { app: string; report: Report }): JSX.Element {
  return <List app={app} report={report} threads={inOrder(report).filter((one) => !isHolder(report, one))} />;
}

interface ThreadProps {
  app: string;
  version: string;
  thread: Thread;
  holds: boolean;
  frame: number | null;
}

function OneThread(props: ThreadProps): JSX.Element {
  const { app, version, thread, holds, frame: answers } = props;
  const state = STATES[thread.state];
  return (
    <details class="thread" open={holds}>
      <summary>
        {holds ? <span class="tag reason-lock">{say('holds the lock')}</span> : null} {say('Thread')}{' '}
        {thread.name || thread.tid}{' '}
        <span class="dim">
          {[
            String(thread.tid),
            holds || thread.role === 'other' ? '' : word(thread.role),
            state ? say(state) : '',
            thread.cpu_ms === null ? '' : say('{time} on the CPU', { time: duration(thread.cpu_ms) }),
          ]
            .filter((text) => text !== '')
            .join(', ')}
        </span>
      </summary>
      <ol class="plain-stack">
        {thread.frames.map((frame, i) => (
          <li key={i} class={i === answers ? 'strong' : frame.role === 'app' ? '' : 'dim'}>
            <span class="fn">{frame.function}</span> <span class="image">{base(frame.image)}</span>{' '}
            <FramePlace app={app} version={version} frame={frame} />
            {i === answers ? <span class="tag reason-lock">{say('holds it here')}</span> : null}
          </li>
        ))}
      </ol>
      {thread.frames.length === 0 ? <p class="dim">{say('Unwinding found no frame here.')}</p> : null}
    </details>
  );
}
