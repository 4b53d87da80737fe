/*
 * Changes that others make, and new reports. One request waits at the server while the tab is seen; the event that answers it
 * names numbers, and queries that such a change touches are asked again. Without it, queries ask at intervals.
 */
import { live } from './live';
import { client } from './query';
import { doubt } from './who';

interface News {
  acts: number;
  data: number;
  alerts: number;
}

/* Pages that new reports and debug files change while somebody looks at them. Lists of issues are left as they are. */
const OF_DATA = ['overview', 'issue', 'symbols', 'rekey', 'rules'];
/* Pages that no person's change shows in. */
const NOT_OF_ACTS = ['flame', 'report', 'memory', 'alert-replay', 'rules-job'];

const CALM_MS = 1_500; // the first answers come before the connection is taken
const LATER_MS = 30_000; // after a refusal

function touch(app: string, before: News, now: News): void {
  const has = (name: unknown): boolean =>
    (now.acts !== before.acts && !NOT_OF_ACTS.includes(String(name))) ||
    (now.data !== before.data && OF_DATA.includes(String(name))) ||
    (now.alerts !== before.alerts && String(name).startsWith('alert'));
  void client.invalidateQueries({ predicate: ({ queryKey: [name, of] }) => of === app && has(name) });
}

/* Follow an app until the returned function is called. */
export function follow(app: string): () => void {
  let source: EventSource | null = null;
  let timer = 0;
  let seen: { id: string; news: News } | null = null;

  const take = ({ data, lastEventId }: MessageEvent<string>): void => {
    const news = JSON.parse(data) as News;
    if (seen && lastEventId !== seen.id) touch(app, seen.news, news);
    const first = seen === null;
    seen = { id: lastEventId, news };
    live.value = true;
    if (!first) return;
    source?.close();
    timer = window.setTimeout(openWhenCalm, CALM_MS);
  };
  const open = (): void => {
    source = new EventSource(`/api/v1/apps/${app}/live${seen ? `?seen=${seen.id}` : ''}`);
    source.onmessage = take;
    source.onerror = () => {
      if (source?.readyState !== EventSource.CLOSED) return;
      live.value = false;
      doubt();
      timer = window.setTimeout(open, LATER_MS);
    };
  };
  const openWhenCalm = (): void => {
    if (client.isFetching() > 0) timer = window.setTimeout(openWhenCalm, CALM_MS);
    else open();
  };
  const stop = (): void => {
    clearTimeout(timer);
    source?.close();
    live.value = false;
  };
  const turn = (): void => {
    stop();
    if (!document.hidden) open();
  };
  document.addEventListener('visibilitychange', turn);
  turn();
  return () => {
    document.removeEventListener('visibilitychange', turn);
    stop();
  };
}
