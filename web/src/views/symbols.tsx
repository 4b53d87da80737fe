/* /:app/symbols - debug files: which ones reports lack, by how many do; sending them; and which are there. */

import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { api, ProblemError, sendSymbols } from '../api/client';
import type { RekeyJob, SymbolMissing, Symbols, SymbolThere } from '../api/types';
import { lang, say } from '../lib/i18n';
import { client, useQuery } from '../lib/query';
import { useTitle } from '../lib/title';
import { bytes, exact, percent } from '../model/format';
import { Copyable } from './copyable';
import { Ago, announce, Loaded, Panel } from './parts';

export function SymbolsPage({ app }: { app: string }): JSX.Element {
  useTitle(say('Symbols of {app}', { app }));
  const result = useQuery(['symbols', app], (signal) => api.symbols(app, signal), { again: () => 5_000 });
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

/* The kernel's own image, which is no file that anyone built. */
const isKernels = (row: SymbolMissing): boolean => row.name.startsWith('[');

/* A word of a shell's. */
const quoted = (word: string): string => word.replace(/[^\w.+-]/gu, '\\$&');

/* A mapping that reports do not name is sent as that of their version. */
function mappingCommand(row: SymbolMissing): string {
  const version = row.version === '' ? '' : ` --version ${quoted(row.version)}`;
  const build = row.build === '' ? '' : ` --build ${quoted(row.build)}`;
  return `mire symbols upload${version}${build} /path/to/mapping.txt`;
}

function command(app: string, rows: readonly SymbolMissing[]): string {
  const some = rows.filter((row) => !isKernels(row)).slice(0, 20);
  const paths = some.filter((row) => row.arch !== 'java').map((row) => `/path/to/${quoted(row.name)}`);
  const mappings = some.filter((row) => row.arch === 'java').map(mappingCommand);
  return [
    `export MIRE_SERVER=${location.origin}`,
    `export MIRE_KEY=$(mire key create ${app} --scope symbols)`,
    ...(paths.length > 0 ? [`mire symbols upload ${paths.join(' ')}`] : []),
    ...new Set(mappings),
    ...(some.length > 0 ? [] : ['mire symbols upload build/']),
  ].join('\n');
}

function Missing({ app, rows }: { app: string; rows: readonly SymbolMissing[] }): JSX.Element {
  const sorted = [...rows.filter((row) => !isKernels(row)), ...rows.filter(isKernels)];
  const blank = rows.filter((row) => row.reports > row.reports_with_names && !isKernels(row));
  return (
    <Panel title={say('Missing')}>
      {rows.length === 0 ? (
        <p>{say('No report lacks a debug file. To send those of every build, run this where it is built:')}</p>
      ) : (
        <>
          <div class="scroll" role="region" aria-label={say('Missing debug files')} tabIndex={0}>
            <table class="tight">
              <thead>
                <tr>
                  <th scope="col">{say('Image')}</th>
                  <th scope="col" class="num">
                    {say('Reports')}
                  </th>
                  <th scope="col">{say('Known of it')}</th>
                  <th scope="col">{say('Build id')}</th>
                  <th scope="col">{say('Looked for')}</th>
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
              'Once a file is there, the reports that lack it are symbolicated anew, and their issues keep what they are.',
            )}
          </p>
        </>
      )}
      <Copyable label={say('Upload by command')} text={command(app, blank.length > 0 ? blank : rows)} />
    </Panel>
  );
}

interface Sent {
  name: string;
  size: number;
  done: number;
  state: 'waits' | 'goes' | 'stored' | 'failed';
  text: string;
  defect: string; // what of it is damaged
  instead: string; // what is used in its place
}

