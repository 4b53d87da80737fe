/* A page whose code is loaded when it is first wanted. */

import type { ComponentType, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Skeleton } from './parts';

interface LateProps<P extends object> {
  load: () => Promise<ComponentType<P>>;
  props: P;
  label: string;
}

const loaded = new Map<unknown, ComponentType<never>>();

export function Late<P extends object>({ load, props, label }: LateProps<P>): JSX.Element {
  const [, redraw] = useState(0);
  const Page = loaded.get(load) as ComponentType<P> | undefined;
  useEffect(() => {
    if (Page) return;
    void load().then((page) => {
      loaded.set(load, page as ComponentType<never>);
      redraw((n) => n + 1);
    });
  }, []);
  return Page ? (
    <Page {...props} />
  ) : (
    <>
      <h1>{label}</h1>
      <Skeleton rows={18} label={label} />
    </>
  );
}
