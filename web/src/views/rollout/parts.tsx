/* The author of a change of the rollout, and parts that every panel of the page has. */

import type { Rollout } from '../../api/types';
import { lang, say } from '../../lib/i18n';
import { client } from '../../lib/query';
import { exact } from '../../model/format';
import { announce } from '../parts';

/* Who changes something, and what is changed on. */
export interface Author {
  app: string;
  rollout: Rollout;
  allowed: boolean;
  /** The account that changes it; empty: a name is asked for. */
  name: string;
}

export function pluginName(plugin: string): string {
  const names: Record<string, string> = {
    hang: say('Hangs'),
    memory: say('Memory'),
    exit: say('Exits'),
    session: say('Sessions'),
  };
  return names[plugin] ?? plugin;
}

/* The version that holds now is on the page, and said. */
export async function held(app: string, version: number): Promise<void> {
  await client.invalidateQueries({ queryKey: ['rollout', app] });
  announce(say('Version {n} is in force', { n: exact(version, lang.value) }));
}
