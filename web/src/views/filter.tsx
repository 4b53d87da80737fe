/* The filter bar: range, versions, kinds, devices, free text; and the link to this view. Every widget obeys this one
 * bar; on a phone it opens as a sheet. */

import type { ComponentChildren, JSX, Ref } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { api } from '../api/client';
import type { Share } from '../api/types';
import { lang, say } from '../lib/i18n';
import { useKeys } from '../lib/keys';
import { go, page, patch, query } from '../lib/location';
import { isSmall } from '../lib/media';
import { useQuery } from '../lib/query';
import { kindWord } from '../lib/words';
import { moment } from '../model/format';
import { absolute, isRelative, PRESETS, resolve, type Span, shift, widen } from '../model/range';
import { carried, FACETS, type FacetKey, facetsOf, formatPage, formatQuery, href } from '../model/view';
import { chipText, Values } from './facet-values';
import { Late } from './late';
import { announce, below, copy } from './parts';

const MENUS = [
  ['v', 'version', 'Version'],
  ['kind', 'kind', 'Kind'],
] as const;

type Filter = 'v' | 'kind' | 'q' | FacetKey;

/* The filters that are lists, in the order of their chips. */
const CHIPS = ['v', 'kind', ...FACETS] as const;

/* Filters that do not apply to the page; the bar says so. Rules and debug files are the same at all times. */
function ignored(key: 't' | Filter): boolean {
  const name = page.value.name;
  if (FACETS.some((one) => one === key)) return name !== 'issues' && name !== 'memory';
  if (name === 'rules' || name === 'symbols') return true;
  if (name === 'versions' && (key === 'v' || key === 'q')) return true;
  if (key === 't' || key === 'v') return false;
  if (key === 'kind') return name === 'issue';
  return name !== 'issues';
}

function span(): Span {
  const now = new Date();
  return resolve(query.value.t, now) ?? resolve('14d', now)!;
}

export function linkText(keepRelative: boolean): string {
  const { t } = query.value;
  const fixed = keepRelative || !isRelative(t) ? t : absolute(span());
  return location.origin + formatPage(page.value) + formatQuery({ ...query.value, t: fixed });
}

const copyFixed = () => void copy(linkText(false), say('Link copied, with the range as it is now'));
const copyMoving = () => void copy(linkText(true), say('Link copied, with a moving range'));
const copyMarkdown = () => {
  const title = document.title.replace(/[[\]\\]/g, '\\$&');
  void copy(`[${title}](${linkText(false)})`, say('Markdown copied'));
};

export function FilterBar({ app }: { app: string }): JSX.Element {
  const { t, q } = query.value;
  const field = useRef<HTMLInputElement>(null);
  const range = useRef<HTMLElement>(null);
  const result = useQuery(['facets', app, t], (signal) => api.facets(app, t, signal));
  const move = (to: Span) => ignored('t') || patch({ t: absolute(to) });
  const sheet = useRef<HTMLDialogElement>(null);
  const show = () => {
    if (sheet.current?.open === false) sheet.current.showModal();
  };
  useKeys({
    filter: () => {
      show();
      field.current?.focus();
    },
    range: () => {
      show();
      range.current?.click();
    },
    back: () => move(shift(span(), -1)),
    forward: () => move(shift(span(), 1)),
    widen: () => move(widen(span())),
    copy: copyFixed,
  });
  const submit = (event: Event) => {
    event.preventDefault();
    const text = field.current?.value.trim() ?? '';
    sheet.current?.close();
    if (page.value.name === 'issues') patch({ q: text });
    else go(href({ name: 'issues', app }, { ...carried(query.value), q: text }));
  };
  const parts = (
    <>
      {ignored('t') ? null : <RangeMenu button={range} />}
      {MENUS.map(([key, facet, label]) => (
        <FacetMenu key={key} id={key} label={label} values={result.data?.[facet] ?? []} />
      ))}
      {ignored('model') ? null : <DeviceMenu app={app} />}
      <form role="search" onSubmit={submit}>
        <input
          ref={field}
          type="search"
          key={q}
          defaultValue={q}
          placeholder={say('Function, module or id')}
          aria-label={say('Find issues by function, module, reason or id')}
          aria-keyshortcuts="/"
          maxLength={200}
          onSearch={submit}
        />
      </form>
    </>
  );
  return (
    <header class="filters">
      {isSmall.value ? (
        <>
          <button type="button" aria-haspopup="dialog" onClick={show}>
            {say('Filters')} <span aria-hidden="true">▾</span>
          </button>
          {ignored('t') ? null : <span class="dim">{rangeLabel(t)}</span>}
        </>
      ) : (
        parts
      )}
      {isSmall.value ? <CopyLink /> : null}
      <Chips />
      {isSmall.value ? null : <CopyLink />}
      {isSmall.value ? <Sheet dialog={sheet}>{parts}</Sheet> : null}
    </header>
  );
}

