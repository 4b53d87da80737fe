/* The package that most names of a list begin with, which tells none of them from another. */

/* A prefix is worth dimming from so many rows on. */
const LEAST_ROWS = 3;

/**
 * com.acme.shop. of com.acme.shop.CartStore.open, or app::cart:: of app::cart::open: class and function stay. Empty, if no
 * package has half of the names.
 */
export function sharedPrefix(names: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of names) {
    const whole = /^(?:[a-z_]\w*\.){2,}(?=[A-Z])|^(?:[a-z_]\w*::)+(?=\w)/.exec(name)?.[0] ?? '';
    let prefix = '';
    for (const part of whole.match(/\w+(?:\.|::)/g) ?? []) {
      prefix += part;
      counts.set(prefix, (counts.get(prefix) ?? 0) + 1);
    }
  }
  const least = Math.max(LEAST_ROWS, names.length / 2);
  const shared = [...counts].filter(([, count]) => count >= least).map(([prefix]) => prefix);
  return shared.reduce((longest, prefix) => (prefix.length > longest.length ? prefix : longest), '');
}
