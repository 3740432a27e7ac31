/**
 * A field that a red operation writes counts as read: the red order decides whose value stays, not
 * the writers' clocks.
 */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineContract } from '../../../../../src/contract/contract.ts';
import { defineService } from '../../../../../src/server/service/service.ts';
import { red } from '../../../../../src/server/service/shadow-operation.ts';
import { register, table } from '../../../../../src/server/service/tables.ts';
import { Sites } from '../../site/sites.ts';

const contract = defineContract('notes', {
  write: { access: 'write', args: z.object({ text: z.string() }), result: z.null() },
  text: { access: 'read', args: z.object({}), result: z.string().nullable() },
});
const service = defineService(contract, {
  tables: { notes: table({ text: register<string>() }) },
  shadowOperations: ({ notes }) => ({
    write: red((a: { text: string }) => [notes.row('n').text.write(a.text)]),
  }),
  generators: {
    write: (args, { shadow }) => shadow.write(args, null),
    text: (_, { tables }) => tables.notes.row('n').text ?? null,
  },
});

const [LEADER, S, T] = [0, 1, 2] as const;

test('a write that stands later in the red order, by a clock that is behind → it stays at all sites', () => {
  const sites = new Sites(service, 3, { maxAttempts: 3 });
  sites.aheadMs[S] = 500;
  const first = sites.submit(S, contract.write({ text: 'first' }));
  sites.deliver(({ message }) => message.kind === 'log.propose');
  const second = sites.submit(T, contract.write({ text: 'second' }));
  sites.settle();
  expect([first.value, second.value]).toEqual([null, null]);
  expect([LEADER, S, T].map((site) => sites.read(site, contract.text({})))).toEqual([
    'second',
    'second',
    'second',
  ]);
});
