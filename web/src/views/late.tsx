/* A page whose code is loaded on first use. A server with another version meanwhile has this code no more. */

import type { ComponentType, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { say } from '../lib/i18n';
import { Skeleton } from './parts';

interface LateProps<P extends object> {
  load: () => Promise<ComponentType<P>>;
  props: P;
  label: string;
  /** Of a part of a page: its height in rows while it is loaded. */
  rows?: number;
}

const loaded = new Map<unknown, ComponentType<never>>();

export function Late<P extends object>({ load, props, label, rows }: LateProps<P>): JSX.Element {
  const [state, setState] = useState<'loading' | 'there' | 'failed'>('loading');
  const Page = loaded.get(load) as ComponentType<P> | undefined;
  useEffect(() => {
    if (Page) return;
    load().then(
      (page) => {
        loaded.set(load, page as ComponentType<never>);
        setState('there');
      },
      () => setState('failed'),
    );
  }, []);
  if (Page) return <Page {...props} />;
  return (
    <>
      {rows === undefined ? <h1>{label}</h1> : null}
      {state === 'failed' ? (
        <div class="notice bad" role="alert">
          <strong>{say('The page could not be loaded')}</strong>
          <button type="button" onClick={() => location.reload()}>
            {say('Load again')}
          </button>
        </div>
      ) : (
        <Skeleton rows={rows ?? 18} label={label} />
      )}
    </>
  );
}
