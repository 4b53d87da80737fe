import { expect, it } from 'vitest';
import rates from '../../../schema/api/examples/getRates.json';
import type { Rates } from '../api/types';
import { endingsOf } from './endings';

const known = rates as unknown as Rates;

it('how sessions ended is told of the newest versions, as shares of all ends of each', () => {
  const version = (name: string) => ({ ...known.versions[0]!, version: name });
  const ending = (name: string, verdict: string, ends: number) => ({ version: name, verdict, ends });
  const data = {
    ...known,
    versions: [version('8.0.9'), version('8.0.10'), version('8.0.11')],
    endings: [
      ending('8.0.10', 'abort', 1),
      ending('8.0.10', 'clean_exit', 5),
      ending('8.0.10', 'crash', 1),
      ending('8.0.10', 'of a later server', 1),
      ending('8.0.9', 'foom', 2),
      ending('7.0', 'foom', 2),
    ],
  };
  expect(endingsOf(data)).toEqual([
    {
      version: '8.0.10',
      shares: [
        ['normal', 0.625],
        ['crash', 0.25],
        ['unknown', 0.125],
      ],
    },
    { version: '8.0.9', shares: [['memory', 1]] },
  ]);
  expect(endingsOf({ ...data, endings: [] })).toEqual([]);
});