/* Files are sent one after the other, as they were picked or dropped. */
function Upload({ app }: { app: string }): JSX.Element {
  const [key, setKey] = useState('');
  const [rows, setRows] = useState<Sent[]>([]);
  const [over, setOver] = useState(false);
  const [asks, setAsks] = useState(false);
  const picker = useRef<HTMLInputElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const last = useRef<Promise<void>>(Promise.resolve());
  const count = useRef(0);

  const change = (at: number, part: Partial<Sent>) =>
    setRows((all) => all.map((row, i) => (i === at ? { ...row, ...part } : row)));

  const send = async (file: File, at: number) => {
    change(at, { state: 'goes' });
    try {
      const files = await sendSymbols(file, key, (done) => change(at, { done }));
      const text = files.map((one) => `${one.kind} ${one.build_id}`).join(', ');
      const damaged = files.filter((one) => one.defect !== '');
      const defect = damaged.map((one) => (files.length > 1 ? `${one.name} ${one.defect}` : one.defect)).join('; ');
      const instead = files.flatMap((one) => (one.instead === '' ? [] : [one.instead])).join('; ');
      change(at, { state: 'stored', done: file.size, text, defect, instead });
      announce(
        defect === '' ? say('{name}: stored', { name: file.name }) : say('{name}: damaged', { name: file.name }),
      );
      void client.invalidateQueries({ queryKey: ['symbols', app] });
      void client.invalidateQueries({ queryKey: ['rekey', app] });
    } catch (error) {
      const text = error instanceof ProblemError ? `${error.title}. ${error.detail}` : String(error);
      change(at, { state: 'failed', text });
      announce(say('{name}: failed', { name: file.name }));
    }
  };

  const take = (list: FileList | null | undefined) => {
    const files = [...(list ?? [])];
    if (files.length === 0) return;
    if (key === '') {
      setAsks(true);
      field.current?.focus();
      return;
    }
    setRows((all) => [
      ...all,
      ...files.map(
        (file): Sent => ({
          name: file.name,
          size: file.size,
          done: 0,
          state: 'waits',
          text: '',
          defect: '',
          instead: '',
        }),
      ),
    ]);
    for (const file of files) {
      const at = count.current++;
      last.current = last.current.then(() => send(file, at));
    }
  };

  return (
    <Panel title={say('Upload')}>
      <p class="dim">
        {say(
          'ELF, dSYM, Breakpad, ProGuard mappings, and archives of them. Large files go better by the command: it sends only what is lacking, and goes on after an interruption.',
        )}
      </p>
      <div class="send-key">
        <label for="symbols-key">{say('Key with scope symbols')}</label>
        <input
          id="symbols-key"
          ref={field}
          type="password"
          autocomplete="off"
          placeholder="mk_…"
          value={key}
          aria-invalid={asks && key === ''}
          aria-describedby="symbols-key-note"
          onInput={(event) => setKey(event.currentTarget.value.trim())}
        />
        <span id="symbols-key-note" class={asks && key === '' ? 'bad-text small' : 'dim small'}>
          {asks && key === ''
            ? say('First the key; then pick the files again.')
            : say('It stays on this page and is not kept.')}
        </span>
      </div>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: dropping is a second way to do what the button does */}
      <div
        class={over ? 'drop over' : 'drop'}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setOver(false);
          take(event.dataTransfer?.files);
        }}
      >
        <button type="button" onClick={() => picker.current?.click()}>
          {say('Pick files')}
        </button>{' '}
        <span class="dim">{say('or drop them here')}</span>
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          onChange={(event) => {
            take(event.currentTarget.files);
            event.currentTarget.value = '';
          }}
        />
      </div>
      {rows.length > 0 ? (
        <ul class="sent" aria-label={say('Files sent')}>
          {rows.map((row, i) => (
            <li key={i}>
              <strong>{row.name}</strong> <span class="dim small">{bytes(row.size)}</span> <SentState row={row} />
            </li>
          ))}
        </ul>
      ) : null}
    </Panel>
  );
}

function SentState({ row }: { row: Sent }): JSX.Element {
  const share = row.size > 0 ? row.done / row.size : 0;
  switch (row.state) {
    case 'waits':
      return <span class="dim">{say('waits')}</span>;
    case 'goes':
      return (
        <>
          <progress max={1} value={share} aria-label={row.name} /> <span class="dim">{percent(share, lang.value)}</span>
        </>
      );
    case 'stored':
      return (
        <>
          {say('stored')} <code class="small">{row.text}</code>
          {row.defect === '' ? null : <div class="warn-text small">{row.defect}</div>}
          {row.instead === '' ? null : <div class="small">{row.instead}</div>}
        </>
      );
    case 'failed':
      return <span class="bad-text">{row.text}</span>;
  }
}

function Jobs({ app }: { app: string }): JSX.Element | null {
  const { data } = useQuery(['rekey', app], (signal) => api.rekey(app, signal), { again: () => 3_000 });
  const jobs = data?.jobs.filter((job) => job.queued > 0).slice(0, 8) ?? [];
  if (jobs.length === 0) return null;
  return (
    <Panel title={say('Reports derived anew')}>
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
  const causes = { symbols: say('debug files came'), rules: say('rules changed'), key: say('asked for') };
  const going = job.state === 'queueing' || job.state === 'running';
  const share = job.queued > 0 ? job.done / job.queued : 0;
  return (
    <>
      <strong>{causes[job.cause]}</strong> <span class="dim">{job.detail}</span>{' '}
      {going ? <progress max={1} value={share} aria-label={causes[job.cause]} /> : null}{' '}
      {say('{done} of {n|report|reports}, {moved} to another issue', {
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
      title={say('There')}
      aside={
        <span class="dim">
          {say('{n|file|files} of all apps, {size}', {
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
                <th scope="col">{say('Came')}</th>
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
        {file.kind !== 'debug'
          ? say('function names')
          : file.depth === 'lines'
            ? say('function names and lines')
            : say('lines and inlined calls')}
        {file.defect === '' ? null : <div class="warn-text small">{file.defect}</div>}
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
