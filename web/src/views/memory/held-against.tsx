/* The reference of a memory report: the healthy median, healthy processes of a version, or another report. */

import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { api } from '../../api/client';
import type { Memory } from '../../api/types';
import { lang, say } from '../../lib/i18n';
import { patch, query } from '../../lib/location';
import { useQuery } from '../../lib/query';
import { exact, moment } from '../../model/format';
import { type Other, ofHealthy, ofMedians, ofReport } from '../../model/memory';

const HEALTHY = 'healthy';
const VERSION = 'v:';

/* The numbers to compare with, null while they are not there, and what their column is called. */
export function useOther(app: string, id: string, memory: Memory): { other: Other | null; label: string } {
  const { cmp, t, v } = query.value;
  const version = cmp.startsWith(VERSION) ? cmp.slice(VERSION.length) : null;
  const report = cmp !== HEALTHY && version === null ? cmp : null;
  const { os } = memory.row;
  const medians = useQuery(
    ['healthy', app, version, os],
    (signal) => api.healthy(app, { v: [version ?? ''], os }, signal),
    {
      enabled: version !== null,
      keep: false,
    },
  );
  const another = useQuery(
    ['memory', app, id, report, t, v],
    (signal) => api.memory(app, id, report!, { t, v }, signal),
    {
      enabled: report !== null,
      keep: false,
    },
  );
  const other = useMemo(() => {
    if (version !== null) return medians.data ? ofMedians(medians.data) : null;
    if (report !== null) return another.data ? ofReport(another.data) : null;
    return ofHealthy(memory);
  }, [memory, medians.data, another.data, version, report]);
  const label =
    version !== null ? say('vs {what}', { what: version }) : report !== null ? say('vs the other') : say('vs healthy');
  return { other, label };
}

export function Against({ app, id, memory }: { app: string; id: string; memory: Memory }): JSX.Element {
  const { cmp, t, v, tz } = query.value;
  const known = useQuery(['healthy', app, ''], (signal) => api.healthy(app, {}, signal));
  const reports = useQuery(['reports', app, id, t, v], (signal) => api.reports(app, id, { t, v }, signal));
  const versions = [
    ...new Set(known.data?.versions.filter((row) => row.os === memory.row.os).map((row) => row.version) ?? []),
  ];
  const others = (reports.data?.reports ?? []).filter((row) => row.id !== memory.row.id).slice(0, 20);
  const chosen = [HEALTHY, ...versions.map((one) => VERSION + one), ...others.map((row) => row.id)].includes(cmp);
  return (
    <p class="picker against" aria-busy={known.isPending || reports.isPending}>
      <label>
        {say('Compared with')}{' '}
        <select value={cmp} onChange={(event) => patch({ cmp: event.currentTarget.value }, true)}>
          <option value={HEALTHY}>{say('the healthy median')}</option>
          {versions.length > 0 ? (
            <optgroup label={say('Healthy processes of a version')}>
              {versions.map((one) => (
                <option key={one} value={VERSION + one}>
                  {one}
                </option>
              ))}
            </optgroup>
          ) : null}
          {others.length > 0 ? (
            <optgroup label={say('Another report')}>
              {others.map((row) => (
                <option key={row.id} value={row.id}>
                  {moment(new Date(row.occurred_at), tz, lang.value, true)} · {row.version}
                </option>
              ))}
            </optgroup>
          ) : null}
          {chosen ? null : <option value={cmp}>{cmp.replace(VERSION, '')}</option>}
        </select>
      </label>
      <span class="dim">{cmp === HEALTHY ? whose(memory) : ''}</span>
    </p>
  );
}

/* The healthy processes of the median. */
function whose(memory: Memory): string {
  const { healthy } = memory;
  if (!healthy) return say('too few healthy processes were known when the report arrived');
  const n = exact(healthy.reports, lang.value);
  if (healthy.scope === 'version') return say('of {n|baseline|baselines} of this version and device class', { n });
  if (healthy.scope === 'class') return say('of {n|baseline|baselines} of this device class, any version', { n });
  return say('of {n|baseline|baselines} of the app, any version and device', { n });
}
