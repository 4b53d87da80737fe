/* /:app/symbols - debug files: which ones reports lack, by how many do; sending them; and which are there. */

import type { JSX } from 'preact';
import { api } from '../../api/client';
import type { RekeyJob, Symbols, SymbolThere } from '../../api/types';
import { lang, say } from '../../lib/i18n';
import { idle } from '../../lib/live';
import { useQuery } from '../../lib/query';
import { useTitle } from '../../lib/title';
import { bytes, exact } from '../../model/format';
import { Ago, Loaded, Panel } from '../parts';
import { Missing } from './missing';
import { Upload } from './upload';

export function SymbolsPage({ app }: { app: string }): JSX.Element {
  useTitle(say('Symbols of {app}', { app }));
  const result = useQuery(['symbols', app], (signal) => api.symbols(app, signal), { again: () => idle(5_000) });
  return (
    <>
      <h1>{say('Symbols')}</h1>
      <Loaded result={result} rows={16} label={say('symbols')}>
        {(data) => (
          <>
            <Missing app={app} rows={data.missing} />
            <Upload app={app} />
            <Jobs app={app} />
            <There data={data} />
          </>
        )}
      </Loaded>
    </>
  );
}

function Jobs({ app }: { app: string }): JSX.Element | null {
  const { data } = useQuery(['rekey', app], (signal) => api.rekey(app, signal), {
    again: (data) =>
      data?.jobs.some((job) => job.state === 'queueing' || job.state === 'running') ? 3_000 : idle(3_000),
  });
  const jobs = data?.jobs.filter((job) => job.queued > 0).slice(0, 8) ?? [];
  if (jobs.length === 0) return null;
  return (
    <Panel title={say('Re-symbolicated')}>
      <ul class="sent">
        {jobs.map((job) => (
          <li key={job.job}>
            <Job job={job} />
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function Job({ job }: { job: RekeyJob }): JSX.Element {
  const causes = { symbols: say('new symbols'), rules: say('rules changed'), key: say('asked for') };
  const going = job.state === 'queueing' || job.state === 'running';
  const share = job.queued > 0 ? job.done / job.queued : 0;
  return (
    <>
      <strong>{causes[job.cause]}</strong> <span class="dim">{job.detail}</span>{' '}
      {going ? <progress max={1} value={share} aria-label={causes[job.cause]} /> : null}{' '}
      {say('{done} of {n|report|reports}, {moved} moved to another issue', {
        done: exact(job.done, lang.value),
        n: exact(job.queued, lang.value),
        moved: exact(job.moved, lang.value),
      })}
      {job.failed > 0 ? (
        <span class="bad-text"> · {say('{n} could not be read again', { n: exact(job.failed, lang.value) })}</span>
      ) : null}
      {job.preview ? <span class="dim"> · {say('preview only')}</span> : null}
      {job.ended_at ? (
        <span class="dim small">
          {' · '}
          <Ago at={job.ended_at} />
        </span>
      ) : null}
    </>
  );
}

function There({ data }: { data: Symbols }): JSX.Element {
  return (
    <Panel
      title={say('Uploaded')}
      aside={
        <span class="dim">
          {say('{n|file|files}, {size}', {
            n: exact(data.file_count, lang.value),
            size: bytes(data.file_bytes),
          })}
        </span>
      }
    >
      {data.files.length === 0 ? (
        <p class="dim">{say('No debug file has come yet.')}</p>
      ) : (
        <div class="scroll" role="region" aria-label={say('Debug files')} tabIndex={0}>
          <table class="tight">
            <thead>
              <tr>
                <th scope="col">{say('File')}</th>
                <th scope="col">{say('Holds')}</th>
                <th scope="col" class="num">
                  {say('Size')}
                </th>
                <th scope="col">{say('Build id')}</th>
                <th scope="col">{say('Added')}</th>
              </tr>
            </thead>
            <tbody>
              {data.files.map((file) => (
                <File key={`${file.build_id} ${file.kind}`} file={file} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Panel>
  );
}

function File({ file }: { file: SymbolThere }): JSX.Element {
  return (
    <tr>
      <th scope="row">
        {file.name || say('without a name')} <span class="dim small">{file.arch}</span>
      </th>
      <td>
        {file.kind !== 'debug' || file.depth === 'names'
          ? say('function names')
          : file.depth === 'lines'
            ? say('function names and lines')
            : say('lines and inlined calls')}
        {file.defect === '' ? null : <div class="warn-text small">{file.defect}</div>}
        {file.second ? (
          <div class="warn-text small">{say('The contents are not those that this app sent under the build id')}</div>
        ) : null}
      </td>
      <td class="num">{bytes(file.size_bytes)}</td>
      <td>
        <code>{file.build_id}</code>
      </td>
      <td>
        <Ago at={file.came_at} />{' '}
        <span class="dim small">{file.source === 'upload' ? say('by upload') : file.source}</span>
      </td>
    </tr>
  );
}
