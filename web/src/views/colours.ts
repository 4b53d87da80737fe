/* The colours of an app's versions, for charts. */
import { api } from '../api/client';
import { useQuery } from '../lib/query';
import { coloursOf } from '../model/colours';
import { byVersion } from '../model/rates';

/* The longest range that versions are looked for in. */
const RANGE = '90d';

export function useColours(app: string): (shown: readonly string[]) => number[] {
  const { data } = useQuery(['facets', app, RANGE], (signal) => api.facets(app, RANGE, signal));
  const order = (data?.version ?? []).map((one) => one.key).sort((a, b) => byVersion(b, a));
  return (shown) => coloursOf(shown, order);
}
