/**
 * `local` where it has no place (docs/spec/redblue.md, RB-V1, RB-V4 and RB-V4a): refused with what
 * to do, and nothing is done.
 */
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { createClient } from '../../../../src/correctable/client/client.ts';
import type { Client } from '../../../../src/correctable/client/client.ts';
import { defineContract } from '../../../../src/contract/contract.ts';
import { createEmbedded } from '../../../../src/server/node/embedded/embedded.ts';
import { uncertified, withMeta } from '../../../../src/server/service/records/reply.ts';
import { defineService } from '../../../../src/server/service/service.ts';
import { blue, red } from '../../../../src/server/service/shadow-operation.ts';
import type { RedBlueLevels } from '../../../../src/protocol/redblue-levels.ts';
import { counter, queue, table } from '../../../../src/server/service/tables.ts';

const args = z.object({});
// Lets through whatever is an object, and keeps nothing of it.
const loose = { access: 'write', args, result: z.object({}) } as const;

const contract = defineContract('odd', {
  effects: loose,
  blueEffects: loose,
  nested: loose,
  aroundMeta: loose,
  inMeta: loose,
  twiceMeta: loose,
  beside: loose,
  besideBlue: loose,
  inReply: loose,
  chosenInReply: loose,
  declaredRed: { ...loose, color: 'red' },
  declaredBlue: { ...loose, color: 'blue' },
  named: loose,
  plain: loose,
  total: { access: 'read', args, result: z.int() },
  size: { access: 'read', args, result: z.int() },
});

/** As a service in JavaScript has it, where no types stand in the way. */
const untyped = (value: unknown): never => value as never;

const service = defineService(contract, {
  tables: { rows: table({ n: counter(), q: queue<number>() }) },
  shadowOperations: ({ rows }) => ({
    add: blue((_args: object) => [rows.row('r').n.add(1)]),
    take: red((_args: object) => [rows.row('r').n.add(-1)]),
    push: red(
      (_args: object) => [rows.row('r').q.push(1)],
      (): Record<string, never> => untyped(uncertified({})),
    ),
    chain: red(
      (_args: object) => [rows.row('r').q.push(1)],
      (): Record<string, never> => untyped(withMeta(untyped(uncertified({})), {})),
    ),
  }),
  generators: {
    effects: (_, { shadow }) => untyped(uncertified(untyped(shadow.take({}, {})))),
    blueEffects: (_, { shadow }) => untyped(uncertified(untyped(shadow.add({}, {})))),
    nested: () => untyped(uncertified(untyped(uncertified({})))),
    aroundMeta: () => uncertified(withMeta({}, { at: 'site' })),
    inMeta: () => untyped(withMeta(uncertified({}), {})),
    twiceMeta: () => untyped(withMeta(withMeta({}, {}), {})),
    beside: (_, { shadow }) => untyped(shadow.take({}, uncertified({}))),
    besideBlue: (_, { shadow }) => untyped(shadow.add({}, uncertified({}))),
    inReply: (_, { shadow }) => shadow.push({}),
    chosenInReply: (_, { shadow }) => shadow.chain({}),
    declaredRed: () => untyped(uncertified({})),
    declaredBlue: () => uncertified({}),
    named: () => uncertified({}),
    plain: () => uncertified({}),
    total: (_, { tables }) => tables.rows.row('r').n,
    size: (_, { tables }) => tables.rows.row('r').q.size,
  },
  alwaysRed: ['named'],
});

function start(): Client<RedBlueLevels> {
  const deployment = createEmbedded(service, {
    sites: ['a'],
    generators: { determinismCheckRate: 1 },
  });
  onTestFinished(() => deployment.close());
  return createClient(deployment.site('a'));
}

async function finalLevelOf(
  name: 'named' | 'plain' | 'declaredBlue' | 'aroundMeta',
): Promise<string | undefined> {
  const reported = start().invoke(contract[name]({}));
  await reported;
  return reported.latest?.level;
}

describe('local', () => {
  test.each([
    ['effects', 'a shadow operation'],
    ['blueEffects', 'a shadow operation'],
    ['nested', 'uncertified()'],
    ['inMeta', 'uncertified()'],
    ['twiceMeta', 'withMeta()'],
    ['beside', 'uncertified()'],
    ['besideBlue', 'uncertified()'],
  ] as const)(
    '%s: where a result belongs → INVALID_ARGUMENT that names %s, nothing changed',
    async (name, description) => {
      const client = start();
      await expect(client.invoke(contract[name]({}))).rejects.toMatchObject({
        code: 'INVALID_ARGUMENT',
        field: `generators.${name}`,
        message: expect.stringContaining(description),
      });
      expect(await client.invokeStrong(contract.total({}))).toBe(0);
    },
  );

  test.each(['inReply', 'chosenInReply'] as const)(
    '%s: given by a reply → UNKNOWN, for it is done',
    async (name) => {
      const client = start();
      const taken = {
        code: 'UNKNOWN',
        retryable: false,
        message: expect.stringContaining('has taken effect'),
      };
      await expect(client.invoke(contract[name]({}))).rejects.toMatchObject(taken);
      expect(await client.invokeStrong(contract.size({}))).toBe(1);
    },
  );

  test('of an operation that is declared red → INVALID_ARGUMENT naming the color', async () => {
    await expect(start().invoke(contract.declaredRed({}))).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      field: 'operations.declaredRed.color',
    });
  });

  test('of one that alwaysRed names → certified all the same', async () => {
    expect(await finalLevelOf('named')).toBe('strong');
  });

  test('of one that may be blue, with meta or without → final at causal', async () => {
    expect(await finalLevelOf('plain')).toBe('causal');
    expect(await finalLevelOf('declaredBlue')).toBe('causal');
    expect(await finalLevelOf('aroundMeta')).toBe('causal');
  });
});
