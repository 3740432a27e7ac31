/** What a generator asks of the tables, in words: by these two runs are compared. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineContract } from '../../../../src/contract/contract.ts';
import { getOperationPlans } from '../../../../src/server/service/operation-plan.ts';
import { GeneratorRunner } from '../../../../src/server/service/generator/generator-runner.ts';
import { HERE, StampGenerator } from '../../../../src/server/check/analysis-site.ts';
import type { TablesReader } from '../../../../src/server/service/readers.ts';
import { defineService, type Service } from '../../../../src/server/service/service.ts';
import { blue } from '../../../../src/server/service/shadow-operation.ts';
import { counter, register, table } from '../../../../src/server/service/tables.ts';
import { Store } from '../../../../src/server/service/state/store.ts';
import { TracedService } from '../../../../src/testing/simulator/traced-service.ts';

const contract = defineContract('notes', {
  put: {
    access: 'write',
    args: z.object({ key: z.string(), owner: z.string() }),
    result: z.null(),
  },
  look: { access: 'read', args: z.object({}), result: z.unknown(), errors: { no: z.null() } },
});
const tables = {
  notes: table({ owner: register<string>(), sum: counter() }, { indexes: ['owner'] }),
};
type Reads = (value: TablesReader<typeof tables>) => unknown;

/** What one run of `look` has asked and given, of three notes: `a` and `c` of ann, `b` of bob. */
function traced(reads: Reads): {
  asked: readonly string[];
  gave: unknown;
  thrown: string | undefined;
} {
  const service = new TracedService(
    defineService(contract, {
      tables,
      shadowOperations: ({ notes }) => ({
        put: blue((a: { key: string; owner: string }) => [notes.row(a.key).owner.write(a.owner)]),
      }),
      generators: {
        put: (args, { shadow }) => shadow.put(args, null),
        look: (_args, context) => {
          const value = reads(context.tables);
          if (value === 'refused') throw context.errors.no(null);
          return value;
        },
      },
    }) as unknown as Service,
  );
  const store = new Store(service.service.tables);
  const runner = new GeneratorRunner(service.service, store);
  const input = { serial: 1, submittedAtMs: 0, seed: 2 ** 32 - 1 };
  const plans = getOperationPlans(service.service);
  const stamps = new StampGenerator();
  for (const [key, owner] of ['a ann', 'b bob', 'c ann'].map((item) => item.split(' '))) {
    const { choice } = runner.run({ ...input, plan: plans.get('put')!, args: { key, owner } });
    const stamp = stamps.next(HERE, false);
    for (const effect of choice?.effects ?? []) store.apply(effect, stamp);
  }
  try {
    const { reply } = runner.run({ ...input, plan: plans.get('look')!, args: {} });
    return { asked: service.lookups(), gave: reply.value, thrown: service.thrown() };
  } catch {
    return { asked: service.lookups(), gave: undefined, thrown: service.thrown() };
  }
}

test.each<[string, Reads, readonly string[], unknown]>([
  ['a field', ({ notes }) => notes.row('a').owner, ['notes.owner of a'], 'ann'],
  ['a field of a row that is not there', ({ notes }) => notes.row('z').sum, ['notes.sum of z'], 0],
  ['whether a row is there', ({ notes }) => notes.has('b'), ['notes.has b'], true],
  ['all keys', ({ notes }) => notes.keys(), ['notes.keys'], ['a', 'b', 'c']],
  [
    'some keys',
    ({ notes }) => notes.keys({ from: 'b', limit: 1, reverse: true }),
    ['notes.keys from b limit 1 reverse true'],
    ['c'],
  ],
  ['keys by a prefix', ({ notes }) => notes.keys({ prefix: 'b' }), ['notes.keys prefix b'], ['b']],
  ['keys up to one', ({ notes }) => notes.keys({ before: 'b' }), ['notes.keys before b'], ['a']],
  [
    'an index',
    ({ notes }) => notes.by.owner({ equals: 'ann' }),
    ['notes.by.owner equals ann'],
    ['a', 'c'],
  ],
  ['all of an index', ({ notes }) => notes.by.owner(), ['notes.by.owner'], ['a', 'c', 'b']],
  ['nothing', () => 'none', [], 'none'],
  ['one thing twice', ({ notes }) => [notes.has('a'), notes.has('a')].length, ['notes.has a'], 2],
])('asks for %s → noted with all that it goes by, and given', (_, reads, requested, gave) => {
  expect(traced(reads)).toEqual({ asked: requested, gave, thrown: undefined });
});

test('throws → noted, with what it asked before; an error of the domain is none', () => {
  const thrown = traced(({ notes }) => {
    notes.has('a');
    throw new TypeError('no');
  });
  expect(thrown).toEqual({ asked: ['notes.has a'], gave: undefined, thrown: 'TypeError: no' });
  expect(traced(() => 'refused').thrown).toBeUndefined();
});
