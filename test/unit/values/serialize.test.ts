/** Arguments as one string: of what is large, or cannot be read, there is none. */
import { expect, test } from 'vitest';
import { serialize } from '../../../src/values/serialize.ts';

test('a text that is as long as many parts → no key; a short one → one', () => {
  expect(serialize({ text: 'x'.repeat(1_000_000) })).toBeUndefined();
  expect(serialize({ text: 'x'.repeat(1_000) })).toContain('xxx');
});

test('a getter that throws, and a proxy that was revoked → no key', () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  const failing = Object.defineProperty({}, 'at', {
    enumerable: true,
    get() {
      throw new Error('not to be read');
    },
  });
  expect([serialize(proxy), serialize(failing)]).toEqual([undefined, undefined]);
});
