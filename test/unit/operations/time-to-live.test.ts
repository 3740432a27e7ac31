/** A store that cannot remove a value in time refuses it, instead of keeping it for ever. */
import { expect, test } from 'vitest';
import { cassandra } from '../../../src/bindings/cassandra/index.ts';
import { memory } from '../../../src/bindings/memory/index.ts';
import { zookeeper } from '../../../src/bindings/zookeeper/index.ts';
import { keyValue } from '../../../src/contract/index.ts';
import { createClient, type Binding } from '../../../src/index.ts';
import { put, remove } from '../../../src/operations/index.ts';
import { defineContract } from '../../../src/contract/contract.ts';
import { parseArgs } from '../../../src/contract/operation-registry.ts';
import { createEmbedded, keyValueService } from '../../../src/server/index.ts';
import { z } from 'zod';

const NEVER_CALLED = { view: () => 0, confirm: () => {}, fail: () => {} };
const CONTEXT = {
  signal: new AbortController().signal,
  deadlineAt: undefined,
  session: undefined,
  trace: undefined,
};

const BINDINGS: Readonly<Record<string, () => Binding>> = {
  memory: () => memory(),
  zookeeper: () => zookeeper({ servers: '127.0.0.1:1' }) as Binding,
  cassandra: () =>
    cassandra({ contactPoints: ['127.0.0.1:1'], keyspace: 'shop' } as never) as Binding,
};

test.each(Object.entries(BINDINGS))(
  '%s refuses a put with ttlMs, and remove',
  async (_, create) => {
    const binding = create();
    for (const operation of [put('a', 1, { ttlMs: 5 }), remove('a')]) {
      expect(binding.supports(operation)).toBe(false);
      const submit = () =>
        binding.submitOperation(
          operation,
          [binding.consistencyLevels().at(-1)!],
          NEVER_CALLED,
          CONTEXT,
        );
      expect(submit).toThrow(expect.objectContaining({ code: 'UNSUPPORTED' }));
    }
    expect(binding.supports(put('a', 1))).toBe(true);
    await expect(createClient(binding).invoke(put('a', 1, { ttlMs: 5 }))).rejects.toMatchObject({
      code: 'UNSUPPORTED',
      message: expect.stringContaining('cannot remove a value after ttlMs'),
    });
    await binding.close();
  },
);

test('keyValueService refuses a put with ttlMs, and writes nothing', async () => {
  const deployment = createEmbedded(keyValueService, { sites: ['ireland'] });
  const store = createClient(deployment.site('ireland'));
  await expect(store.invoke(put('a', 1, { ttlMs: 5 }))).rejects.toMatchObject({
    code: 'UNSUPPORTED',
    field: 'args.ttlMs',
    message: expect.stringContaining('The write was not applied'),
  });
  await expect(store.invoke(remove('a'))).rejects.toMatchObject({ code: 'UNSUPPORTED' });
  await deployment.close();
});

test('a contract whose put has the field takes it', () => {
  expect(() => parseArgs(keyValue, put('a', 1, { ttlMs: 5 }))).toThrow(
    expect.objectContaining({ code: 'UNSUPPORTED' }),
  );
  const args = z.object({ key: z.string(), value: z.unknown(), ttlMs: z.number().optional() });
  const expiring = defineContract('expiring', { put: { access: 'write', args, result: z.void() } });
  expect(parseArgs(expiring, put('a', 1, { ttlMs: 5 }))).toEqual({ key: 'a', value: 1, ttlMs: 5 });
});

test.each([0, -1, NaN, Infinity])('put: ttlMs %s → INVALID_ARGUMENT', (ttlMs) => {
  expect(() => put('a', 1, { ttlMs })).toThrow(
    expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'ttlMs' }),
  );
});

test('put and remove: plain data', () => {
  expect(put('k', 1, { ttlMs: 5 })).toEqual({
    name: 'put',
    args: { key: 'k', value: 1, ttlMs: 5 },
    access: 'write',
    key: 'k',
  });
  expect(remove('k')).toEqual({ name: 'remove', args: { key: 'k' }, access: 'write', key: 'k' });
});
