/* The demo app: made by one button, and removed by another. */

import type { JSX } from 'preact';
import { api } from '../../api/client';
import { say } from '../../lib/i18n';
import { go } from '../../lib/location';
import { changed, useSignIn } from '../../lib/who';
import { mayFound } from '../../model/who';
import { announce } from '../parts';
import { useAttempt } from '../people/forms';

export function ShowDemo(): JSX.Element | null {
  const known = useSignIn();
  const run = useAttempt();
  if (!mayFound(known?.who)) return null;
  const show = async () => {
    const { slug } = await api.makeDemo();
    await changed();
    go(`/${slug}?t=30d`);
  };
  return (
    <p class="row">
      <button type="button" aria-disabled={run.busy} onClick={() => void run.attempt(show)}>
        {run.busy ? say('The month is being made…') : say('Show me the demo app')}
      </button>
      <span class="dim">
        {say(
          'A month of invented reports in an app of its own. Nothing in it can be changed; it is removed as easily.',
        )}
      </span>
      <span role="alert" class="bad-text">
        {run.fault}
      </span>
    </p>
  );
}

export async function removeDemo(): Promise<void> {
  try {
    await api.removeDemo();
  } catch (fault) {
    announce(fault instanceof Error ? fault.message : String(fault));
    return;
  }
  location.assign('/'); // questions of the page about the app end with it
}
