/* Modules that may be the app's, each with the line of rules that says so. */

import type { JSX } from 'preact';
import type { Report } from '../../api/types';
import { say } from '../../lib/i18n';
import { query } from '../../lib/location';
import { ownerless, ownRule } from '../../model/stack';
import { carried, href } from '../../model/view';
import { Copyable } from '../copyable';

const MOST = 20; /* proposed modules */

export function Ownerless({ app, report }: { app: string; report: Report }): JSX.Element | null {
  const images = ownerless(report).slice(0, MOST);
  if (images.length === 0) return null;
  return (
    <section class="ownerless">
      <p>
        {say(
          'The owner of {modules} is unknown. If it is part of the app, this rule assigns its functions to the app:',
          {
            modules: images.join(', '),
          },
        )}{' '}
        <a href={href({ name: 'rules', app }, carried(query.value))}>{say('Rules')}</a>
      </p>
      <Copyable label={say('Rules to add')} text={images.map(ownRule).join('\n')} />
    </section>
  );
}