/* The filters of a phone: a sheet from below, at the thumb. Each holds at once; closing it leaves them. */
function Sheet({ dialog, children }: { dialog: Ref<HTMLDialogElement>; children: ComponentChildren }): JSX.Element {
  const close = (event: Event) => (event.currentTarget as HTMLElement).closest('dialog')?.close();
  return (
    <dialog ref={dialog} class="sheet from-below" aria-labelledby="filter-title" closedby="any">
      <div class="sheet-parts">
        <div class="sheet-head">
          <h2 id="filter-title">{say('Filters')}</h2>
          <button type="button" class="quiet" onClick={close}>
            {say('Close')}
          </button>
        </div>
        {children}
      </div>
    </dialog>
  );
}

/* The filters that hold, each with a way to drop it. */
function Chips(): JSX.Element {
  const { q } = query.value;
  return (
    <>
      {CHIPS.map((key) =>
        query.value[key].map((value) => <Chip key={`${key}${value}`} name={key} value={value} off={ignored(key)} />),
      )}
      {query.value.rest.map(([name, value]) => (
        <Unknown key={`${name}${value}`} name={name} value={value} />
      ))}
      {q !== '' ? <Chip name="q" value={q} off={ignored('q')} /> : null}
      {CHIPS.reduce((sum, key) => sum + query.value[key].length, q ? 1 : 0) > 1 ? (
        <button type="button" class="quiet" onClick={() => patch({ v: [], kind: [], ...facetsOf(() => []), q: '' })}>
          {say('Clear')}
        </button>
      ) : null}
    </>
  );
}

function CopyLink(): JSX.Element {
  return (
    <>
      <span class="grow" />
      <div class="split">
        <button type="button" onClick={copyFixed}>
          {say('Copy link')}
        </button>
        <button type="button" popovertarget="copy-menu" aria-label={say('Other ways to copy')}>
          <span aria-hidden="true">▾</span>
        </button>
      </div>
      <div id="copy-menu" popover="auto" class="menu" onToggle={below}>
        <button type="button" popovertarget="copy-menu" onClick={copyFixed}>
          {say('Link to this range')}
        </button>
        <button type="button" popovertarget="copy-menu" onClick={copyMoving}>
          {say('Link with a moving range')}
        </button>
        <button type="button" popovertarget="copy-menu" onClick={copyMarkdown}>
          {say('Markdown')}
        </button>
      </div>
    </>
  );
}

/* One filter: a menu under its button; in the sheet a part that unfolds, one of them at a time. */
function Part(props: {
  id: string;
  label: string;
  button?: { current: HTMLElement | null };
  keys?: string;
  onOpen?: (isOpen: boolean) => void;
  children: ComponentChildren;
}): JSX.Element {
  const { id, label, button, keys, onOpen, children } = props;
  if (isSmall.value)
    return (
      <details name="filters" onToggle={(event) => onOpen?.(event.currentTarget.open)}>
        <summary ref={button as Ref<HTMLElement>}>{label}</summary>
        <div class="choices">{children}</div>
      </details>
    );
  return (
    <>
      <button ref={button as Ref<HTMLButtonElement>} type="button" popovertarget={id} aria-keyshortcuts={keys}>
        {label} <span aria-hidden="true">▾</span>
      </button>
      <div
        id={id}
        popover="auto"
        class="menu"
        onToggle={(event) => {
          onOpen?.((event as unknown as ToggleEvent).newState === 'open');
          below(event);
        }}
      >
        {children}
      </div>
    </>
  );
}

