/* A block of text that can be scrolled by keyboard and copied whole. */

import type { JSX } from 'preact';
import { say } from '../lib/i18n';
import { copy } from './parts';

export function Copyable({ label, text }: { label: string; text: string }): JSX.Element {
  return (
    <section class="copyable" aria-label={label}>
      <div class="stack-head">
        <h2>{label}</h2>
        <span class="grow" />
        <button type="button" class="quiet" onClick={() => void copy(text, say('{what}: copied', { what: label }))}>
          {say('Copy')}
        </button>
      </div>
      <pre tabIndex={0}>{text}</pre>
    </section>
  );
}
