/* Why the report has its key: in words, and for every frame the rule that kept it or passed it over. */

import type { JSX } from 'preact';
import type { Frame, Report } from '../api/types';
import { say } from '../lib/i18n';
import { word } from '../lib/words';

/* "line 12 of glib 3", or what stands for a rule where none fits. */
function source(report: Report, index: number | null): string {
  const rule = index === null ? undefined : report.rules[index];
  return rule ? say('line {line} of {pack} {version}', { ...rule }) : '';
}

export function Why({ report, frames }: { report: Report; frames: readonly Frame[] }): JSX.Element | null {
  if (frames.length === 0) return null;
  return (
    <details class="why">
      <summary>{say('Why this key')}</summary>
      {report.why === '' ? null : <p>{report.why}</p>}
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
            {frames.map((frame, i) => (
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
    </details>
  );
}
