/** Labeling names `arbitraries` for arguments that it cannot draw, with an example. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineContract } from '../../../../src/contract/contract.ts';
import type { ColorAnalysisOptions } from '../../../../src/server/check/analysis-options.ts';
import { analyzeColors } from '../../../../src/server/check/analyze-colors.ts';
import { blue, counter, defineService, table } from '../../../../src/server/index.ts';

const even = z.object({
  email: z.string().refine((text) => text.endsWith('@example.org')),
  seats: z.int(),
});
const contract = defineContract('mail', {
  subscribe: { access: 'write', args: even, result: z.null() },
  cancel: {
    access: 'write',
    args: z.string().refine((text) => text.length === 77),
    result: z.null(),
  },
});
const service = defineService(contract, {
  tables: { people: table({ seats: counter() }) },
  shadowOperations: ({ people }) => ({
    add: blue((a: { email: string; seats: number }) => [people.row(a.email).seats.add(a.seats)]),
  }),
  generators: {
    subscribe: (args, { shadow }) => shadow.add(args, null),
    cancel: (email, { shadow }) => shadow.add({ email, seats: 0 }, null),
  },
});
const findProblem = (operation: string, options: ColorAnalysisOptions = {}): string | undefined =>
  analyzeColors(service, { runs: 20, ...options }).generators.find(
    (found) => found.operation === operation,
  )?.problem;

test('arguments that no schema alone can give → the message has arbitraries with their fields', () => {
  expect(findProblem('subscribe')).toBe(
    'no arguments were drawn that its contract takes. Give arbitraries that draw them: ' +
      'export const arbitraries = { subscribe: ({ pick }) => ({ email: pick([…]), seats: pick([…]) }) }',
  );
  expect(findProblem('cancel')).toMatch(
    /arbitraries = \{ cancel: \(\{ pick \}\) => pick\(\[…\]\) \}$/,
  );
});

test('arbitraries whose arguments the contract refuses → the message says why', () => {
  const arbitraries = { subscribe: () => ({ email: 'ada', seats: 1 }) };
  expect(findProblem('subscribe', { arbitraries })).toMatch(
    /^its contract refuses all that arbitraries\.subscribe draws: .*email/s,
  );
});
