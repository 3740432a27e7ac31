/** `node.json`, which says whose a data directory is: nothing is taken of a damaged one. */
// @rule STO-32
import { expect, test } from 'vitest';
import {
  formatIdentity,
  parseIdentity,
  rejectForeignOrigin,
} from '../../../../../../src/server/node/storage/directory/node-identity.ts';

const IDENTITY = {
  deployment: 'd1',
  site: 'virginia',
  directory: 'c0ffee',
  origin: 3,
  forked: 'it was retired',
};

test('what is written is read again', () => {
  expect(parseIdentity(formatIdentity(IDENTITY))).toEqual(IDENTITY);
});

test('any one bit is another one → it is damaged, or says the same', () => {
  const written = formatIdentity(IDENTITY);
  let damaged = 0;
  for (let bit = 0; bit < written.length * 8; bit += 1) {
    const bytes = Uint8Array.from(written);
    bytes[bit >> 3]! ^= 1 << (bit & 7);
    try {
      expect(parseIdentity(bytes)).toMatchObject(IDENTITY);
    } catch (error) {
      expect(error).toMatchObject({
        code: 'UNAVAILABLE',
        message: expect.stringContaining('node.json is damaged'),
      });
      damaged += 1;
    }
  }
  expect(damaged).toBeGreaterThan(written.length * 4);
});

test.each([
  ['empty', ''],
  ['cut off', '{"deployment": "d1", "si'],
  ['of zeros', '\0\0\0\0'],
  ['no object', 'null'],
  ['without a site', '{"deployment": "d1", "directory": "c0ffee", "origin": 3}'],
  ['of an origin that no site can have', JSON.stringify({ ...IDENTITY, origin: 0 })],
])('%s → it is damaged', (_what, text) => {
  expect(() => parseIdentity(Buffer.from(text))).toThrow('node.json is damaged');
});

test('without a checksum, as earlier versions wrote it → it is taken', () => {
  expect(parseIdentity(Buffer.from(JSON.stringify(IDENTITY)))).toEqual(IDENTITY);
});

test('its origin is of another site, or of none → it is damaged', () => {
  const names = ['red', 'ireland', 'frankfurt', 'virginia'];
  const check = (origin: number | null): void =>
    rejectForeignOrigin({ site: 'virginia', origin }, (of) => names[of]);
  expect(() => check(2)).toThrow("its site is virginia, and its origin is 2, which is frankfurt's");
  expect(() => check(7)).toThrow('its origin is 7, which no site has');
  expect([check(3), check(null)]).toEqual([undefined, undefined]);
});
