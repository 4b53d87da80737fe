/* Marks the function that an issue blames, or the one in which it was called. */

import type { JSX } from 'preact';
import { say } from '../../lib/i18n';

export function CallerTag({ name }: { name: 'Caller1' | 'Caller2' }): JSX.Element {
  return (
    <span class="tag caller" title={name}>
      {name === 'Caller1' ? say('Culprit') : say('Scene')}
    </span>
  );
}
