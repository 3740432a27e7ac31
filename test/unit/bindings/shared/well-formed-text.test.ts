/** Text that engines can keep as it is, wherever it stands in a value. */
import { expect, test } from 'vitest';
import { checkWellFormed } from '../../../../src/bindings/shared/well-formed-text.ts';

test.each([
  'a\ud800',
  ['a', '\udc00'],
  { in: ['\ud83d'] },
  { '\ud83d': 1 },
  new Map([['a', '\ud800']]),
  new Map([['\ud800', 1]]),
  new Set(['\ud800']),
])('half of a pair in %o → INVALID_ARGUMENT that names the field', (value) => {
  expect(() => checkWellFormed(value, 'args.x')).toThrow(
    expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'args.x' }),
  );
});

test.each([
  '',
  '😀',
  null,
  5,
  7n,
  new Date(),
  new Uint8Array(3),
  ['a', { b: new Set(['😀']) }],
  new Map([['k', null]]),
])('%o → taken as it is', (value) => {
  expect(checkWellFormed(value, 'args.x')).toBe(value);
});

test('a value that contains itself more than once is read once', () => {
  const folder = { name: 'root', children: [] as unknown[], last: '\ud800' };
  for (const name of ['a', 'b', 'c']) folder.children.push({ name, parent: folder });
  expect(() => checkWellFormed(folder, 'args.value')).toThrow(
    expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'args.value' }),
  );
  folder.last = '';
  expect(checkWellFormed(folder, 'args.value')).toBe(folder);
});

test('a value that contains itself is left to the encoder, and one that cannot be read is refused', () => {
  const cyclic: Record<string, unknown> = {};
  cyclic['self'] = [cyclic];
  expect(checkWellFormed(cyclic, 'args.value')).toBe(cyclic);
  const unreadable = {
    get x(): never {
      throw new Error('it is gone');
    },
  };
  expect(() => checkWellFormed(unreadable, 'args.value')).toThrow(
    expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'args.value' }),
  );
});
