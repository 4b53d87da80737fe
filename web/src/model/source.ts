/* From a frame to its line in the repository. */
import type { Frame, Releases } from '../api/types';

/* The commit of a version: that of its newest mark which has one. */
export function commitOf(releases: Releases, version: string): string {
  return releases.releases.find((one) => one.version === version && one.commit !== '')?.commit ?? '';
}

/* The package of com.acme.Cart.lock as folders, com/acme/; '' where there is none. */
function packageOf(name: string): string {
  const parts = name.split(/[(< ]/, 1)[0]!.split('.');
  return parts.length > 2 && !/[:+]/.test(name) ? `${parts.slice(0, -2).join('/')}/` : '';
}

/* Path of the frame's file in the repository; '' if it is not there. */
function pathOf(frame: Frame, root: string): string {
  const { file } = frame;
  if (!file.includes('/')) return /\.(java|kt)$/.test(file) ? packageOf(frame.function) + file : file;
  if (root === '') return file.replace(/^\/+/, '');
  const folder = root.endsWith('/') ? root : `${root}/`;
  return file.startsWith(folder) ? file.slice(folder.length) : '';
}

/* Address of the frame's line, or null: it is not the app's, nobody told the template, or its commit is not known. */
export function sourceLink(releases: Releases | undefined, version: string, frame: Frame): string | null {
  if (!releases?.source_link || frame.role !== 'app' || frame.file === '') return null;
  const path = pathOf(frame, releases.source_root);
  const commit = commitOf(releases, version);
  if (path === '' || (commit === '' && releases.source_link.includes('{commit}'))) return null;
  const values: Record<string, string> = {
    commit,
    version: encodeURIComponent(version),
    file: path.split('/').map(encodeURIComponent).join('/'),
    line: String(frame.line),
  };
  const address = releases.source_link.replace(/\{(commit|version|file|line)\}/g, (_, name: string) => values[name]!);
  return /^https?:\/\//.test(address) ? address : null;
}

export interface Mark {
  /** Seconds. */
  at: number;
  label: string;
}

/* The marks between two instants, seconds, oldest first. */
export function marksBetween(releases: Releases | undefined, from: number, to: number): Mark[] {
  const all = (releases?.releases ?? []).map((one) => ({
    at: Date.parse(one.released_at) / 1000,
    label: one.environment === 'production' ? one.version : `${one.version} ${one.environment}`,
  }));
  return all.filter((one) => one.at >= from && one.at <= to).reverse();
}
