/**
 * A service as the analysis sees it: what is red by itself, and which colors its contract declares.
 */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineContract } from '../../../../src/contract/contract.ts';
import { createAnalyzedService } from '../../../../src/server/check/analyzed-service.ts';
import { analyzeColors } from '../../../../src/server/check/analyze-colors.ts';
import { stampChoice } from '../../../../src/server/check/run-interleaving.ts';
import { HERE, StampGenerator } from '../../../../src/server/check/analysis-site.ts';
import { RED } from '../../../../src/server/service/records/origin.ts';
import { defineService, withColors, type Service } from '../../../../src/server/service/service.ts';
import { blue, red } from '../../../../src/server/service/shadow-operation.ts';
import { counter, table } from '../../../../src/server/service/tables.ts';
import { bankService } from './bank.ts';

interface Named {
  readonly key: string;
}
const names = z.object({ key: z.string() });

test('a reply that is computed when it is applied → red without a search', () => {
  const contract = defineContract('counting', {
    count: { access: 'write', args: names, result: z.int() },
  });
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
  expect(analyzeColors(service, { runs: 20 }).shadows).toEqual([
    {
      name: 'count',
      operation: 'count',
      declaredColor: 'red',
      verdict: 'red',
      reason: 'makes its reply when it is applied, in the red order',
    },
  ]);
});

test('an operation that its contract declares blue, tried with a red shadow operation → judged all the same', () => {
  const contract = defineContract('adding', {
    add: { access: 'write', color: 'blue', args: names, result: z.null() },
  });
  const service = defineService(contract, {
    tables: { rows: table({ sum: counter() }) },
    shadowOperations: ({ rows }) => ({ add: blue(({ key }: Named) => [rows.row(key).sum.add(1)]) }),
    generators: { add: (args, { shadow }) => shadow.add(args, null) },
  }) as unknown as Service;
  const report = analyzeColors(withColors(service, { add: 'red' }), { runs: 20 });
  expect(report.generators).toEqual([]);
  expect(report.shadows[0]).toMatchObject({
    name: 'add',
    operation: 'add',
    declaredColor: 'red',
    verdict: 'blue',
  });
});

test('an operation that is always red, or chosen as red → its effects are stamped in the red order', () => {
  const judged = createAnalyzedService({
    ...bankService({ withdraw: 'blue' }),
    alwaysRed: new Set(['withdraw']),
  });
  const entryOf = (operation: string, color: 'blue' | 'red'): number => {
    const args = { account: 'a', cents: 1 };
    const step = { operation, args, serial: 1, seed: 1, atMs: 0 };
    const choice = { shadow: operation, color, args, effects: [], reply: null } as const;
    return stampChoice(judged, step, choice, new StampGenerator(), HERE).stamp.entry;
  };
  expect([
    entryOf('withdraw', 'blue'),
    entryOf('deposit', 'blue'),
    entryOf('deposit', 'red'),
  ]).toEqual([RED, HERE, RED]);
});
