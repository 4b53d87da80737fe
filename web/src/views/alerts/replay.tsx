/* The values of one subject over the past month, with the bound and the points at which an alert would have begun. */

import type { JSX } from 'preact';
import type { AlertReplay } from '../../api/types';
import { lang, say } from '../../lib/i18n';
import { draw } from '../../model/alert';
import { precise } from '../../model/format';

const WIDTH = 640;
const HEIGHT = 72;

export function Replay({ subject }: { subject: AlertReplay['subjects'][number] }): JSX.Element {
  const drawn = draw(subject.points, WIDTH, HEIGHT);
  const title = subject.title || say('all');
  const last = subject.points.findLast((one) => one.value !== null)?.value ?? 0;
  return (
    <figure class="replay">
      <figcaption>
        {title} <span class="dim small">{precise(last, lang.value)}</span>
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={say('{title}: the values of the past month; it would have fired {n|time|times}', {
          title,
          n: subject.times,
        })}
      >
        <polygon class="band" points={drawn.band} />
        <polyline class="bound" points={drawn.bound} />
        <polyline class="value" points={drawn.line} />
        {drawn.marks.map((mark) => (
          <path key={mark.x} class="mark" d={`M${mark.x} ${mark.y - 6}l5 6l-5 6l-5 -6z`} />
        ))}
      </svg>
    </figure>
  );
}
