/** Colours of shadow operations: said by themselves, by the service, or by a tool. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createClient } from '../../../../src/correctable/made/client.ts';
import { defineContract } from '../../../../src/protocol/contract/contract.ts';
import { createEmbedded } from '../../../../src/server/embedded.ts';
import { defineService, recoloured, type Service } from '../../../../src/server/service/service.ts';
import { blue, red, shadow, type ShadowOperations } from '../../../../src/server/service/shadow-operation.ts';
import { counter, stock, table } from '../../../../src/server/service/tables.ts';

const args = z.object({ account: z.string() });
const bank = defineContract('bank', {
  pay: { effect: 'update', args, result: z.null() },
  withdraw: { effect: 'update', args, result: z.boolean() },
});

interface Named {
  readonly account: string;
}

/** An account whose withdrawals have no colour of their own. */
function bankService(colour: 'blue' | 'red'): Service {
  return defineService(bank, {
    tables: { accounts: table({ balance: counter() }) },
    shadowOperations: ({ accounts }) => ({
      pay: blue((a: Named) => [accounts.row(a.account).balance.add(10)]),
      withdraw: shadow((a: Named) => [accounts.row(a.account).balance.add(-10)]),
    }),
    colours: { withdraw: colour },
    generators: {
      pay: (given, { shadow: chosen }) => chosen.pay(given, null),
      withdraw: (given, { tables, shadow: chosen }) =>
        tables.accounts.row(given.account).balance >= 10 && chosen.withdraw(given, true),
    },
  }) as unknown as Service;
}

/** The levels of all views of a withdrawal from an account that has enough. */
async function levelsOf(service: Service): Promise<readonly string[]> {
  const deployment = createEmbedded(service, { sites: ['irl'] });
  try {
    const client = createClient(deployment.site('irl'));
    await client.invoke(bank.pay({ account: 'ann' }));
    const levels: string[] = [];
    for await (const { level } of client.invoke(bank.withdraw({ account: 'ann' }))) levels.push(level);
    return levels;
  } finally {
    await deployment.close();
  }
}

/** A service of no operations, with these shadow operations and colours. */
const serviceOf = (shadowOperations: ShadowOperations, colours?: unknown): Service =>
  defineService(defineContract('none', {}), {
    tables: {},
    shadowOperations: () => shadowOperations,
    generators: {},
    ...(colours !== undefined && { colours }),
  } as never) as unknown as Service;

const effects = () => [];

describe('colours of a service', () => {
  test('said of what shadow made → as if blue or red had made it', async () => {
    expect(bankService('blue').colours).toEqual({ pay: 'blue', withdraw: 'blue' });
    expect(await levelsOf(bankService('blue'))).toEqual(['causal']);
    expect(await levelsOf(bankService('red'))).toEqual(['tentative', 'strong']);
  });

  test('nothing red → what changes nothing need not be certified; something red → it must', () => {
    expect([...bankService('blue').maybeRed]).toEqual([]);
    expect([...bankService('red').maybeRed]).toEqual(['pay', 'withdraw']);
  });

  test.each([
    ['missing', { add: shadow(effects) }, undefined, 'colours.add'],
    ['missing beside others', { add: shadow(effects), take: shadow(effects) }, { take: 'red' }, 'colours.add'],
    ['of no shadow operation', { add: blue(effects) }, { sub: 'red' }, 'colours.sub'],
    ['of a name that every object has', { add: blue(effects) }, { toString: 'red' }, 'colours.toString'],
    ['said twice', { add: blue(effects) }, { add: 'red' }, 'colours.add'],
    ['no colour', { add: shadow(effects) }, { add: 'green' }, 'colours.add'],
    ['no colour, of one that nothing made', { add: { effects, colour: 'green' } }, undefined, 'colours.add'],
    ['blue, of one with a reply', { add: shadow(effects, () => 1) }, { add: 'blue' }, 'colours.add'],
    ['one for all', { add: shadow(effects) }, 'red', 'colours'],
  ] as const)('%s → INVALID_ARGUMENT naming it', (_what, shadowOperations, colours, field) => {
    const call = (): Service => serviceOf(shadowOperations as unknown as ShadowOperations, colours);
    expect(call).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT', field }));
  });
});

describe('recoloured', () => {
  test('another colour → the service runs by it, and the given one as before', async () => {
    const service = bankService('red');
    const blueOne = recoloured(service, { withdraw: 'blue' });
    expect(blueOne.colours).toEqual({ pay: 'blue', withdraw: 'blue' });
    expect([...blueOne.maybeRed]).toEqual([]);
    expect(await levelsOf(blueOne)).toEqual(['causal']);
    expect(await levelsOf(service)).toEqual(['tentative', 'strong']);
  });

  test('of what blue or red made → it is recoloured too', async () => {
    const redOne = recoloured(bankService('blue'), { pay: 'red', withdraw: 'red' });
    expect(redOne.colours).toEqual({ pay: 'red', withdraw: 'red' });
    expect(await levelsOf(redOne)).toEqual(['tentative', 'strong']);
  });

  test.each([
    ['of no shadow operation', { sub: 'red' }, 'colours.sub'],
    ['no colour', { add: 'green' }, 'colours.add'],
    ['blue, of one with a reply', { take: 'blue' }, 'colours.take'],
  ])('%s → INVALID_ARGUMENT naming it', (_what, colours, field) => {
    const service = serviceOf({ add: blue(effects), take: red(effects, () => 1) } as unknown as ShadowOperations);
    const call = (): Service => recoloured(service, colours as never);
    expect(call).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT', field }));
  });

  test('blue, with an effect that only red ones may have → its operation fails, as it does where blue made it', async () => {
    const beds = defineContract('beds', { take: { effect: 'update', args: z.object({}), result: z.null() } });
    const service = defineService(beds, {
      tables: { beds: table({ left: stock() }) },
      shadowOperations: (tables) => ({ take: red((_args: object) => [tables.beds.row('all').left.take(1)]) }),
      generators: { take: (_args, { shadow: chosen }) => chosen.take({}, null) },
    });
    const deployment = createEmbedded(recoloured(service, { take: 'blue' }), { sites: ['irl'] });
    const taken = createClient(deployment.site('irl')).invoke(beds.take({}));
    await expect(taken).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await deployment.close();
  });
});
