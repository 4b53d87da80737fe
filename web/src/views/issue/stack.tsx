/* Hottest stack: what happened, the samples as a strip, the stack with how often each frame repeats, the other threads. */

import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api } from '../../api/client';
import type { Frame, Report } from '../../api/types';
import { lang, say } from '../../lib/i18n';
import { useKeys } from '../../lib/keys';
import { patch, query } from '../../lib/location';
import { recall, remember } from '../../lib/memory';
import { type Result, useQuery } from '../../lib/query';
import { duration } from '../../lib/units';
import { systemWord, word } from '../../lib/words';
import { fileOf, hotThread, isOfProcess, ofHotThread } from '../../model/event';
import { exact } from '../../model/format';
import { base } from '../../model/name';
import { asText, hotAsText, hotMiddle, isPartial, leafOf, outerFrom, perCell } from '../../model/stack';
import { Bar, copy, Loaded, Moment } from '../parts';
import { FramePlace } from '../place';
import { CallerTag } from './caller-tag';
import { Blame, Cost, Verdict } from './event';
import { Ownerless } from './ownerless';
import { Threads, WithHolder } from './threads';
import { Why } from './why';

export function useReport(app: string, id: string): Result<Report> {
  const { t, v, n } = query.value;
  return useQuery(['report', app, id, n, t, v], (signal) => api.report(app, id, n, { t, v }, signal));
}

export function StackTab({ app, id }: { app: string; id: string }): JSX.Element {
  const result = useReport(app, id);
  return (
    <Loaded result={result} rows={14} label={say('report')}>
      {(report) => <Body app={app} report={report} />}
    </Loaded>
  );
}

/* The report that is shown, and links to others. */
type Placed = Pick<Report, 'row' | 'position' | 'total' | 'reports' | 'previous' | 'next' | 'facts'>;

export function Picker({ report, worst = say('Longest') }: { report: Placed; worst?: string }): JSX.Element {
  const { n } = query.value;
  const to = (wanted: string | null) => wanted && patch({ n: wanted, s: null }, true);
  const file = fileOf(report);
  return (
    <div class="picker" role="group" aria-label={say('Report')}>
      {(['latest', 'worst', 'first'] as const).map((which) => (
        <button key={which} type="button" aria-pressed={n === which} onClick={() => to(which)}>
          {{ latest: say('Latest'), worst, first: say('First') }[which]}
        </button>
      ))}
      {report.previous ? (
        <button type="button" onClick={() => to(report.previous)}>
          {say('‹ Newer')}
        </button>
      ) : null}
      {report.next ? (
        <button type="button" onClick={() => to(report.next)}>
          {say('Older ›')}
        </button>
      ) : null}
      <span class="dim">
        {report.row.kept
          ? say('{n} of {total}', { n: exact(report.position, lang.value), total: exact(report.total, lang.value) })
          : say('counted only')}{' '}
        · <Moment at={report.row.occurred_at} seconds /> · {report.row.version} ·{' '}
        {systemWord(`${report.row.os} ${report.row.os_version}`)} {report.row.arch}
        {file ? ` · ${say('{process} is the file {file}', { process: report.row.process, file })}` : ''}
      </span>
      {report.row.kept ? null : (
        <p class="notice">
          {say('This report is counted only: enough reports of its issue and version were kept that day.')}
        </p>
      )}
      {report.reports > report.total ? <Kept kept={report.total} all={report.reports} /> : null}
    </div>
  );
}

/** Reports beyond enough of a day have no stacks. */
export function Kept({ kept, all }: { kept: number; all: number }): JSX.Element {
  return (
    <span class="dim">
      {say('{kept} of {all} reports are kept whole, the others are counted only.', {
        kept: exact(kept, lang.value),
        all: exact(all, lang.value),
      })}
    </span>
  );
}

