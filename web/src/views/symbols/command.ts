/* Lines for a shell that send debug files. */

/* A word of a shell's. */
export const quoted = (word: string): string => word.replace(/[^\w.+-]/gu, '\\$&');

/* The uploads, after the variables that `mire` reads. */
export function uploadCommand(app: string, uploads: readonly string[]): string {
  return [
    `export MIRE_SERVER=${location.origin}`,
    `export MIRE_KEY=mk_...  # made at ${location.origin}/${app}/settings, scope symbols`,
    ...uploads,
  ].join('\n');
}
