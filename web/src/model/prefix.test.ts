import { expect, it } from 'vitest';
import { sharedPrefix } from './prefix';

it('the package of most names is shared, and never a part of a class or a function', () => {
  const shop = ['com.acme.shop.CartStore.open', 'com.acme.shop.ui.Feed.bind', 'com.acme.shop.CartActivity.onCreate'];
  expect(sharedPrefix([...shop, 'android.os.Binder.transact'])).toBe('com.acme.shop.');
  expect(sharedPrefix(['app::cart::open', 'app::cart::close', 'app::cart::Item::name'])).toBe('app::cart::');
  expect(sharedPrefix(['-[MsgStore lock]', '-[MsgStore unlock]', '-[MsgStore open]'])).toBe('');
  expect(sharedPrefix(['libcart.so+0x10', 'libcart.so+0x20', 'libcart.so+0x30'])).toBe('');
  expect(sharedPrefix(shop.slice(0, 2))).toBe('');
  expect(sharedPrefix([...shop, 'a', 'b', 'c', 'd'])).toBe('');
  expect(sharedPrefix([])).toBe('');
});
