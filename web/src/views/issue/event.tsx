/* The event of one report in a few lines: duration, reason, state of the app, function to blame, cost of capturing. */

import type { JSX } from 'preact';
import type { Report } from '../../api/types';
import { lang, say } from '../../lib/i18n';
import { duration, nanoseconds } from '../../lib/units';
import { guessWord } from '../../lib/words';
import { holder, isOfProcess } from '../../model/event';
import { bytes, exact, percent } from '../../model/format';
import { shorten } from '../../model/name';
import { commonLeaf, coverage, place, withoutStack } from '../../model/stack';
import { TurnsTable } from '../overview/turns';
import { Ago } from '../parts';

const REASONS: Record<string, string> = {
  cpu: 'computing',
  lock: 'waiting for a lock',
  io: 'waiting for input or output',
  wait: 'waiting',
  sleep: 'asleep',
};

/* The facts behind the kind, for kinds of the whole process. */
function load(report: Report): string {
  const { cpu, disk, frames } = report;
  if (frames)
    return say('{dropped} of {all} frames dropped, {time} the longest wait', {
      dropped: exact(frames.dropped, lang.value),
      all: exact(frames.ticks + frames.dropped, lang.value),
      time: duration(frames.longest_ms ?? 0),
    });
  if (disk)
    return say('{read} read and {written} written in {time}', {
      read: bytes(disk.read_bytes),
      written: bytes(disk.write_bytes),
      time: duration(disk.window_ms),
    });
  if (cpu)
    return say('{share} of a processor over {time}, limit {limit}', {
      share: percent(cpu.percent / 100, lang.value),
      time: duration(cpu.window_ms),
      limit: cpu.limit_percent === null ? '—' : percent(cpu.limit_percent / 100, lang.value),
    });
  return duration(report.row.duration_ms);
}

export function Verdict({ report }: { report: Report }): JSX.Element {
  const { covered_ms, stacks_ms, event_ms, whole } = coverage(report);
  const process = isOfProcess(report.category);
  const leaf = commonLeaf(report.samples);
  const total = report.samples.stack.length;
  const lost = withoutStack(report);
  return (
    <p class="verdict">
      {process ? <strong>{load(report)}</strong> : <strong>{duration(event_ms)}</strong>}{' '}
      {process || report.reason === 'unknown' ? null : say(REASONS[report.reason] ?? report.reason)}
      <Holder report={report} />
      {report.row.open ? <span class="tag kind-killed">{say('killed before it ended')}</span> : null}
      {report.launch ? <span class="tag">{say('at launch')}</span> : null}
      {report.foreground === null ? null : (
        <span class="tag">{report.foreground ? say('in the foreground') : say('in the background')}</span>
      )}
      {report.name === '' ? null : <span class="tag">{report.name}</span>}
      <span class="dim">
        {[
          process
            ? ''
            : lost > 0
              ? say('stacks cover {part} of {all}', { part: duration(stacks_ms), all: duration(event_ms) })
              : whole
                ? say('Sampled: the whole time')
                : say('Sampled: the last {part} of {all}', {
                    part: duration(covered_ms),
                    all: duration(event_ms),
                  }),
          leaf ? say('{n} of {total} samples in {name}', { n: leaf.samples, total, name: shorten(leaf.name, 60) }) : '',
          typeof report.thread.cpu_ms === 'number'
            ? say('{time} on the CPU', { time: duration(report.thread.cpu_ms) })
            : '',
          ...clocks(report),
        ]
          .filter((text) => text !== '')
          .join(' · ')}
      </span>
    </p>
  );
}

/* The doubts of the clocks about the duration. */
function clocks(report: Report): string[] {
  const { late_ms, suspended_ms, begin_slack_ms, suppressed } = report;
  return [
    late_ms > 50 ? say('the check thread itself was {time} late', { time: duration(late_ms) }) : '',
    suspended_ms > 0 ? say('the machine slept {time} besides', { time: duration(suspended_ms) }) : '',
    begin_slack_ms > 0 ? say('may have begun {time} earlier', { time: duration(begin_slack_ms) }) : '',
    suppressed.count > 0
      ? say('{n} more like it, {time} together, were counted on the device and not sent', {
          n: exact(suppressed.count, lang.value),
          time: duration(suppressed.duration_ms),
        })
      : '',
  ];
}

function Holder({ report }: { report: Report }): JSX.Element | null {
  const who = holder(report);
  if (report.lock?.itself) return <span class="tag reason-lock">{say('held by the thread itself: a deadlock')}</span>;
  if (who === null) return null;
  return (
    <span>
      {' '}
      {say('held by thread {name}', { name: who.thread.name || who.thread.tid })}
      {who.frame ? (
        <>
          {' '}
          {say('in')} <span class="fn">{who.frame.function}</span>
        </>
      ) : null}{' '}
    </span>
  );
}

/* The server's verdict and the device's own, one below the other. */
export function Blame({ report }: { report: Report }): JSX.Element | null {
  const rows = [
    { who: say('Mire says'), meaning: say('the deepest function of the app'), verdict: report.verdict },
    { who: say('On the device'), meaning: say('the deepest function of all'), verdict: report.blame },
  ].filter((row) => row.verdict);
  if (rows.length === 0) return null;
  return (
    <table class="tight blame">
      <caption>{say('Most of the time is spent in')}</caption>
      <tbody>
        {rows.map(({ who, meaning, verdict }) => (
          <tr key={who}>
            <th scope="row" title={meaning}>
              {who}
            </th>
            <td>
              <span class="fn">{verdict!.frame.function}</span> <code class="dim">{place(verdict!.frame)}</code>
            </td>
            <td class="num">{percent(verdict!.share, lang.value)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function Cost({ report }: { report: Report }): JSX.Element {
  const { cost, turns } = report;
  const more = [
    cost.wakeups === null ? '' : say('{n} wake-ups', { n: exact(cost.wakeups, lang.value) }),
    cost.stored_bytes === null ? '' : say('{size} stored', { size: bytes(cost.stored_bytes) }),
    cost.period_raised ? say('sampling slowed down {n|time|times} to stay cheap', { n: cost.period_raised }) : '',
  ].filter((text) => text !== '');
  return (
    <>
      {turns.length > 0 ? (
        <details class="turns">
          <summary>{say('Main-loop blocks in this session')}</summary>
          <TurnsTable turns={turns} />
        </details>
      ) : null}
      <p class="dim small">
        {isOfProcess(report.category) || report.threshold_ms === 0 || report.gate === 'none'
          ? ''
          : `${say('Watched by {gate}, threshold {threshold}.', { gate: report.gate, threshold: duration(report.threshold_ms) })} `}
        {cost.samples === 0
          ? ''
          : `${say('Cost of capture: {n|sample|samples}, longest pause {most}, {all} in all.', {
              n: cost.samples,
              most: nanoseconds(cost.stopped_max_ns),
              all: nanoseconds(cost.stopped_sum_ns),
            })} `}
        {more.length > 0 ? `${say('Since start:')} ${more.join(', ')}. ` : ''}
        {report.guess === ''
          ? ''
          : `${say('The device classified it as {guess}.', { guess: guessWord(report.guess) })} `}
        {say('Received')} <Ago at={report.row.received_at} />
      </p>
    </>
  );
}
