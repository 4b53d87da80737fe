/* All facts of one report: as a table, then the server's answer unchanged. */

import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { say } from '../../lib/i18n';
import { isMemory } from '../../model/view';
import { Copyable } from '../copyable';
import { Loaded } from '../parts';
import { Picker, useReport } from './stack';

export function RawTab({ app, id }: { app: string; id: string }): JSX.Element {
  const result = useReport(app, id);
  return (
    <Loaded result={result} rows={14} label={say('report')}>
      {(report) => (
        <>
          <Picker report={report} worst={isMemory(id) ? say('Largest') : say('Longest')} />
          <table class="tight facts">
            <caption class="offscreen">{say('Facts from the device')}</caption>
            <tbody>
              {report.facts.map((fact) => (
                <tr key={fact.name}>
                  <th scope="row">{fact.name}</th>
                  <td>{fact.value}</td>
                </tr>
              ))}
              <tr>
                <th scope="row">{say('Report')}</th>
                <td>
                  <code>{report.row.id}</code>
                </td>
              </tr>
            </tbody>
          </table>
          <Answer report={report} />
        </>
      )}
    </Loaded>
  );
}

const SHOWN = 200_000; // characters: some thousand lines, more than anyone scrolls through

/* Written out once the tab has been painted, for a report may have ten thousands of frames; copied whole. */
function Answer({ report }: { report: object }): JSX.Element {
  const [text, setText] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setText(JSON.stringify(report, null, 2)));
    return () => clearTimeout(timer);
  }, [report]);
  return <Copyable label={say('Report as JSON')} text={text} most={SHOWN} />;
}
