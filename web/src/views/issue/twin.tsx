/* The issue that is likely the same, told where its twin is seen; the link leads to the comparison, where they are merged. */

import type { JSX } from 'preact';
import { api } from '../../api/client';
import { lang, say } from '../../lib/i18n';
import { query } from '../../lib/location';
import { useQuery } from '../../lib/query';
import { percent } from '../../model/format';
import { carried, href } from '../../model/view';

export function Twin({ app, id }: { app: string; id: string }): JSX.Element | null {
  const { t, v } = query.value;
  const similar = useQuery(['similar', app, id, t, v, 'first'], (signal) => api.similar(app, id, { t, v }, signal, 1));
  const first = similar.data?.suggestions[0];
  if (!first?.suggested) return null;
  return (
    <a
      class="tag"
      href={href({ name: 'issue', app, id }, { ...carried(query.value), tab: 'group' })}
      title={first.issue.caller1}
    >
      {say('likely the same as {id}, {share} similar', { id: first.issue.id, share: percent(first.score, lang.value) })}
    </a>
  );
}
