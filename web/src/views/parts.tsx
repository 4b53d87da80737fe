/* Small pieces every view uses: times, the four states, tiles, share bars, copying. */

import { signal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { ProblemError } from '../api/client';
import { lang, say } from '../lib/i18n';
import { page, patch, query } from '../lib/location';
import type { Result } from '../lib/query';
import { ago, moment } from '../model/format';
import { href, isMemory } from '../model/view';

/* The clock of everything relative on the page. */
export const now = signal(new Date());
setInterval(() => {
  now.value = new Date();
}, 15_000);

export function Ago({ at }: { at: string }): JSX.Element {
  const date = new Date(at);
  return (
    <time dateTime={at} title={moment(date, query.value.tz, lang.value, true)}>
      {ago(date, now.value > date ? now.value : date, lang.value)}
    </time>
  );
}

export function Moment({ at, seconds }: { at: string; seconds?: boolean }): JSX.Element {
  return <time dateTime={at}>{moment(new Date(at), query.value.tz, lang.value, seconds)}</time>;
}

/* Politely read out; replaced by each call. */
export const announcement = signal('');
/* A button beside the announcement, which undoes the last action. */
export const offered = signal<{ label: string; act: () => void } | null>(null);
export function announce(text: string): void {
  offered.value = null;
  announcement.value = text;
}

export function offer(text: string, label: string, act: () => void): void {
  offered.value = { label, act };
  announcement.value = text;
}

export async function copy(text: string, done: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    announce(done);
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    area.className = 'offscreen';
    document.body.append(area);
    area.select();
    announce(document.execCommand('copy') ? done : say('The browser did not allow copying'));
    area.remove();
  }
}

interface LoadedProps<T> {
  result: Result<T>;
  /** Height kept while loading, in rows of text. */
  rows: number;
  label: string;
  children: (data: T) => ComponentChildren;
}

/* Loading, error, partial and ready. Emptiness is known to the caller only. */
export function Loaded<T>({ result, rows, label, children }: LoadedProps<T>): JSX.Element {
  if (result.data !== undefined) {
    const stale = result.isError ? <Fault result={result} stale /> : null;
    return (
      <div class={result.isPlaceholderData ? 'ready refreshing' : 'ready'} aria-busy={result.isPlaceholderData}>
        {stale}
        {children(result.data)}
      </div>
    );
  }
  if (result.isError) return <Fault result={result} />;
  return <Skeleton rows={rows} label={label} />;
}

export function Skeleton({ rows, label }: { rows: number; label: string }): JSX.Element {
  return (
    <div class="skeleton" role="status" aria-label={say('Loading {what}', { what: label })}>
      {Array.from({ length: rows }, (_, i) => (
        <i key={i} />
      ))}
    </div>
  );
}

function Fault({ result, stale }: { result: Result<unknown>; stale?: boolean }): JSX.Element {
  const error = result.error;
  const problem = error instanceof ProblemError ? error : null;
  const title = problem?.title ?? say('The server could not be reached');
  return (
    <div class={stale ? 'notice warn' : 'notice bad'} role="alert">
      <div>
        <strong>{title}</strong>
        {problem?.detail ? <p>{problem.detail}</p> : null}
        {stale ? (
          <p>
            {say('Showing data from')} <Ago at={new Date(result.dataUpdatedAt).toISOString()} />.
          </p>
        ) : null}
        {problem?.requestId ? (
          <p class="dim">
            {say('Request')} <code>{problem.requestId}</code>
          </p>
        ) : null}
      </div>
      {problem?.status === 404 ? (
        <WayOut />
      ) : (
        <button type="button" onClick={() => void result.refetch()}>
          {say('Retry')}
        </button>
      )}
    </div>
  );
}

/* The way from a missing page to an existing one. */
function WayOut(): JSX.Element {
  const here = page.value;
  if (here.name !== 'issue') return <a href="/">{say('All apps')}</a>;
  const name = isMemory(here.id) ? 'memory' : 'issues';
  const words = name === 'memory' ? say('All memory issues') : say('All issues');
  return <a href={href({ name, app: here.app }, query.value)}>{words}</a>;
}

export function Panel(props: {
  title: string;
  class?: string;
  aside?: ComponentChildren;
  children: ComponentChildren;
}): JSX.Element {
  return (
    <section class={`panel ${props.class ?? ''}`} aria-label={props.title}>
      <header>
        <h2>{props.title}</h2>
        {props.aside}
      </header>
      {props.children}
    </section>
  );
}

/* A bar with the length of a share. */
export function Bar({ share, kind }: { share: number; kind?: string }): JSX.Element {
  return (
    <span class={`bar ${kind ?? ''}`} aria-hidden="true">
      <i style={{ width: `${Math.max(0, Math.min(1, share)) * 100}%` }} />
    </span>
  );
}

/* Position of a popover: below its button, or above where there is no room; inside the window. */
export function below(event: Event): void {
  const box = event.currentTarget as HTMLElement;
  const button = document.querySelector(`[popovertarget="${box.id}"]`);
  if (!button) return;
  const at = button.getBoundingClientRect();
  const fits = at.bottom + 6 + box.offsetHeight <= innerHeight || at.top < box.offsetHeight;
  box.style.top = `${fits ? at.bottom + 6 : at.top - 6 - box.offsetHeight}px`;
  box.style.left = `${Math.max(8, Math.min(at.left, innerWidth - box.offsetWidth - 8))}px`;
}

/* Bytes or objects: the unit of flame graphs and shares of memory. */
export function WeighedBy(): JSX.Element {
  const { of } = query.value;
  return (
    <div class="segments" role="group" aria-label={say('Weighed by')}>
      <button type="button" aria-pressed={of === 'bytes'} onClick={() => patch({ of: 'bytes' })}>
        {say('Bytes')}
      </button>
      <button type="button" aria-pressed={of === 'objects'} onClick={() => patch({ of: 'objects' })}>
        {say('Count')}
      </button>
    </div>
  );
}
