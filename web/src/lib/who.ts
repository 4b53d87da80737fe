/* Who looks at the page, asked once and again when a question is refused. */
import { api } from '../api/client';
import type { SignIn } from '../api/types';
import { client, useQuery } from './query';

const KEY = ['who'];

export function useSignIn(): SignIn | undefined {
  return useQuery(KEY, api.signedIn, { again: () => 60_000 }).data;
}

/* After signing in or out: nothing that was answered before holds. */
export async function changed(): Promise<void> {
  await client.resetQueries();
}
