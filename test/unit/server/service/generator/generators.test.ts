/**
 * Generators: what they can read, their scratchpad, the contract's results, and what happens when
 * they misbehave.
 */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { createClient } from '../../../../../src/correctable/client/client.ts';
import { defineContract } from '../../../../../src/contract/contract.ts';
import { createEmbedded } from '../../../../../src/server/node/embedded/embedded.ts';
import type { Embedded } from '../../../../../src/server/node/embedded/embedded.ts';
import type { GeneratorLimits } from '../../../../../src/server/service/generator/generator-budget.ts';
import { defineService } from '../../../../../src/server/service/service.ts';
import { blue, red } from '../../../../../src/server/service/shadow-operation.ts';
import { counter, queue, register, set, table } from '../../../../../src/server/service/tables.ts';

const deployments: Embedded[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  for (const deployment of deployments.splice(0)) await deployment.close();
});

describe('shop (RedBlue, OSDI 2012, Figure 7)', () => {
  const cart = z.object({ cart: z.string() });
  const shop = defineContract('shop', {
    addToCart: {
      access: 'write',
      args: z.object({ cart: z.string(), item: z.string(), quantity: z.int() }),
      result: z.null(),
    },
    buy: {
      access: 'write',
      args: cart,
      result: z.object({ order: z.string(), left: z.record(z.string(), z.int()) }).nullable(),
    },
    setStock: {
      access: 'write',
      args: z.object({ item: z.string(), stock: z.int() }),
      result: z.null(),
    },
    lines: { access: 'read', args: cart, result: z.array(z.string()) },
    ordersOf: {
      access: 'read',
      args: z.object({ customer: z.string() }),
      result: z.array(z.string()),
    },
    tagged: { access: 'read', args: z.object({ tag: z.string() }), result: z.array(z.string()) },
  });
  type Sold = { readonly line: string; readonly item: string; readonly quantity: number };
  const service = defineService(shop, {
    tables: {
      items: table({ stock: counter() }),
      lines: table({ item: register<string>(), quantity: counter() }, { removable: true }),
      orders: table(
        { customer: register<string>(), tags: set<string>() },
        { indexes: ['customer', 'tags'] },
      ),
    },
    shadowOperations: ({ items, lines, orders }) => ({
      setStock: red((a: { item: string; stock: number }) => [items.row(a.item).stock.add(a.stock)]),
      addLine: blue((a: Sold) => [
        lines.row(a.line).item.write(a.item),
        lines.row(a.line).quantity.add(a.quantity),
      ]),
      sell: red((a: { sold: Sold }) => [
        items.row(a.sold.item).stock.add(-a.sold.quantity),
        lines.remove(a.sold.line),
      ]),
      buy: red((a: { order: string; cart: string; sold: readonly Sold[] }) => [
        orders.row(a.order).customer.write(a.cart),
        ...a.sold.flatMap(({ line, item, quantity }) => [
          items.row(item).stock.add(-quantity),
          lines.remove(line),
        ]),
        orders.row(a.order).tags.add('new'),
      ]),
    }),
    generators: {
      setStock: ({ item, stock }, { shadow }) => shadow.setStock({ item, stock }, null),
      addToCart: ({ cart: id, item, quantity }, { shadow }) =>
        shadow.addLine({ line: `${id}/${item}`, item, quantity }, null),
      buy: ({ cart: id }, { tables, shadow, scratchpad, uniqueId }) => {
        const left: Record<string, number> = {};
        const sold: Sold[] = [];
        for (;;) {
          // The scratchpad removes each line that was sold: the scan gives the next one.
          const [line] = tables.lines.keys({ prefix: `${id}/`, limit: 1 });
          if (line === undefined) break;
          const { item = '', quantity } = tables.lines.row(line);
          const element = { line, item, quantity };
          scratchpad.apply(shadow.sell({ sold: element }, null));
          if (tables.items.row(item).stock < 0) return null;
          left[item] = tables.items.row(item).stock;
          sold.push(element);
        }
        const order = uniqueId();
        return sold.length === 0 ? null : shadow.buy({ order, cart: id, sold }, { order, left });
      },
      lines: ({ cart: id }, { tables }) => tables.lines.keys({ prefix: `${id}/` }) as string[],
      ordersOf: ({ customer }, { tables }) =>
        tables.orders.by.customer({ equals: customer }) as string[],
      tagged: ({ tag }, { tables }) => tables.orders.by.tags({ prefix: tag }) as string[],
    },
  });
  const start = (): ReturnType<
    typeof createClient<readonly ['tentative', 'causal', 'strong']>
  >[] => {
    const deployment = createEmbedded(service, {
      sites: ['ireland', 'frankfurt'],
      generators: { determinismCheckRate: 1 },
    });
    deployments.push(deployment);
    return (['ireland', 'frankfurt'] as const).map((site) => createClient(deployment.site(site)));
  };

  test('identifier at a site of any name → stands in a URL as it is', async () => {
    const deployment = createEmbedded(service, { sites: ['Zürich 1/2'] });
    deployments.push(deployment);
    const client = createClient(deployment.site('Zürich 1/2'));
    await client.invoke(shop.setStock({ item: 'apple', stock: 5 }));
    await client.invoke(shop.addToCart({ cart: 'ann', item: 'apple', quantity: 2 }));
    const { order } = (await client.invoke(shop.buy({ cart: 'ann' }))) ?? { order: '' };
    expect(order).toMatch(/^Z~fc~rich~20~1~2f~2-/);
    expect(encodeURIComponent(order)).toBe(order);
  });

  test('checkout by scratchpad → stock, cart and order as one operation', async () => {
    const [ireland] = start();
    for (const item of ['apple', 'pear']) await ireland?.invoke(shop.setStock({ item, stock: 5 }));
    await ireland?.invoke(shop.addToCart({ cart: 'ann', item: 'apple', quantity: 2 }));
    await ireland?.invoke(shop.addToCart({ cart: 'ann', item: 'pear', quantity: 1 }));
    await ireland?.invoke(shop.addToCart({ cart: 'anna', item: 'pear', quantity: 1 }));
    const bought = await ireland?.invoke(shop.buy({ cart: 'ann' }));
    expect(bought?.left).toEqual({ apple: 3, pear: 4 });
    expect(await ireland?.invoke(shop.lines({ cart: 'ann' }))).toEqual([]);
    expect(await ireland?.invoke(shop.lines({ cart: 'anna' }))).toEqual(['anna/pear']);
    expect(await ireland?.invoke(shop.ordersOf({ customer: 'ann' }))).toEqual([bought?.order]);
    expect(await ireland?.invoke(shop.ordersOf({ customer: 'anna' }))).toEqual([]);
    expect(await ireland?.invoke(shop.tagged({ tag: 'n' }))).toEqual([bought?.order]);
  });

  test('scratchpad shows too little stock → nothing chosen, nothing changed', async () => {
    const [ireland] = start();
    await ireland?.invoke(shop.setStock({ item: 'apple', stock: 1 }));
    await ireland?.invoke(shop.addToCart({ cart: 'ann', item: 'apple', quantity: 2 }));
    expect(await ireland?.invoke(shop.buy({ cart: 'ann' }))).toBeNull();
    expect(await ireland?.invoke(shop.lines({ cart: 'ann' }))).toEqual(['ann/apple']);
  });

  test('a line put into the cart again after the sale → there again, with its own quantity', async () => {
    const [ireland, frankfurt] = start();
    await ireland?.invoke(shop.setStock({ item: 'apple', stock: 9 }));
    await ireland?.invoke(shop.addToCart({ cart: 'ann', item: 'apple', quantity: 2 }));
    await ireland?.invoke(shop.buy({ cart: 'ann' }));
    await ireland?.invoke(shop.addToCart({ cart: 'ann', item: 'apple', quantity: 3 }));
    expect((await ireland?.invoke(shop.buy({ cart: 'ann' })))?.left).toEqual({ apple: 4 });
    expect(await frankfurt?.invokeStrong(shop.lines({ cart: 'ann' }))).toEqual([]);
  });
});