function Body({ app, report: whole }: { app: string; report: Report }): JSX.Element {
  const report = ofHotThread(whole);
  const { samples } = report;
  const { s } = query.value;
  const chosen = s !== null && s < samples.stack.length ? s : null;
  const frames = chosen === null ? report.hot.frames : (samples.stacks[samples.stack[chosen]!]?.frames ?? []);
  useKeys({ path: () => void copy(textOf(report, chosen, frames), say('Stack copied')) });
  return (
    <>
      <Picker report={report} />
      <Verdict report={report} />
      <Blame report={report} />
      {isPartial(report) ? <p class="dim">{report.why}</p> : null}
      <Strip report={report} chosen={chosen} />
      <WithHolder app={app} report={whole}>
        <Frames app={app} report={report} frames={frames} sample={chosen} />
      </WithHolder>
      <Ownerless app={app} report={report} />
      <Why report={report} frames={frames} />
      <Threads app={app} report={whole} />
      <Cost report={report} />
    </>
  );
}

/* The text to copy: the hottest stack with the verdict, or the frames of one sample. */
function textOf(report: Report, sample: number | null, frames: readonly Frame[]): string {
  return sample === null ? hotAsText(report) : asText(frames);
}

/* More cells could not be told apart, nor hit. A cell of several samples shows the first. */
const MOST_CELLS = 120;

/* One cell a sample, coloured by what its innermost function is, as wide as the time it stands for. */
function Strip({ report, chosen }: { report: Report; chosen: number | null }): JSX.Element | null {
  const { samples } = report;
  const total = samples.stack.length;
  if (total === 0) return null;
  const all = report.row.duration_ms - samples.weight_ms.reduce((a, b) => a + b, 0);
  const unseen = isOfProcess(report.category) ? 0 : Math.max(0, all);
  const width = perCell(samples, MOST_CELLS);
  const cells = Math.ceil(total / width);
  const now = chosen === null ? -1 : Math.floor(chosen / width);
  const choose = (i: number | null) => patch({ s: i });
  const onKey = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (event.key === 'Escape' && chosen !== null) choose(null);
    if (by === 0) return;
    event.preventDefault();
    const next = Math.max(0, Math.min(cells - 1, (now < 0 && by < 0 ? cells : now) + by));
    choose(next * width);
    (event.currentTarget as HTMLElement).querySelectorAll('button')[next]?.focus();
  };
  return (
    <div class="strip-box">
      <div class="strip" role="group" aria-label={say('Samples, oldest first; arrow keys step')} onKeyDown={onKey}>
        {unseen > 0 ? (
          <i
            class="unseen"
            style={{ flexGrow: unseen }}
            title={say('{time} without samples', { time: duration(unseen) })}
          />
        ) : null}
        {Array.from({ length: cells }, (_, cell) => {
          const i = cell * width;
          const weight = samples.weight_ms.slice(i, i + width).reduce((a, b) => a + b, 0);
          const leaf = leafOf(samples, i);
          return (
            <button
              key={i}
              type="button"
              class={`cell r-${samples.leaf[i] ?? 'unknown'}`}
              style={{ flexGrow: weight || 1 }}
              aria-pressed={now === cell}
              tabIndex={Math.max(0, now) === cell ? 0 : -1}
              aria-label={say('Sample {n} of {total} at {time}: {name}', {
                n: i + 1,
                total,
                time: duration(samples.at_ms[i] ?? 0),
                name: leaf?.function ?? say('no stack'),
              })}
              title={`${duration(samples.at_ms[i] ?? 0)}  ${leaf?.function ?? ''}`}
              onClick={() => choose(now === cell ? null : i)}
            />
          );
        })}
      </div>
      <div class="strip-ends dim">
        <span>0</span>
        <span class="legend">
          {unseen > 0 ? (
            <span class="key unseen-key">{say('{time} without samples', { time: duration(unseen) })}</span>
          ) : null}
          {[...new Set(samples.leaf)].map((role) => (
            <span key={role} class={`key role r-${role}`}>
              {word(role)}
            </span>
          ))}
        </span>
        <span>{duration(report.row.duration_ms)}</span>
      </div>
    </div>
  );
}

/* Whether the outer frames are shown, remembered on this device. */
const openOuter = signal(recall('outer') === 'open');

