/* Resolve, ignore and assign: the same buttons and keys for one issue and for those selected in a list. */

import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { api } from '../../api/client';
import type { Triage } from '../../api/types';
import { say } from '../../lib/i18n';
import { useKeys } from '../../lib/keys';
import { useQuery } from '../../lib/query';
import { useSignIn } from '../../lib/who';
import { may } from '../../model/who';
import { below } from '../parts';
import { triage, undo } from './act';

interface Props {
  app: string;
  /** What is changed; asked when something is done. */
  issues: () => string[];
  /** The state of all of them, if they have one. */
  state?: string;
  /** Newest version of the app; empty if it is not known. */
  version: string;
}

const DAY_S = 86_400;

export function useMayTriage(app: string): boolean {
  const known = useSignIn();
  return may(known?.who, app, 'triager');
}

export function TriageButtons({ app, issues, state, version }: Props): JSX.Element {
  const boxes = { ignore: useRef<HTMLButtonElement>(null), assign: useRef<HTMLButtonElement>(null) };
  const send = (change: Omit<Triage, 'issues'>, told: string) =>
    void triage(app, { issues: issues(), ...change }, told);
  const names = () => issues().join(', ');
  const resolve = (into = version) =>
    send(
      { state: 'resolved', ...(into === '' ? {} : { in: into }) },
      say('{issues} resolved in {version}', { issues: names(), version: into || say('the newest version') }),
    );
  const open = () => send({ state: 'open' }, say('{issues} opened', { issues: names() }));
  useKeys({
    resolve: () => resolve(),
    ignore: () => boxes.ignore.current?.click(),
    assign: () => boxes.assign.current?.click(),
    undo: () => void undo(),
  });
  const settled = state === 'resolved' || state === 'ignored';
  return (
    <div class="row triage">
      {settled ? (
        <button type="button" onClick={open}>
          {say('Open again')}
        </button>
      ) : (
        <div class="split">
          <button
            type="button"
            onClick={() => resolve()}
            aria-keyshortcuts="e"
            title={say('Resolved in {version}', { version })}
          >
            {say('Resolve')}
          </button>
          <button type="button" popovertarget="resolve-menu" aria-label={say('Resolve in another version')}>
            <span aria-hidden="true">▾</span>
          </button>
        </div>
      )}
      <ResolveMenu version={version} resolve={resolve} />
      <button ref={boxes.ignore} type="button" popovertarget="ignore-menu" aria-keyshortcuts="i">
        {say('Ignore')} <span aria-hidden="true">▾</span>
      </button>
      <IgnoreMenu send={send} names={names} />
      <button ref={boxes.assign} type="button" popovertarget="assign-menu" aria-keyshortcuts="a">
        {say('Assign')} <span aria-hidden="true">▾</span>
      </button>
      <AssignMenu app={app} send={send} names={names} />
    </div>
  );
}

function close(id: string): void {
  (document.getElementById(id) as HTMLElement | null)?.hidePopover();
}

function ResolveMenu({ version, resolve }: { version: string; resolve: (version: string) => void }): JSX.Element {
  const field = useRef<HTMLInputElement>(null);
  const submit = (event: Event) => {
    event.preventDefault();
    const text = field.current?.value.trim() ?? '';
    if (text === '') return;
    close('resolve-menu');
    resolve(text);
  };
  return (
    <div id="resolve-menu" popover="auto" class="menu" onToggle={below}>
      <form onSubmit={submit}>
        <label>
          {say('Version with the fix')}
          <input ref={field} required maxLength={200} defaultValue={version} key={version} />
        </label>
        <button type="submit">{say('Resolve')}</button>
      </form>
      <p class="dim">{say('A report of a later version opens it as regressed.')}</p>
    </div>
  );
}

type Send = (change: Omit<Triage, 'issues'>, told: string) => void;

function IgnoreMenu({ send, names }: { send: Send; names: () => string }): JSX.Element {
  const kind = useRef<HTMLSelectElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const ignore = (change: Omit<Triage, 'issues' | 'state'>) => {
    close('ignore-menu');
    send({ state: 'ignored', ...change }, say('{issues} ignored', { issues: names() }));
  };
  const submit = (event: Event) => {
    event.preventDefault();
    const text = field.current?.value.trim() ?? '';
    const number = Number(text);
    const of = kind.current?.value;
    if (of === 'version' && text !== '') ignore({ until_version: text });
    else if (of === 'devices' && Number.isInteger(number) && number > 0) ignore({ until_devices: number });
    else if (of === 'rate' && number > 0) ignore({ until_per_1000: number });
    else field.current?.focus();
  };
  return (
    <div id="ignore-menu" popover="auto" class="menu" onToggle={below}>
      <button type="button" onClick={() => ignore({ for_s: DAY_S })}>
        {say('For a day')}
      </button>
      <button type="button" onClick={() => ignore({ for_s: 7 * DAY_S })}>
        {say('For a week')}
      </button>
      <button type="button" onClick={() => ignore({ for_s: 30 * DAY_S })}>
        {say('For 30 days')}
      </button>
      <button type="button" onClick={() => ignore({})}>
        {say('Forever')}
      </button>
      <form onSubmit={submit}>
        <label>
          {say('Until')}
          <select ref={kind}>
            <option value="version">{say('a version reports it')}</option>
            <option value="devices">{say('so many devices have it')}</option>
            <option value="rate">{say('so many hits per 1,000 sessions')}</option>
          </select>
        </label>
        <label>
          {say('Version or number')}
          <input ref={field} required maxLength={200} />
        </label>
        <button type="submit">{say('Ignore')}</button>
      </form>
    </div>
  );
}

function AssignMenu({ app, send, names }: { app: string; send: Send; names: () => string }): JSX.Element {
  const { data, isError } = useQuery(['assignees', app], (signal) => api.assignees(app, signal));
  const others = (data?.people ?? []).filter((one) => one !== data?.you);
  const mine = data?.people.includes(data.you) ? [data.you] : [];
  const assign = (assignee: string, told: string) => {
    close('assign-menu');
    send({ assignee }, told);
  };
  return (
    <div id="assign-menu" popover="auto" class="menu" aria-busy={!data && !isError} onToggle={below}>
      {[...mine, ...others].map((one) => (
        <button
          key={one}
          type="button"
          onClick={() => assign(one, say('{issues} assigned to {who}', { issues: names(), who: one }))}
        >
          {one === data?.you ? say('{who} (you)', { who: one }) : one}
        </button>
      ))}
      <button type="button" onClick={() => assign('', say('{issues} assigned to nobody', { issues: names() }))}>
        {say('Nobody')}
      </button>
    </div>
  );
}
