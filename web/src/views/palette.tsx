/* Ctrl K finds a page, an issue, a version, another app or the action of a key by a few letters of its name. */

import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { api } from '../api/client';
import { say } from '../lib/i18n';
import { KEYS, press } from '../lib/keys';
import { go, query } from '../lib/location';
import { useQuery } from '../lib/query';
import { shorten } from '../model/name';
import { carried, href, isMemory } from '../model/view';
import { useMenu } from './menu';

interface Aim {
  key: string;
  label: string;
  kind: string;
  act: () => void;
}

const MOST = 10; // of a kind: all pages of an app, too
const NAME_ROOM = 90;

const has = (label: string, text: string) => label.toLowerCase().includes(text.toLowerCase());

function usePages(app: string | null): Aim[] {
  const carry = carried(query.value);
  return useMenu(app).map(([label, page]) => ({
    key: `page:${page.name}`,
    label,
    kind: say('page'),
    act: () => go(href(page, carry)),
  }));
}

/* Issues by the server's search, which knows functions, modules, reasons and ids; versions by the facets. */
function useFound(app: string | null, text: string): { found: Aim[]; busy: boolean } {
  const { t } = query.value;
  const carry = carried(query.value);
  const enabled = app !== null && text.length > 1;
  const wanted = { t, q: text, by: 'place' as const, sort: 'auto', limit: MOST };
  const issues = useQuery(['issues', app, wanted], (signal) => api.issues(app!, wanted, signal), { enabled });
  const facets = useQuery(['facets', app, t], (signal) => api.facets(app!, t, signal), { enabled });
  if (!enabled) return { found: [], busy: false };
  const rows = issues.isPlaceholderData ? [] : (issues.data?.groups ?? []).flatMap((group) => group.issues);
  const versions = (facets.data?.version ?? []).filter((one) => has(one.key, text));
  return {
    found: [
      ...rows.slice(0, MOST).map(
        ({ id, caller1 }): Aim => ({
          key: id,
          label: `${id} ${shorten(caller1, NAME_ROOM)}`,
          kind: isMemory(id) ? say('Memory') : say('issue'),
          act: () => go(href({ name: 'issue', app: app!, id }, carry)),
        }),
      ),
      ...versions.slice(0, MOST).map(
        ({ key }): Aim => ({
          key: `version:${key}`,
          label: key,
          kind: say('version'),
          act: () => go(href({ name: 'versions', app: app!, version: key }, carry)),
        }),
      ),
    ],
    busy: issues.isFetching || facets.isFetching,
  };
}

function useApps(app: string | null): Aim[] {
  const { data } = useQuery(['apps'], api.apps);
  const others = (data?.apps ?? []).filter((one) => one.slug !== app);
  return others.map(({ slug }) => ({ key: `app:${slug}`, label: slug, kind: say('app'), act: () => go(`/${slug}`) }));
}

/* Actions of keys on the page that is shown, without moves between pages and rows. */
function actions(): Aim[] {
  const rows = KEYS.filter(({ id, keys, part }) => part !== 'Lists' && !keys.startsWith('g ') && id !== 'palette');
  return rows.flatMap(({ id, keys, does }) => {
    const act = press(id);
    return act ? [{ key: `key:${id}`, label: say(does), kind: keys, act }] : [];
  });
}

export function Palette({ app, onClose }: { app: string | null; onClose: () => void }): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const { found, busy } = useFound(app, text.trim());
  const [pages, apps] = [usePages(app), useApps(app)];
  const named = (all: Aim[]) => all.filter((one) => has(one.label, text.trim())).slice(0, MOST);
  const aims = [...named(pages), ...found, ...named(apps), ...(text.trim() === '' ? [] : named(actions()))];
  const chosen = Math.min(at, aims.length - 1);
  useLayoutEffect(() => {
    dialog.current?.showModal();
    field.current?.focus();
  }, []);
  useEffect(() => {
    document.getElementById(`aim-${chosen}`)?.scrollIntoView({ block: 'nearest' });
  }, [chosen]);
  const take = (aim: Aim) => {
    dialog.current?.close();
    aim.act();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.isComposing) return; // the keys choose a Chinese word
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (by !== 0 && aims.length > 0) setAt((chosen + by + aims.length) % aims.length);
    else if (event.key === 'Enter' && aims[chosen]) take(aims[chosen]);
    else return;
    event.preventDefault();
  };
  const what = say('A page, an issue, a function, a version');
  return (
    <dialog ref={dialog} class="sheet palette" aria-label={say('Search or jump')} onClose={onClose}>
      <input
        ref={field}
        type="search"
        // biome-ignore lint/a11y/noRedundantRoles: without a datalist, which the types ask for, the role is not implied
        role="combobox"
        list={undefined}
        aria-label={what}
        placeholder={what}
        aria-expanded={aims.length > 0}
        aria-controls="aims"
        aria-autocomplete="list"
        aria-activedescendant={chosen >= 0 ? `aim-${chosen}` : undefined}
        autocomplete="off"
        maxLength={200}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div id="aims" role="listbox" aria-label={say('Matches')} aria-busy={busy}>
        {aims.map((aim, i) => (
          <button
            key={aim.key}
            id={`aim-${i}`}
            type="button"
            class="quiet"
            role="option"
            aria-selected={i === chosen}
            tabIndex={-1}
            onClick={() => take(aim)}
          >
            <span>{aim.label}</span> <span class="dim small">{aim.kind}</span>
          </button>
        ))}
      </div>
      {aims.length === 0 && !busy ? <p class="dim">{say('Nothing has this name.')}</p> : null}
    </dialog>
  );
}
