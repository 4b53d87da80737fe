/* The person who looks at the page: asked again each minute, or where the server tells changes when it refuses to. */
import { api } from '../api/client';
import type { SignIn } from '../api/types';
import { idle } from './live';
import { client, useQuery, WHO } from './query';

/* `watched`: by the one caller that asks again; each of several would ask at times of its own. */
export function useSignIn(watched = false): SignIn | undefined {
  return useQuery(WHO, api.signedIn, watched ? { again: () => idle(60_000) } : {}).data;
}

/* The server refused something: a session may have ended. */
export function doubt(): void {
  void client.invalidateQueries({ queryKey: WHO });
}

/* After signing in or out: nothing that was answered before holds. */
export async function changed(): Promise<void> {
  await client.resetQueries();
}
