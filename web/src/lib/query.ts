/* A query of the server as a hook: cached by key, cancelled when no longer wanted, the last answer kept meanwhile. */
import {
  keepPreviousData,
  QueryCache,
  QueryClient,
  QueryObserver,
  type QueryObserverResult,
} from '@tanstack/query-core';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { ProblemError } from '../api/client';

/* The question of who looks at the page: asked again when another one is refused. */
export const WHO = ['who'];

export const client = new QueryClient({
  queryCache: new QueryCache({
    onError: (error) => {
      if (error instanceof ProblemError && error.status === 401) void client.invalidateQueries({ queryKey: WHO });
    },
  }),
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      networkMode: 'always',
      retry: (times, error) => times < 1 && !(error instanceof ProblemError && error.status < 500),
      retryDelay: 400,
    },
  },
});
client.mount();

export type Result<T> = QueryObserverResult<T, Error>;

export interface Options<T> {
  enabled?: boolean;
  /** Keep the last answer while another key loads. */
  keep?: boolean;
  /** Milliseconds to the next look, or false. */
  again?: (data: T | undefined) => number | false;
}

export function useQuery<T>(
  key: readonly unknown[],
  fetch: (signal: AbortSignal) => Promise<T>,
  { enabled = true, keep = true, again }: Options<T> = {},
): Result<T> {
  const options = {
    queryKey: key,
    queryFn: ({ signal }: { signal: AbortSignal }) => fetch(signal),
    enabled,
    ...(keep ? { placeholderData: keepPreviousData } : {}),
    ...(again
      ? { refetchInterval: (query: { state: { data: unknown } }) => again(query.state.data as T | undefined) }
      : {}),
  } as ConstructorParameters<typeof QueryObserver<T, Error>>[1];
  const observer = useMemo(() => new QueryObserver<T, Error>(client, options), []);
  const [, redraw] = useState(0);
  observer.setOptions(options);
  useEffect(() => observer.subscribe(() => redraw((n) => n + 1)), [observer]);
  return observer.getOptimisticResult(client.defaultQueryOptions(options) as never);
}
