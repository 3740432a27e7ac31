/**
 * Effects that no table has made (docs/spec/redblue.md, RB-V11): by their type they are plain
 * objects, so that anybody can. One that a site cannot apply would end it, and with its log each
 * that starts after it.
 */
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { createClient } from '../../../../../src/correctable/client/client.ts';
import { defineContract } from '../../../../../src/contract/contract.ts';
import { createEmbedded } from '../../../../../src/server/node/embedded/embedded.ts';
import type { Effect } from '../../../../../src/server/service/records/effect.ts';
import { defineService } from '../../../../../src/server/service/service.ts';
import { blue, red } from '../../../../../src/server/service/shadow-operation.ts';
import {
  boundedCounter,
  counter,
  queue,
  register,
  set,
  stock,
  table,
} from '../../../../../src/server/service/tables.ts';

const made = z.object({
  table: z.string(),
  field: z.string(),
  action: z.string(),
  value: z.unknown().optional(),
});
const update = { access: 'write', args: made, result: z.null() } as const;

const contract = defineContract('hand-made', {
  byBlue: update,
  byRed: update,
  count: { access: 'write', args: z.object({}), result: z.number() },
});

/** As an author may write them: the compiler takes them too. */
const effectOf = (args: z.infer<typeof made>): readonly Effect<unknown, 'blue'>[] => [
  { ...args, key: 'k' },
];

const service = defineService(contract, {
  tables: {
    t: table({
      f: boundedCounter({ min: 0 }),
      n: counter(),
      r: register(),
      s: set<string>(),
      k: stock(),
      q: queue<number>(),
    }),
  },
  shadowOperations: ({ t }) => ({
    byBlue: blue(effectOf),
    byRed: red(effectOf),
    count: red((_args: object) => [t.row('k').n.add(1)]),
  }),
  generators: {
    byBlue: (args, { shadow }) => shadow.byBlue(args, null),
    byRed: (args, { shadow }) => shadow.byRed(args, null),
    count: (args, { tables, shadow }) => shadow.count(args, tables.t.row('k').n + 1),
  },
});

const IMPOSSIBLE: readonly (readonly [field: string, action: string, value?: unknown])[] = [
  ['f', 'give', 0.5],
  ['f', 'give', '5'],
  ['f', 'give'],
  ['f', 'take', -5],
  ['f', 'steal', 1],
  ['f', 'transfer', { from: 1, to: 2, amount: 3 }],
  ['f', 'close', 'x'],
  ['f', 'close', 0],
  ['f', 'close', 3],
  ['s', 'add', true],
  ['s', 'add', 5n],
  ['s', 'add', null],
  ['s', 'add'],
  ['f', 'add', 1],
  ['n', 'add', 0.5],
  ['n', 'add', 'x'],
  ['r', 'assign', 1],
  ['k', 'take', -1],
  ['nope', 'add', 1],
  ['', 'remove'],
  ['', 'clear'],
  ['__proto__', 'add', 1],
];

test.each(
  IMPOSSIBLE.flatMap(([field, action, value]) =>
    (['byBlue', 'byRed'] as const).map((name) => ({ name, field, action, value })),
  ),
)(
  '$name: $action of t.$field with $value → INVALID_ARGUMENT, and all sites go on',
  async ({ name, ...effect }) => {
    const deployment = createEmbedded(service, { sites: ['a', 'b'] });
    onTestFinished(() => deployment.close());
    const [a, b] = (['a', 'b'] as const).map((site) => createClient(deployment.site(site)));
    const refused = a!.invoke(contract[name]({ table: 't', ...effect }));
    await expect(refused).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      field: expect.stringMatching(/^(?:effects\.0|t\.\w+)$/),
    });
    expect(await a!.invoke(contract.count({}))).toBe(1);
    expect(await b!.invoke(contract.count({}))).toBe(2);
  },
);

test('of a table that there is not → INVALID_ARGUMENT', async () => {
  const deployment = createEmbedded(service, { sites: ['a'] });
  onTestFinished(() => deployment.close());
  const client = createClient(deployment.site('a'));
  const nowhere = { table: 'nope', field: 'n', action: 'add', value: 1 };
  await expect(client.invoke(contract.byBlue(nowhere))).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
  });
});

test('as the tables make them → taken', async () => {
  const deployment = createEmbedded(service, { sites: ['a'] });
  onTestFinished(() => deployment.close());
  const client = createClient(deployment.site('a'));
  await client.invoke(contract.byBlue({ table: 't', field: 'n', action: 'add', value: 4 }));
  expect(await client.invoke(contract.count({}))).toBe(5);
});

/** What a shadow operation may give against its types, and what is named then. */
const SPOILT: readonly (readonly [what: string, effects: unknown, field: string])[] = [
  ['null among effects', [null], 'effects.0'],
  ['a hole', Array.from({ length: 1 }), 'effects.0'],
  ['a number', [1], 'effects.0'],
  [
    'a list for an action',
    [{ table: 't', key: 'k', field: 'n', action: ['add'], value: 1 }],
    'effects.0',
  ],
  [
    'a symbol for a table',
    [{ table: Symbol('t'), key: 'k', field: 'n', action: 'add', value: 1 }],
    'effects.0',
  ],
  ['no field', [{ table: 't', key: 'k', action: 'add', value: 1 }], 'effects.0'],
  ['no list', undefined, 'effects'],
  ['text', '', 'effects'],
  ['a set', new Set([{ table: 't', key: 'k', field: 'n', action: 'add', value: 1 }]), 'effects'],
  ['a promise', Promise.resolve([]), 'effects'],
];

const spoilt = defineContract('spoilt', {
  byBlue: { access: 'write', args: z.object({}), result: z.null() },
  byDeclared: { access: 'write', args: z.object({}), result: z.null(), color: 'blue' },
  byRed: { access: 'write', args: z.object({}), result: z.null() },
  count: contract.operations.count,
});

describe.each(['byBlue', 'byDeclared', 'byRed'] as const)('%s', (name) => {
  test.each(SPOILT)(
    '%s → INVALID_ARGUMENT that names its place, and the site goes on',
    async (_, effects, field) => {
      const value = effects as readonly Effect<unknown, 'blue', false>[];
      const spoiltService = defineService(spoilt, {
        tables: { t: table({ f: boundedCounter({ min: 0 }), n: counter() }) },
        shadowOperations: ({ t }) => ({
          blue: blue((_args: object) => value),
          red: red((_args: object) => value),
          count: red((_args: object) => [t.row('k').n.add(1)]),
        }),
        generators: {
          byBlue: (args, { shadow }) => shadow.blue(args, null),
          byDeclared: (args, { shadow }) => shadow.blue(args, null),
          byRed: (args, { shadow }) => shadow.red(args, null),
          count: (args, { tables, shadow }) => shadow.count(args, tables.t.row('k').n + 1),
        },
      });
      const deployment = createEmbedded(spoiltService, { sites: ['a'] });
      onTestFinished(() => deployment.close());
      const client = createClient(deployment.site('a'));
      await expect(client.invoke(spoilt[name]({}))).rejects.toMatchObject({
        code: 'INVALID_ARGUMENT',
        field,
      });
      expect(await client.invoke(spoilt.count({}))).toBe(1);
    },
  );
});
