/** Arguments that cannot be sent are refused before a connection is used. */
import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { defineStatements, postgres } from '../../../../src/bindings/postgres/index.ts';
import { createClient } from '../../../../src/correctable/client/client.ts';
import { enqueue, get, getMany, put } from '../../../../src/operations/index.ts';
import type { Operation } from '../../../../src/correctable/operation.ts';

const set = defineStatements({
  set: { access: 'write', sql: 'update t set v = :v', args: z.object({ v: z.any() }) },
});

const cyclic: Record<string, unknown> = {};
cyclic['self'] = [cyclic];

// @rule REPL-4
test.each<[string, Operation, string, string]>([
  ['a cycle in a statement', set.set({ v: cyclic }), 'INVALID_ARGUMENT', 'args.v'],
  ['a bigint in JSON', set.set({ v: { n: 1n } }), 'INVALID_ARGUMENT', 'args.v'],
  ['an invalid date', set.set({ v: new Date(NaN) }), 'INVALID_ARGUMENT', 'args.v'],
  ['a function', set.set({ v: [() => 1] }), 'INVALID_ARGUMENT', 'args.v'],
  ['U+0000 in a text', set.set({ v: ['a\0'] }), 'INVALID_ARGUMENT', 'args.v'],
  ['half of a surrogate pair', set.set({ v: '\ud800' }), 'INVALID_ARGUMENT', 'args.v'],
  ['U+0000 in a key', put('a\0', 1), 'INVALID_ARGUMENT', 'args.key'],
  ['U+0000 in a value', put('k', { a: ['\\\0'] }), 'INVALID_ARGUMENT', 'args.value'],
  ['U+0000 in an item', enqueue('q', 'a\0'), 'INVALID_ARGUMENT', 'args.item'],
  ['U+0000 in a key of a read', get('a\0'), 'INVALID_ARGUMENT', 'args.key'],
  ['U+0000 in one of several keys', getMany(['a', 'a\0']), 'INVALID_ARGUMENT', 'args.keys[1]'],
  ['a cycle in a value', put('k', cyclic), 'INVALID_VALUE', ''],
])('%s → nothing is sent', async (_name, operation, code, field) => {
  const run = vi.fn();
  const client = createClient(postgres({ primary: { run }, statements: set }));
  const failing = client.invoke(operation);
  await expect(failing).rejects.toMatchObject({
    code,
    retryable: false,
    ...(field !== '' && { field }),
  });
  expect(run).not.toHaveBeenCalled();
});

test('an escaped backslash before u0000 is no character', async () => {
  const run = vi.fn(async (statements: readonly unknown[]) =>
    statements.map(() => ({ rows: [], rowCount: 1 })),
  );
  const client = createClient(postgres({ primary: { run } }));
  await client.invoke(put('k', String.raw`\u0000`));
  expect(run).toHaveBeenCalled();
});
