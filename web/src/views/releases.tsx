/* Marks of releases, where pages show them. */

import type { JSX } from 'preact';
import { api } from '../api/client';
import type { Releases } from '../api/types';
import { say } from '../lib/i18n';
import { useQuery } from '../lib/query';
import { Ago } from './parts';

export function useReleases(app: string): Releases | undefined {
  return useQuery(['releases', app], (signal) => api.releases(app, signal)).data;
}

/* When and where a version was released, and its commit. */
export function ReleasedAs({ releases, version }: { releases: Releases | undefined; version: string }): JSX.Element {
  return (
    <>
      {releases?.releases
        .filter((one) => one.version === version)
        .map((one) => (
          <span key={one.environment} class="dim small">
            <br />
            {say('released')} <Ago at={one.released_at} />
            {one.environment === 'production' ? '' : `, ${one.environment}`}
            {one.commit === '' ? null : (
              <>
                {' '}
                <code title={one.commit}>{one.commit.slice(0, 10)}</code>
              </>
            )}
          </span>
        ))}
    </>
  );
}
