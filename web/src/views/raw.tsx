/* Everything the device told about one report: the facts as a table, then the server's answer as it came. */

import type { JSX } from 'preact';
import { say } from '../lib/i18n';
import { isMemory } from '../model/view';
import { Copyable } from './copyable';
import { Loaded } from './parts';
import { Picker, useReport } from './stack';

export function RawTab({ app, id }: { app: string; id: string }): JSX.Element {
  const result = useReport(app, id);
  return (
    <Loaded result={result} rows={14} label={say('report')}>
      {(report) => (
        <>
          <Picker report={report} worst={isMemory(id) ? say('Largest') : say('Longest')} />
          <table class="tight facts">
            <caption class="offscreen">{say('What the device told')}</caption>
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
          <Copyable label={say('Report as JSON')} text={JSON.stringify(report, null, 2)} />
        </>
      )}
    </Loaded>
  );
}
