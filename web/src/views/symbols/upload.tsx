/* Sending debug files from the page. */

import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { ProblemError, sendSymbols } from '../../api/client';
import { lang, say } from '../../lib/i18n';
import { client } from '../../lib/query';
import { bytes, percent } from '../../model/format';
import { announce, Panel } from '../parts';

interface Sent {
  name: string;
  size: number;
  done: number;
  state: 'waits' | 'goes' | 'stored' | 'failed';
  text: string;
  defect: string; // what of it is damaged
  instead: string; // what is used in its place
}

/* Files are sent one after the other, in the order in which they were chosen or dropped. */
export function Upload({ app }: { app: string }): JSX.Element {
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
          'ELF, dSYM, Breakpad, ProGuard mappings, and archives of them. For large files use the command: it sends missing files only, and continues after an interruption.',
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
          {asks && key === '' ? say('Enter a symbols key first.') : say('Used once, not stored.')}
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
