/* Where a frame is in the source. */

import type { JSX } from 'preact';
import type { Frame } from '../api/types';
import { sourceLink } from '../model/source';
import { place } from '../model/stack';
import { useReleases } from './releases';

/* File and line of a frame, with a link to the source if its address is known. */
export function FramePlace(props: { app: string; version: string; frame: Frame }): JSX.Element {
  const to = sourceLink(useReleases(props.app), props.version, props.frame);
  const code = <code>{place(props.frame)}</code>;
  return to === null ? (
    code
  ) : (
    <a href={to} target="_blank" rel="noreferrer">
      {code}
    </a>
  );
}
