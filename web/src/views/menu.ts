/* The menu of an app, in the frame of every page and in the palette. */
import { say } from '../lib/i18n';
import { useSignIn } from '../lib/who';
import type { Page } from '../model/view';
import { may } from '../model/who';

/* Pages that the reader may open, by name. */
export function useMenu(app: string | null): [label: string, page: Page][] {
  const known = useSignIn();
  if (app === null) return [];
  const pages: [string, Page][] = [
    [say('Overview'), { name: 'overview', app }],
    [say('Issues'), { name: 'issues', app }],
    [say('Memory'), { name: 'memory', app }],
    [say('Versions'), { name: 'versions', app, version: null }],
    [say('Rollout'), { name: 'rollout', app }],
    [say('Rules'), { name: 'rules', app }],
    [say('Symbols'), { name: 'symbols', app }],
    [say('Alerts'), { name: 'alerts', app }],
  ];
  if (known && may(known.who, app, 'admin')) pages.push([say('Settings'), { name: 'settings', app, part: 'keys' }]);
  return pages;
}
