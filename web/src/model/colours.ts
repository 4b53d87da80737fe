/* Colours of versions: the same on every page and for every range. */

/* Colours of the palette, --s-1 and on. */
const COLOURS = 5;

/*
 * The colour of each version, from 1. `order` has all versions of the app, the newest first, which has colour 1; others follow
 * by their age. Of two shown versions with one colour the older one has the next free colour, as has a version that is not in
 * the order.
 */
export function coloursOf(shown: readonly string[], order: readonly string[]): number[] {
  const taken = new Set<number>();
  const places = shown.map((version) => order.indexOf(version));
  const colours = new Array<number>(shown.length).fill(0);
  const byAge = shown
    .map((_, i) => i)
    .sort((a, b) => (places[a]! < 0 ? 1 : places[b]! < 0 ? -1 : places[a]! - places[b]!));
  for (const i of byAge) {
    let colour = places[i]! < 0 ? 0 : places[i]! % COLOURS;
    for (let n = 0; n < COLOURS && taken.has(colour); n++) colour = (colour + 1) % COLOURS;
    taken.add(colour);
    colours[i] = colour + 1;
  }
  return colours;
}
