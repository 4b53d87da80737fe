/* Missing debug files, and the command that sends them. */

import type { JSX } from 'preact';
import type { SymbolMissing } from '../../api/types';
import { lang, say } from '../../lib/i18n';
import { exact } from '../../model/format';
import { Copyable } from '../copyable';
import { Exports } from '../exports';
import { Ago, Panel } from '../parts';
import { quoted, uploadCommand } from './command';

/* The kernel's own image, which no build has made. */
const isKernels = (row: SymbolMissing): boolean => row.name.startsWith('[');

/* A mapping without an id in the reports is sent for their version. */
function mappingCommand(row: SymbolMissing): string {
  const version = row.version === '' ? '' : ` --version ${quoted(row.version)}`;
  const build = row.build === '' ? '' : ` --build ${quoted(row.build)}`;
  return `mire symbols upload${version}${build} /path/to/mapping.txt`;
}

function command(app: string, rows: readonly SymbolMissing[]): string {
  const some = rows.filter((row) => !isKernels(row)).slice(0, 20);
  const paths = some.filter((row) => row.arch !== 'java').map((row) => `/path/to/${quoted(row.name)}`);
  const mappings = some.filter((row) => row.arch === 'java').map(mappingCommand);
  return uploadCommand(app, [
    ...(paths.length > 0 ? [`mire symbols upload ${paths.join(' ')}`] : []),
    ...new Set(mappings),
    ...(some.length > 0 ? [] : ['mire symbols upload build/']),
  ]);
}

export function Missing({ app, rows }: { app: string; rows: readonly SymbolMissing[] }): JSX.Element {
  const sorted = [...rows.filter((row) => !isKernels(row)), ...rows.filter(isKernels)];
  const blank = rows.filter((row) => row.reports > row.reports_with_names && !isKernels(row));
  return (
    <Panel title={say('Missing')}>
      {rows.length === 0 ? (
        <p>
          {say('No report lacks a debug file. To send the debug files of every build, run this where it is built:')}
        </p>
      ) : (
        <>
          <div class="scroll" role="region" aria-label={say('Missing debug files')} tabIndex={0}>
            <table class="tight">
              <thead>
                <tr>
                  <th scope="col">{say('Module')}</th>
                  <th scope="col" class="num">
                    {say('Reports')}
                  </th>
                  <th scope="col">{say('Has now')}</th>
                  <th scope="col">{say('Build id')}</th>
                  <th scope="col">{say('Searched')}</th>
                </tr>
              </thead>
              <tbody>
                {sorted.map((row) => (
                  <tr key={row.build_id}>
                    <th scope="row">
                      {row.name}{' '}
                      <span class="dim small">
                        {row.arch} {row.version} {row.build}
                      </span>
                    </th>
                    <td class="num">{exact(row.reports, lang.value)}</td>
                    <td>
                      {row.reports > row.reports_with_names ? (
                        <span class="warn-text">{row.arch === 'java' ? say('short names') : say('addresses')}</span>
                      ) : (
                        <span class="dim">{say('function names')}</span>
                      )}
                      {row.defect === '' ? null : <div class="warn-text small">{row.defect}</div>}
                    </td>
                    <td>
                      <code>{row.build_id}</code>
                    </td>
                    <td class="dim small looked">
                      {row.answer !== '' ? row.answer : row.look_at ? say('not yet') : say('it has to be sent')}
                      {row.answer === '' ? null : (
                        <>
                          {' · '}
                          {say('since')} <Ago at={row.first_seen} />
                        </>
                      )}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          <p class="dim small">
            {say(
              'Once a file is there, the reports that lack it are symbolicated again. Their issues keep their numbers and states.',
            )}
          </p>
          <Exports path={`apps/${app}/symbols`} of={say('Missing')} />
        </>
      )}
      <Copyable label={say('Upload by command')} text={command(app, blank.length > 0 ? blank : rows)} />
    </Panel>
  );
}
