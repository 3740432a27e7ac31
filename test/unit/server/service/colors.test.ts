/** Colors of shadow operations: declared by themselves, by the service, or by a tool. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createClient } from '../../../../src/correctable/client/client.ts';
import { defineContract } from '../../../../src/contract/contract.ts';
import { createEmbedded } from '../../../../src/server/node/embedded/embedded.ts';
import { defineService, withColors, type Service } from '../../../../src/server/service/service.ts';
import {
  blue,
  red,
  shadow,
  type ShadowOperations,
} from '../../../../src/server/service/shadow-operation.ts';
import { counter, stock, table } from '../../../../src/server/service/tables.ts';

const args = z.object({ account: z.string() });
const bank = defineContract('bank', {
  pay: { access: 'write', args, result: z.null() },
  withdraw: { access: 'write', args, result: z.boolean() },
});

interface Named {
  readonly account: string;
}

/** An account whose withdrawals have no color of their own. */
function bankService(color: 'blue' | 'red'): Service {
  return defineService(bank, {
    tables: { accounts: table({ balance: counter() }) },
    shadowOperations: ({ accounts }) => ({
      pay: blue((a: Named) => [accounts.row(a.account).balance.add(10)]),
      withdraw: shadow((a: Named) => [accounts.row(a.account).balance.add(-10)]),
    }),
    colors: { withdraw: color },
    generators: {
      pay: (value, { shadow: chosen }) => chosen.pay(value, null),
      withdraw: (value, { tables, shadow: chosen }) =>
        tables.accounts.row(value.account).balance >= 10 && chosen.withdraw(value, true),
    },
  }) as unknown as Service;
}

/** The levels of all views of a withdrawal from an account that has enough. */
async function levelsOf(service: Service): Promise<readonly string[]> {
  const deployment = createEmbedded(service, { sites: ['ireland'] });
  try {
    const client = createClient(deployment.site('ireland'));
    await client.invoke(bank.pay({ account: 'ann' }));
    const levels: string[] = [];
    for await (const { level } of client.invoke(bank.withdraw({ account: 'ann' })))
      levels.push(level);
    return levels;
  } finally {
    await deployment.close();
  }
}

/** A service of no operations, with these shadow operations and colors. */
const serviceOf = (shadowOperations: ShadowOperations, colors?: unknown): Service =>
  defineService(defineContract('none', {}), {
    tables: {},
    shadowOperations: () => shadowOperations,
    generators: {},
    ...(colors !== undefined && { colors: colors }),
  } as never) as unknown as Service;

const effects = () => [];

describe('colors of a service', () => {
  test('declared for one that shadow made → as if blue or red had made it', async () => {
    expect(bankService('blue').colors).toEqual({ pay: 'blue', withdraw: 'blue' });
    expect(await levelsOf(bankService('blue'))).toEqual(['causal']);
    expect(await levelsOf(bankService('red'))).toEqual(['tentative', 'strong']);
  });

  test('nothing red → what changes nothing need not be certified; something red → it must', () => {
    expect([...bankService('blue').maybeRed]).toEqual([]);
    expect([...bankService('red').maybeRed]).toEqual(['pay', 'withdraw']);
  });

  test.each([
    ['missing', { add: shadow(effects) }, undefined, 'colors.add'],
    [
      'missing beside others',
      { add: shadow(effects), take: shadow(effects) },
      { take: 'red' },
      'colors.add',
    ],
    [
      'of a name that every object has',
      { add: blue(effects) },
      { toString: 'red' },
      'colors.toString',
    ],
    ['declared twice', { add: blue(effects) }, { add: 'red' }, 'colors.add'],
    [
      'no color, of one that nothing made',
      { add: { effects, color: 'green' } },
      undefined,
      'colors.add',
    ],
    ['blue, of one with a reply', { add: shadow(effects, () => 1) }, { add: 'blue' }, 'colors.add'],
  ] as const)('%s → INVALID_ARGUMENT naming it', (_what, shadowOperations, colors, field) => {
    const call = (): Service => serviceOf(shadowOperations as unknown as ShadowOperations, colors);
    expect(call).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT', field }));
  });
});

describe('withColors', () => {
  test('another color → the service runs by it, and the given one as before', async () => {
    const service = bankService('red');
    const blueOne = withColors(service, { withdraw: 'blue' });
    expect(blueOne.colors).toEqual({ pay: 'blue', withdraw: 'blue' });
    expect([...blueOne.maybeRed]).toEqual([]);
    expect(await levelsOf(blueOne)).toEqual(['causal']);
    expect(await levelsOf(service)).toEqual(['tentative', 'strong']);
  });

  test('of what blue or red made → it is withColors too', async () => {
    const redOne = withColors(bankService('blue'), { pay: 'red', withdraw: 'red' });
    expect(redOne.colors).toEqual({ pay: 'red', withdraw: 'red' });
    expect(await levelsOf(redOne)).toEqual(['tentative', 'strong']);
  });

  test.each([
    ['no color', { add: 'green' }, 'colors.add'],
    ['blue, of one with a reply', { take: 'blue' }, 'colors.take'],
  ])('%s → INVALID_ARGUMENT naming it', (_what, colors, field) => {
    const service = serviceOf({
      add: blue(effects),
      take: red(effects, () => 1),
    } as unknown as ShadowOperations);
    const call = (): Service => withColors(service, colors as never);
    expect(call).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT', field }));
  });

  test('blue, with an effect that only red ones may have → its operation fails, as it does where blue made it', async () => {
    const beds = defineContract('beds', {
      take: { access: 'write', args: z.object({}), result: z.null() },
    });
    const service = defineService(beds, {
      tables: { beds: table({ left: stock() }) },
      shadowOperations: (tables) => ({
        take: red((_args: object) => [tables.beds.row('all').left.take(1)]),
      }),
      generators: { take: (_args, { shadow: chosen }) => chosen.take({}, null) },
    });
    const deployment = createEmbedded(withColors(service, { take: 'blue' }), {
      sites: ['ireland'],
    });
    const taken = createClient(deployment.site('ireland')).invoke(beds.take({}));
    await expect(taken).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await deployment.close();
  });
});
