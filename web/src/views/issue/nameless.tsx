/* Frames without a function name: their images, and two ways to names, a file dropped here and a command. */

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Issue } from '../../api/types';
import { lang, say } from '../../lib/i18n';
import { exact, percent } from '../../model/format';
import { namelessModule } from '../../model/name';
import { nameless } from '../../model/stack';
import { Copyable } from '../copyable';
import { Loaded } from '../parts';
import { quoted, uploadCommand } from '../symbols/command';
import { Upload } from '../symbols/upload';
import { useReport } from './stack';

function command(app: string, images: readonly string[]): string {
  return uploadCommand(app, [`mire symbols upload ${images.map((image) => `/path/to/${quoted(image)}`).join(' ')}`]);
}

/* A bar if the function to blame has no name, else a line if frames have none. */
export function NamelessNote({ app, id, data }: { app: string; id: string; data: Issue }): JSX.Element | null {
  const [open, setOpen] = useState(false);
  const blamed = namelessModule(data.issue.caller1);
  if (blamed === '' && data.unresolved_share <= 0.005) return null;
  return (
    <details
      class={blamed === '' ? 'nameless' : 'nameless blamed'}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary class="warn-text">
        {blamed === ''
          ? say('{share} of frames have no function name', { share: percent(data.unresolved_share, lang.value) })
          : say('{module} has no symbols: this issue blames an address.', { module: blamed })}
      </summary>
      {open ? (
        <>
          <Images app={app} id={id} />
          <Upload app={app} />
        </>
      ) : null}
    </details>
  );
}

function Images({ app, id }: { app: string; id: string }): JSX.Element {
  const result = useReport(app, id);
  return (
    <Loaded result={result} rows={5} label={say('report')}>
      {(report) => {
        const images = nameless(report);
        const known = images.filter((one) => one.id !== '');
        if (images.length === 0)
          return <p class="dim">{say('Every frame of this report has a name; open another report.')}</p>;
        return (
          <>
            <div class="scroll" role="region" aria-label={say('Modules without names')} tabIndex={0}>
              <table class="tight">
                <thead>
                  <tr>
                    <th scope="col">{say('Module')}</th>
                    <th scope="col" class="num">
                      {say('Places without a name')}
                    </th>
                    <th scope="col">{say('Build id')}</th>
                  </tr>
                </thead>
                <tbody>
                  {images.slice(0, 20).map((one) => (
                    <tr key={one.image}>
                      <th scope="row">{one.image}</th>
                      <td class="num">{exact(one.places, lang.value)}</td>
                      <td>{one.id ? <code>{one.id}</code> : <span class="dim">{say('none: no file fits')}</span>}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
            {known.length > 0 ? (
              <>
                <p>
                  {say(
                    'Upload the unstripped files, or their .debug files, with these build ids: stored reports get names too.',
                  )}
                </p>
                <Copyable
                  label={say('Upload symbols')}
                  text={command(
                    app,
                    known.slice(0, 20).map((one) => one.image),
                  )}
                />
              </>
            ) : null}
          </>
        );
      }}
    </Loaded>
  );
}