describe('misbehaving', () => {
  const none = z.object({});
  const contract = defineContract('odd', {
    wrongResult: { access: 'write', args: none, result: z.object({ count: z.int() }) },
    wrongReply: { access: 'write', args: none, result: z.object({ count: z.int() }) },
    extra: { access: 'read', args: none, result: z.object({ name: z.string() }) },
    waits: { access: 'read', args: none, result: z.unknown() },
    thrown: {
      access: 'read',
      args: none,
      result: z.unknown().refine((value) => (value as string[]).length < 5),
    },
    getter: { access: 'read', args: none, result: z.unknown() },
    getterSold: { access: 'write', args: none, result: z.unknown() },
    clock: { access: 'write', args: none, result: z.null() },
    counts: { access: 'read', args: none, result: z.number() },
    steps: { access: 'write', args: none, result: z.null() },
    effects: { access: 'write', args: none, result: z.null() },
    fine: { access: 'write', args: none, result: z.null() },
    heldUp: { access: 'write', args: none, result: z.null() },
    count: { access: 'read', args: none, result: z.number() },
  });
  const unreadable = {
    get cause() {
      throw Object.create(null) as Error;
    },
  };
  let calls = 0;
  let retained = (): void => {};
  const service = defineService(contract, {
    tables: { rows: table({ n: counter(), items: queue<number>() }) },
    shadowOperations: ({ rows }) => ({
      add: blue((a: { amount: number }) => [rows.row('r').n.add(a.amount)]),
      many: blue((a: { count: number }) =>
        Array.from({ length: a.count }, () => rows.row('r').n.add(1)),
      ),
      push: red(
        (_args: object) => [rows.row('r').items.push(1)],
        ([{ size }]) => ({ count: size + 0.5 }),
      ),
    }),
    generators: {
      wrongResult: (_, { shadow }) =>
        shadow.add({ amount: 1 }, { count: 'many' as unknown as number }),
      wrongReply: (_, { shadow }) => shadow.push({}),
      extra: () => ({ name: 'ann', password: 'secret' }),
      waits: () => Promise.reject(new Error('no caller waits for it')),
      thrown: () => null,
      getter: () => unreadable,
      getterSold: (_, { shadow }) => shadow.add({ amount: 1 }, unreadable),
      clock: (_, { shadow }) => shadow.add({ amount: Math.floor(performance.now() * 1e6) }, null),
      counts: () => (calls += 1),
      steps: (_, { tables, shadow }) => {
        for (;;) if (tables.rows.row('r').n > 1e9) return shadow.add({ amount: 1 }, null);
      },
      effects: (_, { shadow }) => shadow.many({ count: 11 }, null),
      fine: (_, { shadow }) => shadow.add({ amount: 1 }, null),
      heldUp: (_, { shadow }) => {
        retained();
        return shadow.add({ amount: 1 }, null);
      },
      count: (_, { tables }) => tables.rows.row('r').n,
    },
  });
  const start = (generators: Partial<GeneratorLimits> = {}) => {
    const deployment = createEmbedded(service, {
      sites: ['only'],
      generators: { determinismCheckRate: 0, ...generators },
    });
    deployments.push(deployment);
    return createClient(deployment.site('only'));
  };

  test('result that breaks the contract → INVALID_VALUE with its path, and nothing is changed', async () => {
    const client = start();
    const wrong = client.invoke(contract.wrongResult({}));
    await expect(wrong).rejects.toMatchObject({ code: 'INVALID_VALUE', field: 'result.count' });
    expect(await client.invoke(contract.count({}))).toBe(0);
  });

  test('the reply of a shadow operation breaks the contract → the preview fails with the cause, and the final fails with UNKNOWN', async () => {
    const failures: unknown[] = [];
    const wrong = start().invoke(contract.wrongReply({}));
    const taken = { code: 'UNKNOWN', retryable: false, field: 'result.count' };
    await expect(wrong).rejects.toMatchObject({
      ...taken,
      message: expect.stringContaining('has taken effect'),
    });
    await wrong
      .settle()
      .catch((error: { levelErrors: Record<string, unknown> }) => failures.push(error.levelErrors));
    expect(failures).toEqual([{ tentative: expect.objectContaining({ code: 'INVALID_VALUE' }) }]);
  });

  test('result with more than the contract names → the rest stays at the server', async () => {
    expect(await start().invoke(contract.extra({}))).toEqual({ name: 'ann' });
  });

  test('promise → INVALID_VALUE', async () => {
    await expect(start().invoke(contract.waits({}))).rejects.toMatchObject({
      code: 'INVALID_VALUE',
    });
  });

  test('schema or result that throws while it is looked at → that operation fails at each level, the site goes on', async () => {
    const client = start();
    for (const level of ['causal', 'strong'] as const) {
      const levels = [level] as const;
      await expect(client.invoke(contract.thrown({}), { levels })).rejects.toMatchObject({
        code: 'INVALID_VALUE',
      });
      await expect(client.invoke(contract.getter({}), { levels })).rejects.toMatchObject({
        code: 'FINAL_FAILED',
      });
    }
    await expect(client.invoke(contract.getterSold({}))).rejects.toMatchObject({
      code: 'FINAL_FAILED',
    });
    expect(await client.invokeStrong(contract.count({}))).toBe(0);
  });

  for (const name of ['clock', 'counts'] as const) {
    test(`${name}: not deterministic → FINAL_FAILED when runs are repeated`, async () => {
      const wrong = start({ determinismCheckRate: 1 }).invoke(contract[name]({}));
      await expect(wrong).rejects.toMatchObject({
        code: 'FINAL_FAILED',
        field: `generators.${name}`,
      });
      await expect(wrong).rejects.toThrow('not deterministic');
    });
  }

  const tooLong: [
    name: 'steps' | 'effects',
    settings: Partial<GeneratorLimits>,
    message: string,
  ][] = [
    ['steps', { maxSteps: 1000 }, 'more than 1000 steps'],
    ['steps', { maxSteps: 1e9, timeoutMs: 250 }, 'more than 250 ms'],
    ['effects', { maxEffects: 10 }, 'more than 10 effects'],
  ];
  test.each(tooLong)(
    '%s with %o → FINAL_FAILED, and the site goes on',
    async (name, settings, message) => {
      const client = start(settings);
      const wrong = client.invoke(contract[name]({}));
      await expect(wrong).rejects.toMatchObject({
        code: 'FINAL_FAILED',
        message: expect.stringContaining(message),
      });
      await client.invoke(contract.fine({}));
      expect(await client.invoke(contract.count({}))).toBe(1);
    },
  );

  test('a process that pauses while a generator runs → the generator runs again, and its limits stay', async () => {
    const now = performance.now.bind(performance);
    let heldUpMs = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => now() + heldUpMs);
    let runs = 0;
    retained = () => {
      runs += 1;
      if (runs === 1 || runs === 3) heldUpMs += 60_000;
    };
    const client = start({ determinismCheckRate: 1 });
    await client.invoke(contract.heldUp({}));
    expect(await client.invoke(contract.count({}))).toBe(1);
    expect(runs).toBe(4);
  });
});
