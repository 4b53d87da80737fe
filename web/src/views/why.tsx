/* Why the report has its key: in words, and for every frame the rule that kept it or passed it over. */

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Frame, Report } from '../api/types';
import { say } from '../lib/i18n';
import { word } from '../lib/words';

const MOST_ROWS = 60; /* what a page may hold besides (web/src/README.md) */

/* "line 12 of glib 3", or what stands for a rule where none fits. */
function source(report: Report, index: number | null): string {
  const rule = index === null ? undefined : report.rules[index];
  return rule ? say('line {line} of {pack} {version}', { ...rule }) : '';
}

export function Why({ report, frames }: { report: Report; frames: readonly Frame[] }): JSX.Element | null {
  const [open, setOpen] = useState(false);
  if (frames.length === 0) return null;
  return (
    <details class="why" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{say('Why this key')}</summary>
      {open ? <Reasons report={report} frames={frames} /> : null}
    </details>
  );
}

function Reasons({ report, frames }: { report: Report; frames: readonly Frame[] }): JSX.Element {
  return (
    <>
      {report.why === '' ? null : <p>{report.why}</p>}
      {frames.length > MOST_ROWS ? (
        <p class="faint">{say('The innermost {n|frame|frames}; the tab Raw has all.', { n: MOST_ROWS })}</p>
      ) : null}
      <div class="scroll" role="region" aria-label={say('Rules by frame')} tabIndex={0}>
        <table class="tight">
          <thead>
            <tr>
              <th scope="col">{say('Function')}</th>
              <th scope="col">{say('Taken for')}</th>
              <th scope="col">{say('Rule')}</th>
              <th scope="col">{say('Where it stands')}</th>
            </tr>
          </thead>
          <tbody>
            {frames.slice(0, MOST_ROWS).map((frame, i) => (
              <tr key={i} class={frame.role === 'app' ? '' : 'faint'}>
                <th scope="row">{frame.function}</th>
                <td>
                  {word(frame.role)} · {frame.role === 'app' ? say('kept') : say('passed over')}
                </td>
                <td>
                  <code>
                    {frame.rule === null ? say('none fits: its module decides') : report.rules[frame.rule]?.text}
                  </code>
                  {frame.mark === null ? null : (
                    <>
                      <br />
                      <code>{report.rules[frame.mark]?.text}</code>
                    </>
                  )}
                </td>
                <td>
                  {source(report, frame.rule)}
                  {frame.mark === null ? null : (
                    <>
                      <br />
                      {source(report, frame.mark)}
                    </>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
