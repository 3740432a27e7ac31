/**
 * Two sites that meet, of which one takes, both do, or neither: the report names the holder of
 * rights only for takes.
 */
// @rule RIGHTS-13
import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineContract } from '../../../../src/contract/contract.ts';
import { runInterleaving } from '../../../../src/server/check/run-interleaving.ts';
import type { Step } from '../../../../src/server/check/interleaving.ts';
import { formatCounterexample } from '../../../../src/server/check/color-report.ts';
import { SearchContext } from '../../../../src/server/check/search-context.ts';
import { defineService, type Service } from '../../../../src/server/service/service.ts';
import { blue } from '../../../../src/server/service/shadow-operation.ts';
import { boundedCounter, counter, table } from '../../../../src/server/service/tables.ts';

const update = { access: 'write', args: z.object({}), result: z.null() } as const;

/** A hall with seats, of which each party takes one or stands, and room for one party. */
const hall = defineService(defineContract('hall', { open: update, sit: update, stand: update }), {
  tables: { halls: table({ seats: boundedCounter({ min: 0 }), parties: counter() }) },
  shadowOperations: ({ halls }) => ({
    open: blue((_args: object) => [halls.row('H').seats.give(5)]),
    sit: blue((_args: object) => [halls.row('H').seats.take(1), halls.row('H').parties.add(1)]),
    stand: blue((_args: object) => [halls.row('H').parties.add(1)]),
  }),
  generators: {
    open: (args, { shadow }) => shadow.open(args, null),
    sit: (args, { tables, shadow }) =>
      tables.halls.row('H').parties === 0 ? shadow.sit(args, null) : null,
    stand: (args, { tables, shadow }) =>
      tables.halls.row('H').parties === 0 ? shadow.stand(args, null) : null,
  },
  invariants: { halls: { 'one party': ({ parties }) => parties <= 1 } },
}) as unknown as Service;

const step = (operation: string, serial: number): Step => ({
  operation,
  args: {},
  serial,
  seed: 1,
  atMs: 1000,
});

test.each([
  ['sit', 'sit', true],
  ['sit', 'stand', true],
  ['stand', 'sit', true],
  ['stand', 'stand', false],
])('%s beside %s → the report names the holder of the rights: %s', (here, there, isNamed) => {
  const interleaving = {
    past: [step('open', 1)],
    here: step(here, 2),
    there: [step(there, 3)],
    place: 0,
  };
  const { violation } = runInterleaving(new SearchContext(hall), interleaving);
  expect(violation?.kind).toBe('beside');
  expect(
    violation && formatCounterexample(violation).includes('Who takes holds the rights to it.'),
  ).toBe(isNamed);
});

test('a take that does not commute → the report names the holder too', () => {
  const row = { table: 'halls', key: 'H', fields: { parties: 1 } };
  const interleaving = { past: [], here: step('sit', 1), there: [step('sit', 2)], place: 0 };
  const of = (takes: boolean): readonly string[] =>
    formatCounterexample({
      kind: 'differs',
      shadow: 'sit',
      operation: 'sit',
      interleaving,
      takes,
      difference: { here: row, there: row },
    });
  expect(
    [of(true), of(false)].map((lines) => lines.includes('Who takes holds the rights to it.')),
  ).toEqual([true, false]);
});
