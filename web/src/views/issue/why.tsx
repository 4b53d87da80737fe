/* The reasons for a report's key: in words, and for every frame the rule that kept or skipped it. */

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Frame, Report } from '../../api/types';
import { say } from '../../lib/i18n';
import { word } from '../../lib/words';

const MOST_ROWS = 60; /* within the size of a page (web/src/README.md) */

/* "line 12 of glib 3", or the words for a frame without a rule. */
function source(report: Report, index: number | null): string {
  const rule = index === null ? undefined : report.rules[index];
  return rule ? say('line {line} of {pack} {version}', { ...rule }) : '';
}

export function Why({ report, frames }: { report: Report; frames: readonly Frame[] }): JSX.Element | null {
  const [open, setOpen] = useState(false);
  if (frames.length === 0) return null;
  return (
    <details class="why" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{say('Why it is grouped here')}</summary>
      {open ? <Reasons report={report} frames={frames} /> : null}
    </details>
  );
}

const PARTS: Readonly<Record<string, string>> = {
  caller1: 'Caller1',
  module1: 'its module',
  caller2: 'Caller2',
  module2: 'its module',
  category: 'Kind',
  reason: 'Reason',
  subject: 'Memory',
};

/* The common parts of an issue's reports, and the rules that left a part out of a name. */
export function Key({ report }: { report: Pick<Report, 'key' | 'rules'> }): JSX.Element | null {
  if (report.key.length === 0) return null;
  return (
    <div class="scroll" role="region" aria-label={say('Why it is grouped here')} tabIndex={0}>
      <table class="tight">
        <caption>{say('Why it is grouped here: reports with the same parts are one issue.')}</caption>
        <thead>
          <tr>
            <th scope="col">{say('Part')}</th>
            <th scope="col">{say('Text')}</th>
            <th scope="col">{say('Left out of the name')}</th>
          </tr>
        </thead>
        <tbody>
          {report.key
            .filter((part) => part.text !== '')
            .map((part) => (
              <tr key={part.part}>
                <th scope="row">{say(PARTS[part.part] ?? part.part)}</th>
                <td>
                  <code>{part.text}</code>
                </td>
                <td>
                  {part.rules.map((rule) => (
                    <div key={rule}>
                      <code>{report.rules[rule]?.text}</code>
                    </div>
                  ))}
                </td>
              </tr>
            ))}
        </tbody>
      </table>
    </div>
  );
}

function Reasons({ report, frames }: { report: Report; frames: readonly Frame[] }): JSX.Element {
  return (
    <>
      {report.why === '' ? null : <p>{report.why}</p>}
      <Key report={report} />
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
              <th scope="col">{say('Location')}</th>
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
                    {frame.rule === null ? say('none matches: its module decides') : report.rules[frame.rule]?.text}
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