function rangeLabel(t: string): string {
  const relative = /^(\d+)([mhd])$/.exec(t);
  if (relative) {
    const n = relative[1]!;
    if (n === '1') return say({ m: 'Last minute', h: 'Last hour', d: 'Last day' }[relative[2]!]!);
    return say({ m: 'Last {n} minutes', h: 'Last {n} hours', d: 'Last {n} days' }[relative[2]!]!, { n });
  }
  const given = resolve(t, new Date());
  if (!given) return say('Unknown range');
  const zone = query.value.tz;
  return `${moment(given.from, zone, lang.value)} – ${moment(given.to, zone, lang.value)}`;
}

function RangeMenu({ button }: { button: { current: HTMLElement | null } }): JSX.Element {
  const { t, tz } = query.value;
  const from = useRef<HTMLInputElement>(null);
  const to = useRef<HTMLInputElement>(null);
  const apply = (event: Event) => {
    event.preventDefault();
    const given = `${from.current?.value}:00Z..${to.current?.value}:00Z`;
    const wanted = resolve(given, new Date());
    if (wanted) patch({ t: absolute(wanted) });
    else announce(say('The range must end after it begins'));
  };
  const shown = span();
  const field = (at: Date) => at.toISOString().slice(0, 16);
  return (
    <Part id="range-menu" label={rangeLabel(t)} button={button} keys="t">
      <div class="presets">
        {PRESETS.map((preset) => (
          <button
            key={preset}
            type="button"
            popovertarget={isSmall.value ? undefined : 'range-menu'}
            aria-pressed={preset === t}
            onClick={() => patch({ t: preset })}
          >
            {rangeLabel(preset)}
          </button>
        ))}
      </div>
      <form onSubmit={apply} key={t}>
        <label>
          {say('From (UTC)')}
          <input ref={from} type="datetime-local" required defaultValue={field(shown.from)} />
        </label>
        <label>
          {say('To (UTC)')}
          <input ref={to} type="datetime-local" required defaultValue={field(shown.to)} />
        </label>
        <button type="submit">{say('Apply')}</button>
      </form>
      <label class="check">
        <input type="checkbox" checked={tz === 'utc'} onChange={() => patch({ tz: tz === 'utc' ? 'local' : 'utc' })} />
        {say('Show times in UTC')}
      </label>
    </Part>
  );
}

function FacetMenu(props: { id: 'v' | 'kind'; label: string; values: readonly Share[] }): JSX.Element | null {
  const { id, label, values } = props;
  if (ignored(id) && query.value[id].length === 0) return null;
  return (
    <Part id={`menu-${id}`} label={say(label)}>
      <Values id={id} values={values} {...(id === 'kind' ? { word: kindWord } : {})} />
    </Part>
  );
}

const loadFacets = () => import('./facets').then((module) => module.DeviceFacets);

function DeviceMenu({ app }: { app: string }): JSX.Element {
  const [open, setOpen] = useState(false);
  return (
    <Part id="menu-device" label={say('Device')} onOpen={setOpen}>
      {open ? <Late load={loadFacets} props={{ app }} label={say('Device')} rows={6} /> : null}
    </Part>
  );
}

/* A filter of the address that the pages do not have: kept, struck, and told. */
function Unknown({ name, value }: { name: string; value: string }): JSX.Element {
  const drop = () => patch({ rest: query.value.rest.filter(([key, of]) => key !== name || of !== value) });
  return (
    <button
      type="button"
      class="chip off"
      onClick={drop}
      aria-label={say('Remove the filter {what}', { what: `${name}:${value}` })}
    >
      {name}:{value} ({say('not used here')}) <span aria-hidden="true">✕</span>
    </button>
  );
}

function Chip({ name, value, off }: { name: Filter; value: string; off: boolean }): JSX.Element {
  const drop = () =>
    name === 'q' ? patch({ q: '' }) : patch({ [name]: query.value[name].filter((x) => x !== value) });
  const text = chipText(name, value);
  return (
    <button
      type="button"
      class={off ? 'chip off' : 'chip'}
      onClick={drop}
      aria-label={say('Remove the filter {what}', { what: text })}
    >
      {text}
      {off ? ` (${say('not used here')})` : ''} <span aria-hidden="true">✕</span>
    </button>
  );
}
