/** Values that runs have written, of which states are made that no run has led to. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineContract } from '../../../../src/protocol/contract/contract.ts';
import { labelService } from '../../../../src/server/label/label-service.ts';
import { SeenValues } from '../../../../src/server/label/unreached.ts';
import type { Effect } from '../../../../src/server/records/effect.ts';
import { defineService } from '../../../../src/server/service/service.ts';
import type { Service } from '../../../../src/server/service/service.ts';
import { blue } from '../../../../src/server/service/shadow-operation.ts';
import { counter, table } from '../../../../src/server/service/tables.ts';

const write = (value: unknown): Effect => ({ table: 'rows', key: 'a', field: 'text', action: 'write', value });

test('many values of one field → the first ones are remembered, each once', () => {
  const seen = new SeenValues();
  for (let round = 0; round < 2; round += 1) seen.note(Array.from({ length: 100 }, (_, n) => write(n)));
  expect(seen.of('rows', 'text').get('write')).toEqual(Array.from({ length: 24 }, (_, n) => n));
});

test('a counter that is large in all runs → one near to what they have added is looked at too', () => {
  const args = z.object({ key: z.string() });
  const contract = defineContract('large', { grow: { effect: 'update', args, result: z.null() } });
  const service = defineService(contract, {
    tables: { rows: table({ sum: counter() }) },
    shadowOperations: ({ rows }) => ({ grow: blue(({ key }: { key: string }) => [rows.row(key).sum.add(20)]) }),
    generators: { grow: (given, { shadow }) => shadow.grow(given, null) },
    // No run leads to 21.
    invariants: { rows: { 'is not 41': ({ sum }) => sum !== 41 } },
  }) as unknown as Service;
  const [grow] = labelService(service, { runs: 400 }).shadows;
  expect(grow?.verdict).toBe('unreached');
  expect(grow?.reason).toContain('sum is 21');
});
