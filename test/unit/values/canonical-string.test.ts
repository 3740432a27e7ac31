/** Arguments as one string: of what is large, or cannot be read, there is none. */
import { expect, test } from 'vitest';
import { toCanonicalString } from '../../../src/values/canonical-string.ts';

test('a text that is as long as many parts → no key; a short one → one', () => {
  expect(toCanonicalString({ text: 'x'.repeat(1_000_000) })).toBeUndefined();
  expect(toCanonicalString({ text: 'x'.repeat(1_000) })).toContain('xxx');
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
  expect([toCanonicalString(proxy), toCanonicalString(failing)]).toEqual([undefined, undefined]);
});
