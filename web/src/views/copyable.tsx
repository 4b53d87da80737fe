/* A block of text that can be scrolled by keyboard and copied whole; the first `most` characters are shown. */

import type { JSX } from 'preact';
import { say } from '../lib/i18n';
import { bytes } from '../model/format';
import { copy } from './parts';

interface Props {
  label: string;
  text: string;
  most?: number;
}

export function Copyable({ label, text, most = Infinity }: Props): JSX.Element {
  return (
    <section class="copyable" aria-label={label}>
      <div class="stack-head">
        <h2>{label}</h2>
        <span class="grow" />
        <button type="button" class="quiet" onClick={() => void copy(text, say('{what}: copied', { what: label }))}>
          {say('Copy')}
        </button>
      </div>
      <pre tabIndex={0}>{text.length > most ? text.slice(0, text.lastIndexOf('\n', most)) : text}</pre>
      {text.length > most ? (
        <p class="dim">{say('The first part of {size}; Copy copies all.', { size: bytes(text.length) })}</p>
      ) : null}
    </section>
  );
}
