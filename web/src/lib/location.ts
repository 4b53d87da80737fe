/* The address bar as a signal. A change of filter replaces the entry, a move to another page adds one. */
import { batch, computed, signal } from '@preact/signals';
import {
  FACETS,
  formatPage,
  formatQuery,
  type Page,
  parsePage,
  parseQuery,
  type Query,
  unfoldReport,
} from '../model/view';

const place = signal({ path: location.pathname, search: location.search });

export const page = computed<Page>(() => parsePage(place.value.path));
export const query = computed<Query>(() => parseQuery(place.value.search));

function read(): void {
  const issue = unfoldReport(location.pathname, location.search);
  if (issue) history.replaceState(null, '', issue);
  place.value = { path: location.pathname, search: location.search };
}

read();
addEventListener('popstate', read);

export function go(to: string, replace = false): void {
  batch(() => {
    if (replace) history.replaceState(null, '', to);
    else history.pushState(null, '', to);
    read();
  });
}

/* Parameters whose change makes another list, which begins with its first page. */
const OF_THE_LIST: readonly (keyof Query)[] = ['t', 'v', 'kind', 'state', ...FACETS, 'q', 'by', 'sort'];

/* Change part of the query. `push` where Back should undo it: zooming, another tab, another report. */
export function patch(change: Partial<Query>, push = false): void {
  const after = OF_THE_LIST.some((key) => key in change) ? '' : query.value.after;
  const to = formatPage(page.value) + formatQuery({ ...query.value, after, ...change });
  if (to !== location.pathname + location.search) go(to, !push);
}

/* Plain clicks on our own links stay in the page. */
export function followLinks(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey)
    return;
  const link = (event.target as Element | null)?.closest?.('a');
  if (!link || link.origin !== location.origin || link.target !== '' || /^\/(api|docs|-\/oidc)\//.test(link.pathname))
    return;
  if (link.hash !== '' && link.pathname === location.pathname) return;
  event.preventDefault();
  const moved = link.pathname !== location.pathname;
  go(link.pathname + link.search);
  if (moved) {
    scrollTo(0, 0);
    document.getElementById('main')?.focus({ preventScroll: true });
  }
}
