import { expect, it } from 'vitest';
import type { Who } from '../api/types';
import { may, mayFound, rankIn } from './who';

const anna: Who = {
  name: 'anna',
  via: 'sign-in',
  has_account: true,
  has_password: true,
  is_server_admin: false,
  roles: [
    { app: '*', role: 'viewer' },
    { app: 'shop', role: 'admin' },
  ],
  demo: 'demo',
};

it('the greater of the role in the app and that in every app counts', () => {
  expect(rankIn(anna, 'shop')).toBe('admin');
  expect(rankIn(anna, 'other')).toBe('viewer');
  expect(rankIn({ ...anna, roles: [] }, 'shop')).toBe('nobody');
  expect(rankIn({ ...anna, roles: [], is_server_admin: true }, 'shop')).toBe('server');
  expect(rankIn(null, 'shop')).toBe('nobody');
  expect([may(anna, 'shop', 'admin'), may(anna, 'other', 'triager'), may(anna, null, 'server')]).toEqual([
    true,
    false,
    false,
  ]);
  expect(may(undefined, 'shop', 'admin')).toBe(true);
});

it('everybody is a viewer of the demo app, and who may make apps may make and remove it', () => {
  expect(rankIn({ ...anna, is_server_admin: true }, 'demo')).toBe('viewer');
  expect(may({ ...anna, is_server_admin: true }, 'demo', 'triager')).toBe(false);
  expect([mayFound(anna), mayFound({ ...anna, is_server_admin: true }), mayFound(null)]).toEqual([false, true, false]);
  expect(mayFound({ ...anna, has_account: false, roles: [{ app: '*', role: 'admin' }] })).toBe(true);
});
