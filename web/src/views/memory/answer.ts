/* The first sentences about memory: how much it is, of what, and whose. */
import { lang, say } from '../../lib/i18n';
import { bytes, percent } from '../../model/format';
import type { Answer } from '../../model/memory';

export function answer(told: Answer): string {
  return `${ofAll(told)} ${ofCategory(told)}`;
}

function ofAll({ footprint, limit, times }: Answer): string {
  const words = { bytes: bytes(footprint), limit: bytes(limit ?? 0), n: (times ?? 0).toFixed(1) };
  if (limit !== null)
    return times === null
      ? say('{bytes} of {limit}.', words)
      : say('{bytes} of {limit}, ×{n} the healthy median.', words);
  return times === null ? say('Median {bytes}.', words) : say('Median {bytes}, ×{n} the healthy one.', words);
}

function ofCategory({ category, bytes: held, above, by, share }: Answer): string {
  const words = {
    category,
    held: above ? `+${bytes(held)}` : bytes(held),
    by,
    share: share === null ? '' : percent(share, lang.value),
  };
  if (by === '') return say('{category} {held}.', words);
  return share === null ? say('{category} {held}, by {by}.', words) : say('{category} {held}, {share} by {by}.', words);
}
