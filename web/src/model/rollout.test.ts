import { expect, it } from 'vitest';
import example from '../../../schema/api/examples/getRollout.json';
import type { Ramp, Rollout, RolloutRule } from '../api/types';
import {
  answeredBy,
  nextStepAt,
  percentOf,
  probabilityOf,
  shareChanges,
  stepsOf,
  type Words,
  whenOf,
  withShare,
} from './rollout';

const rollout = example as unknown as Rollout;
const words: Words = {
  everyone: 'everyone',
  whitelist: (n) => `${n} listed`,
  between: (from, to) => `${from} to ${to}`,
  from: (from) => `from ${from}`,
  to: (to) => `up to ${to}`,
  share: (from, to) => `${from} to ${to} %`,
};
const names = { version: 'version', os_version: 'system' };

it('a share goes to percent and back', () => {
  for (const share of [0, 1, 0.02, 0.005, 0.07, 0.29, 0.000001, 0.333333])
    expect(probabilityOf(percentOf(share))).toBe(share);
  expect([percentOf(0.07), percentOf(0.29), probabilityOf('0,5 %')]).toEqual(['7', '29', 0.005]);
  for (const wrong of ['', ' ', '101', '-1', 'much']) expect(probabilityOf(wrong), wrong).toBeNull();
});

it('conditions are told in words', () => {
  expect(rollout.rules.rules.map((rule) => whenOf(rule, words, names))).toEqual([
    '512mb, 1gb · version from 8.0',
    'gray, internal',
    'everyone',
  ]);
  const rule: RolloutRule = {
    name: 'x',
    when: { installs: ['a', 'b'], os_versions: { to: '12' }, share: { from: 0, to: 0.5 }, channels: [] },
  };
  expect(whenOf(rule, words, names)).toBe('— · system up to 12 · 2 listed · 0 to 50 %');
});

it('a changed share is a difference, and nothing else', () => {
  const changed = withShare(rollout.rules, 'public', 'memory', 0.05);
  expect(shareChanges(rollout.rules, changed)).toEqual([{ rule: 'public', plugin: 'memory', from: 0.01, to: 0.05 }]);
  expect(changed.rules[2]!.plugins!.memory!.parameters).toEqual(rollout.rules.rules[2]!.plugins!.memory!.parameters);
  expect(withShare(rollout.rules, 'public', 'nothing', 1)).toEqual(rollout.rules);
  expect(shareChanges(rollout.rules, rollout.rules)).toEqual([]);
});

it('the answers of devices are told by channel', () => {
  const [open, gray] = answeredBy(rollout.answered);
  expect([open!.channel, gray!.channel]).toEqual(['public', 'gray']);
  expect(gray!.share.hang).toBe(1);
  expect(open!.share.hang).toBeCloseTo(0.035, 5);
  expect(open!.days.hang.map((share) => share.toFixed(2))).toEqual(['0.02', '0.05']);
  expect(answeredBy([])).toEqual([]);
});

it('steps rise, and a ramp that runs has a next one', () => {
  expect(stepsOf('1, 5 20;100')).toEqual([0.01, 0.05, 0.2, 1]);
  for (const wrong of ['', '5,1', '0,1', '1,1', '1,200', 'x']) expect(stepsOf(wrong), wrong).toBeNull();
  const ramp = rollout.ramps[0] as Ramp;
  expect(nextStepAt(ramp)?.toISOString()).toBe('2026-11-21T09:12:00.000Z');
  expect(nextStepAt({ ...ramp, state: 'paused' })).toBeNull();
});
