/**
 * A generator that changes what it has read: refused, whatever kind of field it is in, also after
 * restarts.
 */
// @rule BS-E8
import { beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { InvocationContext, Sink } from '../../../src/correctable/binding.ts';
import { createClient } from '../../../src/index.ts';
import { defineContract } from '../../../src/contract/contract.ts';
import { createEmbedded, openEmbedded } from '../../../src/server/node/embedded/embedded.ts';
import {
  deepFreeze,
  freezeForUser,
  freezeWireCopy,
  freezeArgsCopy,
  freezeOwnArgs,
} from '../../../src/values/deep-freeze.ts';
import { defineService } from '../../../src/server/service/service.ts';
import { blue, red } from '../../../src/server/service/shadow-operation.ts';
import {
  cell,
  counter,
  log,
  queue,
  register,
  set,
  table,
} from '../../../src/server/service/tables.ts';
import type { SiteAlarm } from '../../../src/server/node/alarms/site-alarm.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

interface Cart {
  readonly items: string[];
}

const KINDS = ['register', 'log', 'cell', 'queue'] as const;
/** What holds the values: a set, the array of a log, a queue. */
const HOLDERS = ['set', 'log itself', 'queue itself'] as const;
const kind = z.object({ kind: z.enum([...KINDS, ...HOLDERS]) });
const contract = defineContract('carts', {
  put: { access: 'write', args: z.object({ items: z.array(z.string()) }), result: z.null() },
  putRed: { access: 'write', args: z.object({ items: z.array(z.string()) }), result: z.null() },
  meddle: { access: 'write', args: kind, result: z.null() },
  carts: { access: 'read', args: z.object({}), result: z.unknown() },
});

const service = defineService(contract, {
  tables: {
    blues: table({ register: register<Cart>(), log: log<Cart>(), set: set<string>() }),
    reds: table({ cell: cell<Cart>(), queue: queue<Cart>() }),
  },
  shadowOperations: ({ blues, reds }) => ({
    put: blue((cart: Cart) => [
      blues.row('k').register.write(cart),
      blues.row('k').log.append(cart),
      blues.row('k').set.add('a'),
    ]),
    putRed: red((cart: Cart) => [reds.row('k').cell.assign(cart), reds.row('k').queue.push(cart)]),
  }),
  generators: {
    put: ({ items }, { shadow }) => shadow.put({ items }, null),
    putRed: ({ items }, { shadow }) => shadow.putRed({ items }, null),
    meddle: (args, { tables }) => {
      const [row, redRow] = [tables.blues.row('k'), tables.reds.row('k')];
      const carts = {
        register: row.register,
        log: row.log[0],
        cell: redRow.cell,
        queue: redRow.queue.at(0),
      };
      // What types forbid, and JavaScript does not.
      const holders: Record<string, () => unknown> = {
        set: () => (row.set as Set<string>).add('smuggled'),
        'log itself': () => (row.log as Cart[]).push({ items: ['smuggled'] }),
        'queue itself': () => (redRow.queue as unknown as Cart[]).push({ items: ['smuggled'] }),
      };
      holders[args.kind]?.();
      carts[args.kind as 'register']?.items.push('smuggled');
      return null;
    },
    carts: (_, { tables }) => {
      const [row, redRow] = [tables.blues.row('k'), tables.reds.row('k')];
      return [
        row.register,
        ...row.log,
        redRow.cell,
        redRow.queue.at(0),
        redRow.queue.size,
        [...row.set],
      ];
    },
  },
});

let dataDir: string;
beforeEach(() => void (dataDir = temporaryFolder()));

test('every kind of field → FINAL_FAILED and an alarm, nothing changed at any site; the same after restarts', async () => {
  const cart = { items: ['a'] };
  const causes: unknown[] = [];
  const onAlarm = ({ cause }: SiteAlarm): void => void causes.push(cause);
  // Often enough that a checkpoint takes the place of the log.
  for (let start = 0; start < 7; start += 1) {
    const deployment = await openEmbedded(service, {
      sites: ['ireland', 'frankfurt', 'virginia'],
      dataDir,
      onAlarm,
    });
    const [ireland, frankfurt] = [
      createClient(deployment.site('ireland')),
      createClient(deployment.site('frankfurt')),
    ];
    if (start === 0) {
      await ireland.invokeStrong(contract.put(cart));
      await ireland.invokeStrong(contract.putRed(cart));
    }
    // What was red before a restart is shown once the others have confirmed it.
    await ireland.invokeStrong(contract.carts({}));
    for (const item of [...KINDS, ...HOLDERS]) {
      await expect(ireland.invokeStrong(contract.meddle({ kind: item }))).rejects.toMatchObject({
        code: 'FINAL_FAILED',
      });
      expect(causes.splice(0)).toContainEqual(expect.any(TypeError));
    }
    for (const site of [ireland, frankfurt])
      expect(await site.invokeStrong(contract.carts({}))).toEqual([
        cart,
        cart,
        cart,
        cart,
        1,
        ['a'],
      ]);
    await deployment.close();
  }
});

test('handed out: what has bytes or dates in it → a copy, else itself', () => {
  const [date, bytes, plain] = [new Date(5), new Uint8Array(2), { list: [1] }];
  const value = deepFreeze({ list: [{ date }], bytes, plain });
  const copy = freezeForUser(value);
  expect(copy).toEqual(value);
  copy.list[0]?.date.setTime(77);
  copy.bytes[0] = 9;
  expect([date.getTime(), bytes[0]]).toEqual([5, 0]);
  expect(copy.plain).toBe(plain);
  expect([freezeForUser(plain), freezeForUser(7), freezeForUser(null)]).toEqual([plain, 7, null]);
});

test('a read that changes bytes and dates → changes copies', async () => {
  const bag = defineContract('bag', {
    put: { access: 'write', args: z.object({}), result: z.null() },
    meddle: { access: 'read', args: z.object({}), result: z.unknown() },
  });
  const bags = table({ date: register<Date>(), lines: log<{ bytes: Uint8Array }>() });
  const reds = table({ line: queue<Date>(), owner: cell<Uint8Array>() });
  const bagService = defineService(bag, {
    tables: { bags, reds },
    shadowOperations: (of) => ({
      put: red((_given: object) => [
        of.bags.row('x').date.write(new Date(5)),
        of.bags.row('x').lines.append({ bytes: new Uint8Array(1) }),
        of.reds.row('x').line.push(new Date(6)),
        of.reds.row('x').owner.assign(new Uint8Array(1)),
      ]),
    }),
    generators: {
      put: (_, { shadow }) => shadow.put({}, null),
      meddle: (_, { tables }) => {
        const [row, redRow] = [tables.bags.row('x'), tables.reds.row('x')];
        const [date, lines, next, owner] = [row.date, row.lines, redRow.line.at(0), redRow.owner];
        const seen = [date?.getTime(), lines[0]?.bytes[0], next?.getTime(), owner?.[0]];
        date?.setTime(77);
        next?.setTime(77);
        for (const bytes of [lines[0]?.bytes, owner]) bytes?.fill(77);
        return seen;
      },
    },
  });
  const deployment = createEmbedded(bagService, { sites: ['ireland', 'frankfurt'] });
  const clients = [
    createClient(deployment.site('ireland')),
    createClient(deployment.site('frankfurt')),
  ] as const;
  await clients[0].invokeStrong(bag.put({}));
  for (const client of [...clients, ...clients]) {
    expect(await client.invokeStrong(bag.meddle({}))).toEqual([5, 0, 6, 0]);
  }
  await deployment.close();
});

test('frozen: plain values all through, others as they are', () => {
  const [date, bytes] = [new Date(5), new Uint8Array(2)];
  const value = { list: [{ deep: 1 }], date, bytes, none: null };
  expect(deepFreeze(value)).toBe(value);
  expect([value, value.list, value.list[0]].every((item) => Object.isFrozen(item))).toBe(true);
  expect([date, bytes].some((item) => Object.isFrozen(item))).toBe(false);
  const cycle: unknown[] = [];
  cycle.push(cycle);
  expect(Object.isFrozen(deepFreeze(cycle))).toBe(true);
});

test('frozen by other code at the top only → frozen deeply, and handed out as a copy', () => {
  const value = deepFreeze(Object.freeze({ tags: ['a'], bytes: new Uint8Array(1) }));
  expect(Object.isFrozen(value.tags)).toBe(true);
  expect(freezeForUser(value).bytes).not.toBe(value.bytes);
});

describe('kept', () => {
  test('a copy, frozen all through', () => {
    const input = { list: [{ deep: 1 }] };
    const value = freezeWireCopy(input);
    expect(value).toEqual(input);
    expect([value, value.list, value.list[0]].every((item) => Object.isFrozen(item))).toBe(true);
    expect([input, input.list].some((item) => Object.isFrozen(item))).toBe(false);
    expect(Object.isFrozen(freezeWireCopy(Object.freeze({ tags: ['a'] })).tags)).toBe(true);
  });

  test('bytes, those of Node too, and dates → copies, as they come out of a log', () => {
    const input = { bytes: new Uint8Array(1), buffer: Buffer.from([0]), dates: [new Date(5)] };
    const value = freezeWireCopy(input);
    input.bytes[0] = input.buffer[0] = 9;
    input.dates[0]?.setTime(9);
    expect([value.bytes[0], value.buffer[0], value.dates]).toEqual([0, 0, [new Date(5)]]);
    expect(Object.getPrototypeOf(value.buffer)).toBe(Uint8Array.prototype);
    const again = freezeForUser(freezeWireCopy(value));
    again.bytes[0] = 7;
    expect(value.bytes[0]).toBe(0);
  });

  test('a getter → what it gave the one time', () => {
    let count = 0;
    const value = freezeWireCopy({
      get n() {
        return ++count;
      },
    });
    expect([value.n, value.n]).toEqual([1, 1]);
  });

  test('`-0`, and what is undefined → what the wire would make of it', () => {
    expect(Object.is(freezeWireCopy(-0), 0)).toBe(true);
    const value = freezeWireCopy({ none: undefined, list: [-0, undefined] });
    expect(Object.keys(value)).toEqual(['list']);
    expect(value.list.map((item) => Object.is(item, 0))).toEqual([true, false]);
  });

  test('a list with holes → undefined in their place, as on a wire', () => {
    const value: unknown[] = [new Uint8Array(1)];
    value.length = 3;
    expect(freezeWireCopy(value)).toEqual([new Uint8Array(1), undefined, undefined]);
    expect(Object.keys(freezeWireCopy(value))).toEqual(['0', '1', '2']);
  });

  test('`__proto__` as a name, what holds itself, what is deeper than any message → neither lost nor endless', () => {
    const own = JSON.parse('{"__proto__": 1}') as object;
    expect(Object.keys(freezeWireCopy({ own, bytes: new Uint8Array(1) }).own)).toEqual([
      '__proto__',
    ]);
    const cycle: unknown[] = [new Uint8Array(1)];
    cycle.push(cycle, cycle);
    expect(freezeWireCopy(cycle)).toHaveLength(3);
    let deep: unknown = {};
    for (let level = 0; level < 100_000; level += 1) deep = { deep };
    expect(freezeWireCopy(deep)).toHaveProperty('deep.deep');
  });
});

test('arguments → of their classes, and nothing of them is shared but what is of other classes', () => {
  class Money {
    cents = 1;
  }
  const value = {
    buffer: Buffer.from('hi'),
    tags: new Set([['a']]),
    prices: new Map([['a', { euro: 1 }]]),
    money: new Money(),
    at: new Date(5),
  };
  const args = freezeArgsCopy(value);
  expect(args).toEqual(value);
  expect(args.buffer.toString('hex')).toBe('6869');
  expect(args.money).toBe(value.money);
  args.buffer[0] = 9;
  args.tags.clear();
  args.prices.clear();
  args.at.setTime(9);
  expect([value.buffer.toString(), value.tags.size, value.prices.size, value.at]).toEqual([
    'hi',
    1,
    1,
    new Date(5),
  ]);
  expect(Object.isFrozen(args) && Object.isFrozen(freezeArgsCopy(value).prices.get('a'))).toBe(
    true,
  );
  expect(Object.entries(freezeArgsCopy({ note: undefined, left: -0 }))).toEqual([
    ['note', undefined],
    ['left', -0],
  ]);
  expect(Object.isFrozen(value)).toBe(false);
});

test('arguments of this call only → no copy if all in them is scalar, else as others', () => {
  const flat = { key: 'a', cents: 5, more: 1n, none: undefined, nothing: null };
  expect(freezeOwnArgs(flat)).toBe(flat);
  expect(Object.isFrozen(flat)).toBe(true);
  for (const part of [['a'], { a: 1 }, new Date(5), new Uint8Array(1), new Set([1])]) {
    const value = { key: 'a', part };
    const args = freezeOwnArgs(value);
    expect(args).not.toBe(value);
    expect(args).toEqual(value);
    expect(args.part).not.toBe(part);
    expect([Object.isFrozen(value), Object.isFrozen(part), Object.isFrozen(args)]).toEqual([
      false,
      false,
      true,
    ]);
  }
  const calling = { call: (): void => {} };
  expect(freezeOwnArgs(calling)).not.toBe(calling);
  expect(freezeOwnArgs(calling)).toEqual(calling);
});

test('what a check of a schema gives in the place of arguments → stays its author’s', async () => {
  const own = { key: 'a' };
  const args = z.object({ key: z.string() }).check((context) => void (context.value = own));
  const reported = defineContract('names', {
    getName: { access: 'read', args, result: z.string() },
  });
  const telling = defineService(reported, {
    tables: {},
    shadowOperations: () => ({}),
    generators: { getName: ({ key }) => key },
  });
  const deployment = createEmbedded(telling, { sites: ['ireland'] });
  expect(
    await createClient(deployment.site('ireland')).invoke(reported.getName({ key: 'b' })),
  ).toBe('a');
  expect(Object.isFrozen(own)).toBe(false);
  await deployment.close();
});

class Tags extends Set<string> {
  joined(): string {
    return [...this].join('+');
  }
}
class Cents extends Map<string, number> {
  sum(): number {
    return [...this.values()].reduce((sum, item) => sum + item, 0);
  }
}
class Lines extends Array<string> {
  total(): number {
    return this.length;
  }
}
class Zoned extends Date {
  zone = 'utc';
  readonly #shift = 1;
  shown(): string {
    return `${this.zone} ${this.getTime() + this.#shift}`;
  }
}
class Frame extends Uint8Array {
  readonly #kind = 'frame';
  kind(): string {
    return this.#kind;
  }
}

test.each([
  ['sets', new Tags(['a', 'b']), (made: Tags) => made.joined(), 'a+b'],
  ['maps', new Cents([['a', 1]]), (made: Cents) => made.sum(), 1],
  ['lists', Lines.from(['x']) as Lines, (made: Lines) => made.total(), 1],
  ['dates', new Zoned(5), (made: Zoned) => made.shown(), 'utc 6'],
  ['bytes', new Frame(1), (made: Frame) => made.kind(), 'frame'],
])('arguments of a class that extends %s → as they were made', (_, made, look, expected) => {
  const args = freezeArgsCopy({ made });
  expect(args.made).toBe(made);
  expect(look(args.made as never)).toBe(expected);
});

test('arguments without a prototype → without one, and copies all the same', () => {
  const prices = Object.assign(Object.create(null) as Record<string, unknown>, { a: { cents: 1 } });
  const args = freezeArgsCopy({ prices }).prices;
  expect(args['constructor']).toBe(undefined);
  expect(Object.getPrototypeOf(args)).toBe(null);
  expect(args).toEqual(prices);
  expect(args).not.toBe(prices);
  expect(Object.isFrozen(args) && Object.isFrozen(args['a'])).toBe(true);
});

test('arguments with symbols, hidden names, and names beside items or entries → with them', () => {
  const kind = Symbol('kind');
  const inner = { deep: 1 };
  const hidden = Object.defineProperty({ a: 1 }, 'secret', {
    value: inner,
    enumerable: false,
  }) as object;
  const value = {
    symbol: { a: 1, [kind]: inner },
    hidden,
    match: /(?<year>\d+)/.exec('in 2024')!,
    date: Object.assign(new Date(5), { zone: 'utc' }),
    set: Object.assign(new Set([1]), { of: inner }),
  };
  const args = freezeArgsCopy(value);
  expect([args.symbol[kind], args.set.of]).toEqual([inner, inner]);
  expect([args.symbol[kind], args.set.of].includes(inner)).toBe(false);
  expect(Object.getOwnPropertyDescriptor(args.hidden, 'secret')).toMatchObject({
    value: inner,
    enumerable: false,
  });
  expect([args.match[1], args.match.index, args.match.input]).toEqual(['2024', 3, 'in 2024']);
  expect(args.match.groups).toEqual({ year: '2024' });
  expect([args.date.getTime(), args.date.zone]).toEqual([5, 'utc']);
});

test('arguments with a map or a set that holds itself → neither lost nor endless', () => {
  const map = new Map<string, unknown>([['a', 1]]);
  map.set('me', map);
  const set = new Set<unknown>();
  set.add({ set });
  const args = freezeArgsCopy({ map, set });
  expect(args.map).not.toBe(map);
  expect((args.map.get('me') as typeof map).get('a')).toBe(1);
  expect(args.set.size).toBe(1);
});

describe('objects that authors keep, and change later', () => {
  const till = defineContract('till', {
    pay: { access: 'write', args: z.object({ amount: z.int() }), result: z.int() },
    write: {
      access: 'write',
      args: z.object({ key: z.string(), byte: z.int() }),
      result: z.null(),
    },
    note: { access: 'write', args: z.object({ line: z.string() }), result: z.unknown() },
    refuse: { access: 'write', args: z.object({}), result: z.null(), errors: { no: z.unknown() } },
    assign: { access: 'write', args: z.object({ byte: z.int() }), result: z.int() },
    tryOut: { access: 'write', args: z.object({}), result: z.array(z.int()) },
    push: {
      access: 'write',
      args: z.object({ items: z.array(z.int()) }),
      result: z.array(z.int()),
    },
    meddle: { access: 'read', args: z.object({}), result: z.unknown() },
    read: { access: 'read', args: z.object({ key: z.string() }), result: z.unknown() },
  });
  const makeTill = () => {
    const buffer = new Uint8Array(1);
    const lines: string[] = [];
    return defineService(till, {
      tables: {
        rows: table({
          bytes: register<Uint8Array>(),
          sum: counter(),
          doc: register<{ readonly tags: string[] }>(),
        }),
        order: table({ items: queue<number>(), owner: cell<Uint8Array>() }),
      },
      shadowOperations: ({ rows, order }) => ({
        pay: red(({ amount }: { amount: number }) => [rows.row('sum').sum.add(amount)]),
        write: blue(({ key, bytes }: { key: string; bytes: Uint8Array }) => [
          rows.row(key).bytes.write(bytes),
          rows.row(key).doc.write(Object.freeze({ tags: [] })),
        ]),
        assign: red(
          ({ byte }: { byte: number }) => [order.row('o').owner.assign(new Uint8Array([byte]))],
          ([before]) => {
            const bytes = before as Uint8Array | undefined;
            if (bytes === undefined) return 0;
            bytes[0] = (bytes[0] ?? 0) + 10;
            return bytes[0] ?? 0;
          },
        ),
        push: red(
          ({ items }: { items: number[] }) => items.map((item) => order.row('o').items.push(item)),
          (_, { items }) => {
            items.push(99);
            return items;
          },
        ),
      }),
      generators: {
        pay: (args, { shadow }) => {
          args.amount *= 100;
          return shadow.pay(args, args.amount);
        },
        write: ({ key, byte }, { shadow }) => {
          buffer[0] = byte;
          return shadow.write({ key, bytes: buffer }, null);
        },
        note: ({ line }) => {
          lines.push(line);
          return lines;
        },
        push: (args, { shadow }) => shadow.push(args),
        refuse: (_, { errors }) => {
          lines.push('no');
          throw errors.no({ lines });
        },
        assign: (args, { shadow }) => shadow.assign(args),
        tryOut: (_, { shadow, scratchpad }) => {
          const args = { byte: 5 };
          const replies = [scratchpad.apply(shadow.assign(args))];
          args.byte = 6;
          return [...replies, scratchpad.apply(shadow.assign(args))];
        },
        meddle: (_, { tables }) =>
          (tables.rows.row('p').doc as { tags: string[] }).tags.push('smuggled'),
        read: ({ key }, { tables }) => tables.rows.row(key).bytes?.[0] ?? null,
      },
    });
  };
  const open = () => {
    const causes: unknown[] = [];
    const onAlarm = ({ cause }: SiteAlarm): void => void causes.push(cause);
    const generators = { determinismCheckRate: 0 };
    const deployment = createEmbedded(makeTill(), {
      sites: ['ireland', 'frankfurt'],
      onAlarm,
      generators,
      checkColors: false,
    });
    return { deployment, causes, ireland: createClient(deployment.site('ireland')) };
  };

  test('a buffer that is used again → each row has its own', async () => {
    const { deployment, ireland } = open();
    await ireland.invokeStrong(till.write({ key: 'p', byte: 1 }));
    await ireland.invokeStrong(till.write({ key: 'q', byte: 2 }));
    const frankfurt = createClient(deployment.site('frankfurt'));
    for (const site of [ireland, frankfurt]) {
      const bytes = await Promise.all(
        ['p', 'q'].map((key) => site.invokeStrong(till.read({ key }))),
      );
      expect(bytes).toEqual([1, 2]);
      await expect(site.invokeStrong(till.meddle({}))).rejects.toMatchObject({
        code: 'FINAL_FAILED',
      });
    }
    await deployment.close();
  });

  test.each([
    ['its arguments', till.pay({ amount: 1 })],
    ['the arguments of its shadow operation', till.push({ items: [1] })],
  ])(
    'a generator that changes %s → FINAL_FAILED, and an alarm with the thrown error',
    async (_, operation) => {
      const { deployment, causes, ireland } = open();
      await expect(ireland.invokeStrong<unknown>(operation)).rejects.toMatchObject({
        code: 'FINAL_FAILED',
      });
      expect(causes).toContainEqual(expect.any(TypeError));
      await deployment.close();
    },
  );

  test('a rejection whose author changes its data later → a resend gets the same', async () => {
    const { deployment } = open();
    const binding = deployment.site('ireland');
    const ask = (): Promise<unknown> =>
      new Promise((resolve) => {
        const context = {
          signal: new AbortController().signal,
          operationId: 'the same',
        } as InvocationContext;
        const none = expect.fail;
        const sink = { view: none, confirm: none, fail: resolve } as unknown as Sink<unknown>;
        binding.submitOperation(till.refuse({}), ['causal'], sink, context);
      });
    const no = { domain: { data: { lines: ['no'] } } };
    expect(await ask()).toMatchObject(no);
    await createClient(binding).invoke(till.note({ line: 'and no more' }));
    expect(await ask()).toMatchObject(no);
    await deployment.close();
  });

  test('tried on the scratchpad, with arguments that are used again → neither they nor the state are touched', async () => {
    const { deployment, ireland } = open();
    await ireland.invokeStrong(till.assign({ byte: 4 }));
    for (let time = 0; time < 2; time += 1)
      expect(await ireland.invoke(till.tryOut({}))).toEqual([14, 15]);
    await deployment.close();
  });
});
