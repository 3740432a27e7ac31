/**
 * What generators work with is the same for all runs: none can change it for those that come after.
 */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineContract } from '../../../../../src/contract/contract.ts';
import { getOperationPlans } from '../../../../../src/server/service/operation-plan.ts';
import { GeneratorRunner } from '../../../../../src/server/service/generator/generator-runner.ts';
import {
  NO_READ_LISTENER,
  createTablesReader,
} from '../../../../../src/server/service/generator/table-readers.ts';
import { createAnalyzedService } from '../../../../../src/server/check/analyzed-service.ts';
import { defineService } from '../../../../../src/server/service/service.ts';
import type { Service } from '../../../../../src/server/service/service.ts';
import { blue } from '../../../../../src/server/service/shadow-operation.ts';
import { counter, register, table } from '../../../../../src/server/service/tables.ts';
import { Store } from '../../../../../src/server/service/state/store.ts';

const contract = defineContract('rows', {
  look: { access: 'read', args: z.object({}), result: z.unknown(), errors: { no: z.null() } },
  plain: { access: 'read', args: z.object({}), result: z.unknown() },
});

type Context = Readonly<Record<string, Readonly<Record<string, never>>>>;

function serviceOf(look: (context: Context) => unknown): Service {
  return defineService(contract, {
    tables: { rows: table({ sum: counter(), owner: register<string>() }, { indexes: ['owner'] }) },
    shadowOperations: ({ rows }) => ({ add: blue((key: string) => [rows.row(key).sum.add(1)]) }),
    generators: {
      look: (_args, context) => look(context as never),
      plain: (_args, context) => look(context as never),
    },
  }) as unknown as Service;
}

const TOOLS: readonly [string, (context: Context) => object | undefined][] = [
  ['the tables', ({ tables }) => tables],
  ['a table', ({ tables }) => tables?.['rows']],
  ['the indexes of a table', ({ tables }) => (tables?.['rows'] as { by: object } | undefined)?.by],
  ['what reads a row', ({ tables }) => tables?.['rows']?.['row']],
  ['the function that checks for a row', ({ tables }) => tables?.['rows']?.['has']],
  ['a shadow operation', ({ shadow }) => shadow?.['add']],
  [
    'the function that applies a shadow operation to a scratchpad',
    ({ scratchpad }) => scratchpad?.['apply'],
  ],
  ['the function that reads keys', ({ tables }) => tables?.['rows']?.['keys']],
  [
    'the function that reads an index',
    ({ tables }) => (tables?.['rows'] as { by: { owner: object } } | undefined)?.by.owner,
  ],
  ['the prototype of all rows', ({ tables }) => Object.getPrototypeOf(rowOf(tables)) as object],
  ['the prototype of all contexts', (context) => Object.getPrototypeOf(context) as object],
  ['the shadow operations', ({ shadow }) => shadow],
  [
    'the prototype of all scratchpads',
    ({ scratchpad }) => Object.getPrototypeOf(scratchpad) as object,
  ],
  ['the scratchpad', ({ scratchpad }) => scratchpad],
  ['the errors of the contract', ({ errors }) => errors],
];

function rowOf(tables: unknown): object {
  return (tables as { rows: { row: (key: string) => object } }).rows.row('a');
}

test.each(TOOLS)(
  '%s → what a generator puts there is refused, and nothing is changed',
  (_, toolOf) => {
    for (const judge of [
      (service: Service) => service,
      (service: Service) => createAnalyzedService(service).runnable,
    ]) {
      const seen: unknown[] = [];
      const service = serviceOf((context) => {
        const tool = toolOf(context) as Record<string, unknown>;
        seen.push(tool);
        for (const name of ['rows', 'row', 'owner', 'add', 'apply', 'no', 'new']) {
          expect(() => {
            tool[name] = () => 'something else';
          }).toThrow(TypeError);
        }
        return null;
      });
      const runner = new GeneratorRunner(judge(service), new Store(service.tables));
      const plans = getOperationPlans(judge(service));
      for (const name of ['look', 'plain', 'look']) {
        runner.run({
          serial: 1,
          plan: plans.get(name)!,
          args: {},
          submittedAtMs: 0,
          seed: 2 ** 32 - 1,
        });
      }
      expect(seen).toHaveLength(3);
      expect(seen.every((tool) => typeof tool === 'object' || typeof tool === 'function')).toBe(
        true,
      );
    }
  },
);

test('readers outside of generators are the same for all, too', () => {
  const { tables } = serviceOf(() => null);
  expect(Object.isFrozen(createTablesReader(tables, new Store(tables), NO_READ_LISTENER))).toBe(
    true,
  );
});
