/* The other threads of a report: the holder of the lock first, then by CPU time. */

import type { JSX } from 'preact';
import type { Report } from '../../api/types';
import { say } from '../../lib/i18n';
import { duration } from '../../lib/units';
import { word } from '../../lib/words';
import { inOrder, type Thread } from '../../model/event';
import { base } from '../../model/name';
import { FramePlace } from '../place';

const STATES: Record<string, string> = { R: 'running', S: 'asleep', D: 'in disk sleep' };

export function Threads({ app, report }: { app: string; report: Report }): JSX.Element {
  return (
    <>
      {inOrder(report).map(([thread, i]) => (
        <OneThread
          key={thread.tid}
          app={app}
          version={report.row.version}
          thread={thread}
          holds={i === report.lock?.thread || thread.role === 'owner'}
          frame={i === report.lock?.thread ? report.lock.frame : null}
        />
      ))}
    </>
  );
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
          <li key={i} class={frame.role === 'app' ? '' : 'dim'}>
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