/* Of a deeper stack, what lies between is shown on demand. */
const INNER_FRAMES = 60;
const OUTER_FRAMES = 15;

function Frames(props: { app: string; report: Report; frames: readonly Frame[]; sample: number | null }): JSX.Element {
  const { app, report, frames, sample } = props;
  const total = report.samples.stack.length;
  const thread = hotThread(report);
  const middle = sample === null ? hotMiddle(report) : null;
  const [all, setAll] = useState(false);
  const outer = outerFrom(frames);
  const folds = outer !== null && !openOuter.value;
  const shown = frames.map((frame, i) => [frame, i] as const).slice(0, folds ? outer : undefined);
  const hidden = all ? 0 : Math.max(0, shown.length - INNER_FRAMES - OUTER_FRAMES);
  if (hidden > 1) shown.splice(INNER_FRAMES, hidden);
  return (
    <>
      <div class="stack-head">
        <h2>{sample === null ? say('Hottest stack') : say('Sample {n} of {total}', { n: sample + 1, total })}</h2>
        {thread ? <span class="dim">{say('of thread {name}', { name: thread.name || thread.tid })}</span> : null}
        {sample === null ? null : (
          <button type="button" class="quiet" onClick={() => patch({ s: null })}>
            {say('Back to the hottest stack')}
          </button>
        )}
        <span class="grow" />
        <button
          type="button"
          class="quiet"
          aria-keyshortcuts="y"
          onClick={() => void copy(textOf(report, sample, frames), say('Stack copied'))}
        >
          {say('Copy stack')}
        </button>
      </div>
      <table class="stack">
        <caption class="offscreen">{say('Frames, innermost first')}</caption>
        <thead class="offscreen">
          <tr>
            {sample === null ? <th scope="col">{say('Samples')}</th> : null}
            <th scope="col">{say('Function')}</th>
            <th scope="col">{say('Place')}</th>
          </tr>
        </thead>
        <tbody>
          {shown.map(([frame, i]) => (
            <tr key={i} class={frame.role === 'app' ? `role-${frame.role}` : `role-${frame.role} faint`}>
              {sample === null ? (
                <td class="repeat">
                  <div>
                    <Bar share={total > 0 ? frame.repeat / total : 0} kind={`r-${frame.role}`} />
                    <span class="num">
                      {frame.repeat}/{total}
                    </span>
                  </div>
                </td>
              ) : null}
              <th scope="row">
                <span class="fn">{frame.function}</span>
                {sample === null && i === report.caller1 ? <CallerTag name="Caller1" /> : null}
                {sample === null && i === report.caller2 ? <CallerTag name="Caller2" /> : null}
                {frame.inlined ? <span class="tag">{say('inlined')}</span> : null}
                {i === middle ? (
                  <span class="tag hot">{say('hot middle frame: always there, its callees vary')}</span>
                ) : null}
              </th>
              <td class="where">
                <span class="image">{base(frame.image)}</span>{' '}
                <FramePlace app={app} version={report.row.version} frame={frame} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {outer === null ? null : (
        <button
          type="button"
          class="quiet sentence"
          aria-expanded={!folds}
          onClick={() => {
            openOuter.value = !openOuter.value;
            remember('outer', openOuter.value ? 'open' : 'folded');
          }}
        >
          {folds
            ? say('{n} outer frames of {image} · show', {
                n: frames.length - outer,
                image: base(frames[outer]!.image),
              })
            : say('Fold the {n} outer frames', { n: frames.length - outer })}
        </button>
      )}
      {hidden > 1 ? (
        <button type="button" class="sentence" onClick={() => setAll(true)}>
          {say('{n} frames between the inner {inner} and the outer {outer} · show', {
            n: exact(hidden, lang.value),
            inner: INNER_FRAMES,
            outer: OUTER_FRAMES,
          })}
        </button>
      ) : null}
      {frames.length === 0 ? <p class="dim">{say('Unwinding found no frame here.')}</p> : null}
    </>
  );
}
