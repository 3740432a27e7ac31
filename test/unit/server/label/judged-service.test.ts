/** A service as it is judged: what is red by itself, and what its contract says of colours. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineContract } from '../../../../src/protocol/contract/contract.ts';
import { judgedService } from '../../../../src/server/label/judged-service.ts';
import { labelService } from '../../../../src/server/label/label-service.ts';
import { placed } from '../../../../src/server/label/run-meeting.ts';
import { HERE, Stamps } from '../../../../src/server/label/site.ts';
import { RED } from '../../../../src/server/records/origin.ts';
import { defineService, recoloured, type Service } from '../../../../src/server/service/service.ts';
import { blue, red } from '../../../../src/server/service/shadow-operation.ts';
import { counter, table } from '../../../../src/server/service/tables.ts';
import { bankService } from './bank.ts';

interface Named {
  readonly key: string;
}
const names = z.object({ key: z.string() });

test('a reply that is made when it is applied → red without a search', () => {
  const contract = defineContract('counting', { count: { effect: 'update', args: names, result: z.int() } });
  const service = defineService(contract, {
    tables: { rows: table({ sum: counter() }) },
    shadowOperations: ({ rows }) => ({
      count: red(
        ({ key }: Named) => [rows.row(key).sum.add(1)],
        () => 1,
      ),
    }),
    generators: { count: (args, { shadow }) => shadow.count(args) },
  }) as unknown as Service;
  expect(labelService(service, { runs: 20 }).shadows).toEqual([
    {
      name: 'count',
      operation: 'count',
      declared: 'red',
      verdict: 'red',
      reason: 'makes its reply when it is applied, in the red order',
    },
  ]);
});

test('an operation that its contract declares blue, tried with a red shadow operation → judged all the same', () => {
  const contract = defineContract('adding', {
    add: { effect: 'update', colour: 'blue', args: names, result: z.null() },
  });
  const service = defineService(contract, {
    tables: { rows: table({ sum: counter() }) },
    shadowOperations: ({ rows }) => ({ add: blue(({ key }: Named) => [rows.row(key).sum.add(1)]) }),
    generators: { add: (args, { shadow }) => shadow.add(args, null) },
  }) as unknown as Service;
  const report = labelService(recoloured(service, { add: 'red' }), { runs: 20 });
  expect(report.generators).toEqual([]);
  expect(report.shadows[0]).toMatchObject({ name: 'add', operation: 'add', declared: 'red', verdict: 'blue' });
});

test('of an operation that is always red, or chosen as red → what it does is stamped in the red order', () => {
  const judged = judgedService({ ...bankService({ withdraw: 'blue' }), alwaysRed: new Set(['withdraw']) });
  const entryOf = (operation: string, colour: 'blue' | 'red'): number => {
    const args = { account: 'a', cents: 1 };
    const step = { operation, args, serial: 1, seed: 1, atMs: 0 };
    const choice = { shadow: operation, colour, args, effects: [], reply: null } as const;
    return placed(judged, step, choice, new Stamps(), HERE).stamp.entry;
  };
  expect([entryOf('withdraw', 'blue'), entryOf('deposit', 'blue'), entryOf('deposit', 'red')]).toEqual([
    RED,
    HERE,
    RED,
  ]);
});
