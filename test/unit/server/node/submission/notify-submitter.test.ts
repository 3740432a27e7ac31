/**
 * A result that cannot be delivered fails only its own submission: not the others of its turn, nor
 * what is stored with them.
 */
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import type { InvocationContext, Sink } from '../../../../../src/correctable/binding.ts';
import { createClient, isCorrectableError } from '../../../../../src/index.ts';
import type { Binding } from '../../../../../src/index.ts';
import { defineContract } from '../../../../../src/contract/contract.ts';
import { createEmbedded } from '../../../../../src/server/node/embedded/embedded.ts';
import { defineService } from '../../../../../src/server/service/service.ts';
import { blue } from '../../../../../src/server/service/shadow-operation.ts';
import { counter, table } from '../../../../../src/server/service/tables.ts';
import type { RedBlueLevels } from '../../../../../src/protocol/redblue-levels.ts';
import { singleSiteService } from '../../../../../src/testing/single-site-service.ts';

/**
 * A value that can be read while it is checked, but no more when it is copied for the submitter.
 */
function unreadable(): object {
  return {
    get x(): number {
      if (/copyForWire/.test(String(new Error('looked at').stack)))
        throw new Error('looked at once more');
      return 1;
    },
  };
}

const args = z.object({});
const contract = defineContract('odd', {
  odd: { access: 'read', args, result: z.unknown() },
  addOdd: { access: 'write', args, result: z.unknown() },
  add: { access: 'write', args, result: z.null() },
  get: { access: 'read', args, result: z.number() },
});
const service = defineService(contract, {
  tables: { t: table({ sum: counter() }) },
  shadowOperations: ({ t }) => ({ add: blue((_args: object) => [t.row('k').sum.add(1)]) }),
  generators: {
    odd: () => unreadable(),
    addOdd: (_args, { shadow }) => shadow.add({}, unreadable()),
    add: (_args, { shadow }) => shadow.add({}, null),
    get: (_args, { tables }) => tables.t.row('k').sum,
  },
});

async function siteOf(): Promise<Binding<RedBlueLevels>> {
  const deployment = await createEmbedded(service, { sites: ['ireland'] });
  onTestFinished(() => deployment.close());
  return deployment.site('ireland');
}

const codeOf = (invoked: PromiseLike<unknown>): PromiseLike<unknown> =>
  invoked.then(
    (value) => value,
    (error: unknown) => (isCorrectableError(error) ? error.code : error),
  );

const PLACES: readonly [string, () => Promise<Binding<RedBlueLevels>>][] = [
  ['a site', siteOf],
  ['a plain service', async () => singleSiteService(service)],
];

describe.each(PLACES)('%s', (_name, bindingOf) => {
  test('the result of a read that can be read once → as it was read', async () => {
    const client = createClient(await bindingOf());
    const turn = [
      codeOf(client.invokeWeak(contract.odd({}))),
      codeOf(client.invokeWeak(contract.get({}))),
      codeOf(client.invoke(contract.add({}))),
    ];
    expect(await Promise.all(turn)).toEqual([{ x: 1 }, 0, null]);
    expect(await client.invoke(contract.add({}))).toBe(null);
    expect(await client.invokeStrong(contract.get({}))).toBe(2);
  });

  test('the result of a write that can be read once → as it was read, for it is kept', async () => {
    const client = createClient(await bindingOf());
    const turn = [contract.addOdd({}), contract.add({})].map((requested) =>
      codeOf(client.invoke<unknown>(requested)),
    );
    const [odd, plain] = await Promise.all(turn);
    const sum = await client.invokeStrong(contract.get({}));
    expect([odd, plain, sum]).toEqual([{ x: 1 }, null, 2]);
  });

  test('one of several sinks of a turn throws → the others get their views, and go on', async () => {
    const binding = await bindingOf();
    const heard: unknown[] = [];
    const submit = (
      requested: Parameters<typeof binding.submitOperation>[0],
      isThrowing: boolean,
    ): Promise<unknown> =>
      new Promise((resolve) => {
        const context = { signal: new AbortController().signal } as InvocationContext;
        const sink = {
          view: (value: unknown) => {
            heard.push(value);
            resolve(value);
            if (isThrowing) throw new Error('thrown at a view');
            return 0;
          },
          confirm: () => {},
          fail: () => {
            throw new Error('thrown at a failure');
          },
        } as unknown as Sink<unknown, 'tentative' | 'causal' | 'strong'>;
        try {
          binding.submitOperation(requested, ['causal'], sink, context);
        } catch {
          // If a sink throws while it submits, the error is thrown back to it.
        }
      });
    const turn = [
      submit(contract.get({}), true),
      submit(contract.get({}), false),
      submit(contract.add({}), true),
      submit(contract.add({}), false),
    ];
    expect(await Promise.all(turn)).toEqual([0, 0, null, null]);
    expect(await submit(contract.get({}), false)).toBe(2);
    expect(await submit(contract.add({}), false)).toBe(null);
  });

  test.each([
    [contract.get({}), ['causal'], 'FINAL_FAILED'],
    [contract.get({}), ['strong'], 'FINAL_FAILED'],
    [contract.add({}), ['strong'], 'UNKNOWN'],
  ] as const)(
    'a sink that throws at its last view of $name at $1 → it gets the failure $2',
    async (requested, levels, code) => {
      const binding = await bindingOf();
      const heard = await new Promise((resolve) => {
        const update = (): never => {
          throw new Error('thrown at a view');
        };
        const fail = (error: unknown, level?: string): void =>
          resolve([isCorrectableError(error) && error.code, level]);
        const sink = { view: update, fail, confirm: () => {} } as unknown as Sink<
          unknown,
          RedBlueLevels[number]
        >;
        binding.submitOperation<unknown>(requested, levels, sink, {
          signal: new AbortController().signal,
        } as InvocationContext);
      });
      expect(heard).toEqual([code, undefined]);
    },
  );
});
