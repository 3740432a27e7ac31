/** A generator that changes what it has read: refused, whatever kind of field it is in, also after restarts. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { InvocationContext, Sink } from '../../../src/correctable/binding.ts';
import { createClient } from '../../../src/index.ts';
import { defineContract } from '../../../src/protocol/contract/contract.ts';
import { createEmbedded } from '../../../src/server/embedded.ts';
import { frozen, handedOut, kept, keptArgs, keptOwnArgs } from '../../../src/values/frozen.ts';
import { defineService } from '../../../src/server/service/service.ts';
import { blue, red } from '../../../src/server/service/shadow-operation.ts';
import { cell, counter, log, queue, register, set, table } from '../../../src/server/service/tables.ts';
import type { SiteAlarm } from '../../../src/server/alarms/site-alarm.ts';

interface Cart {
  readonly items: string[];
}

const KINDS = ['register', 'log', 'cell', 'queue'] as const;
/** What holds the values: a set, the array of a log, a queue. */
const HOLDERS = ['set', 'log itself', 'queue itself'] as const;
const kind = z.object({ kind: z.enum([...KINDS, ...HOLDERS]) });
const contract = defineContract('carts', {
  put: { effect: 'update', args: z.object({ items: z.array(z.string()) }), result: z.null() },
  putRed: { effect: 'update', args: z.object({ items: z.array(z.string()) }), result: z.null() },
  meddle: { effect: 'update', args: kind, result: z.null() },
  carts: { effect: 'read', args: z.object({}), result: z.unknown() },
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
      const carts = { register: row.register, log: row.log[0], cell: redRow.cell, queue: redRow.queue.at(0) };
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
      return [row.register, ...row.log, redRow.cell, redRow.queue.at(0), redRow.queue.size, [...row.set]];
    },
  },
});

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'correctables-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

test('every kind of field → FINAL_FAILED and an alarm, nothing changed at any site; the same after restarts', async () => {
  const cart = { items: ['a'] };
  const causes: unknown[] = [];
  const onAlarm = ({ cause }: SiteAlarm): void => void causes.push(cause);
  // Often enough that a checkpoint takes the place of the log.
  for (let start = 0; start < 7; start += 1) {
    const deployment = createEmbedded(service, { sites: ['irl', 'frk', 'vrg'], dataDir, onAlarm });
    const [irl, frk] = [createClient(deployment.site('irl')), createClient(deployment.site('frk'))];
    if (start === 0) {
      await irl.invokeStrong(contract.put(cart));
      await irl.invokeStrong(contract.putRed(cart));
    }
    // What was red before a restart is shown once the others have confirmed it.
    await irl.invokeStrong(contract.carts({}));
    for (const each of [...KINDS, ...HOLDERS]) {
      await expect(irl.invokeStrong(contract.meddle({ kind: each }))).rejects.toMatchObject({ code: 'FINAL_FAILED' });
      expect(causes.splice(0)).toContainEqual(expect.any(TypeError));
    }
    for (const site of [irl, frk])
      expect(await site.invokeStrong(contract.carts({}))).toEqual([cart, cart, cart, cart, 1, ['a']]);
    await deployment.close();
  }
});

test('handed out: what has bytes or dates in it → a copy, else itself', () => {
  const [date, bytes, plain] = [new Date(5), new Uint8Array(2), { list: [1] }];
  const value = frozen({ list: [{ date }], bytes, plain });
  const copy = handedOut(value);
  expect(copy).toEqual(value);
  copy.list[0]?.date.setTime(77);
  copy.bytes[0] = 9;
  expect([date.getTime(), bytes[0]]).toEqual([5, 0]);
  expect(copy.plain).toBe(plain);
  expect([handedOut(plain), handedOut(7), handedOut(null)]).toEqual([plain, 7, null]);
});

test('a read that changes bytes and dates → changes copies', async () => {
  const bag = defineContract('bag', {
    put: { effect: 'update', args: z.object({}), result: z.null() },
    meddle: { effect: 'read', args: z.object({}), result: z.unknown() },
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
  const deployment = createEmbedded(bagService, { sites: ['irl', 'frk'] });
  const clients = [createClient(deployment.site('irl')), createClient(deployment.site('frk'))] as const;
  await clients[0].invokeStrong(bag.put({}));
  for (const client of [...clients, ...clients]) {
    expect(await client.invokeStrong(bag.meddle({}))).toEqual([5, 0, 6, 0]);
  }
  await deployment.close();
});

test('frozen: plain values all through, others as they are', () => {
  const [date, bytes] = [new Date(5), new Uint8Array(2)];
  const value = { list: [{ deep: 1 }], date, bytes, none: null };
  expect(frozen(value)).toBe(value);
  expect([value, value.list, value.list[0]].every((each) => Object.isFrozen(each))).toBe(true);
  expect([date, bytes].some((each) => Object.isFrozen(each))).toBe(false);
  const cycle: unknown[] = [];
  cycle.push(cycle);
  expect(Object.isFrozen(frozen(cycle))).toBe(true);
});

test('frozen by somebody else at the top alone → frozen all through, and handed out as a copy', () => {
  const value = frozen(Object.freeze({ tags: ['a'], bytes: new Uint8Array(1) }));
  expect(Object.isFrozen(value.tags)).toBe(true);
  expect(handedOut(value).bytes).not.toBe(value.bytes);
});

describe('kept', () => {
  test('a copy, frozen all through', () => {
    const given = { list: [{ deep: 1 }] };
    const value = kept(given);
    expect(value).toEqual(given);
    expect([value, value.list, value.list[0]].every((each) => Object.isFrozen(each))).toBe(true);
    expect([given, given.list].some((each) => Object.isFrozen(each))).toBe(false);
    expect(Object.isFrozen(kept(Object.freeze({ tags: ['a'] })).tags)).toBe(true);
  });

  test('bytes, those of Node too, and dates → copies, as they come out of a log', () => {
    const given = { bytes: new Uint8Array(1), buffer: Buffer.from([0]), dates: [new Date(5)] };
    const value = kept(given);
    given.bytes[0] = given.buffer[0] = 9;
    given.dates[0]?.setTime(9);
    expect([value.bytes[0], value.buffer[0], value.dates]).toEqual([0, 0, [new Date(5)]]);
    expect(Object.getPrototypeOf(value.buffer)).toBe(Uint8Array.prototype);
    const again = handedOut(kept(value));
    again.bytes[0] = 7;
    expect(value.bytes[0]).toBe(0);
  });

  test('a getter → what it gave the one time', () => {
    let count = 0;
    const value = kept({
      get n() {
        return ++count;
      },
    });
    expect([value.n, value.n]).toEqual([1, 1]);
  });

  test('`-0`, and what is undefined → what the wire would make of it', () => {
    expect(Object.is(kept(-0), 0)).toBe(true);
    const value = kept({ none: undefined, list: [-0, undefined] });
    expect(Object.keys(value)).toEqual(['list']);
    expect(value.list.map((each) => Object.is(each, 0))).toEqual([true, false]);
  });

  test('a list with holes → undefined in their place, as on a wire', () => {
    const given: unknown[] = [new Uint8Array(1)];
    given.length = 3;
    expect(kept(given)).toEqual([new Uint8Array(1), undefined, undefined]);
    expect(Object.keys(kept(given))).toEqual(['0', '1', '2']);
  });

  test('`__proto__` as a name, what holds itself, what is deeper than any message → neither lost nor endless', () => {
    const own = JSON.parse('{"__proto__": 1}') as object;
    expect(Object.keys(kept({ own, bytes: new Uint8Array(1) }).own)).toEqual(['__proto__']);
    const cycle: unknown[] = [new Uint8Array(1)];
    cycle.push(cycle, cycle);
    expect(kept(cycle)).toHaveLength(3);
    let deep: unknown = {};
    for (let level = 0; level < 100_000; level += 1) deep = { deep };
    expect(kept(deep)).toHaveProperty('deep.deep');
  });
});

test('arguments → of their classes, and nothing of them is shared but what is of other classes', () => {
  class Money {
    cents = 1;
  }
  const given = {
    buffer: Buffer.from('hi'),
    tags: new Set([['a']]),
    prices: new Map([['a', { euro: 1 }]]),
    money: new Money(),
    at: new Date(5),
  };
  const args = keptArgs(given);
  expect(args).toEqual(given);
  expect(args.buffer.toString('hex')).toBe('6869');
  expect(args.money).toBe(given.money);
  args.buffer[0] = 9;
  args.tags.clear();
  args.prices.clear();
  args.at.setTime(9);
  expect([given.buffer.toString(), given.tags.size, given.prices.size, given.at]).toEqual(['hi', 1, 1, new Date(5)]);
  expect(Object.isFrozen(args) && Object.isFrozen(keptArgs(given).prices.get('a'))).toBe(true);
  expect(Object.entries(keptArgs({ note: undefined, left: -0 }))).toEqual([
    ['note', undefined],
    ['left', -0],
  ]);
  expect(Object.isFrozen(given)).toBe(false);
});

test('arguments that nobody else has → no copy where all in them is scalar, else as others', () => {
  const flat = { key: 'a', cents: 5, more: 1n, none: undefined, nothing: null };
  expect(keptOwnArgs(flat)).toBe(flat);
  expect(Object.isFrozen(flat)).toBe(true);
  for (const part of [['a'], { a: 1 }, new Date(5), new Uint8Array(1), new Set([1])]) {
    const given = { key: 'a', part };
    const args = keptOwnArgs(given);
    expect(args).not.toBe(given);
    expect(args).toEqual(given);
    expect(args.part).not.toBe(part);
    expect([Object.isFrozen(given), Object.isFrozen(part), Object.isFrozen(args)]).toEqual([false, false, true]);
  }
  const calling = { call: (): void => {} };
  expect(keptOwnArgs(calling)).not.toBe(calling);
  expect(keptOwnArgs(calling)).toEqual(calling);
});

test('what a check of a schema gives in the place of arguments → stays its author’s', async () => {
  const own = { key: 'a' };
  const args = z.object({ key: z.string() }).check((context) => void (context.value = own));
  const told = defineContract('told', { tell: { effect: 'read', args, result: z.string() } });
  const telling = defineService(told, {
    tables: {},
    shadowOperations: () => ({}),
    generators: { tell: ({ key }) => key },
  });
  const deployment = createEmbedded(telling, { sites: ['irl'] });
  expect(await createClient(deployment.site('irl')).invoke(told.tell({ key: 'b' }))).toBe('a');
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
    return [...this.values()].reduce((sum, each) => sum + each, 0);
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
  const args = keptArgs({ made });
  expect(args.made).toBe(made);
  expect(look(args.made as never)).toBe(expected);
});

test('arguments without a prototype → without one, and copies all the same', () => {
  const prices = Object.assign(Object.create(null) as Record<string, unknown>, { a: { cents: 1 } });
  const args = keptArgs({ prices }).prices;
  expect(args['constructor']).toBe(undefined);
  expect(Object.getPrototypeOf(args)).toBe(null);
  expect(args).toEqual(prices);
  expect(args).not.toBe(prices);
  expect(Object.isFrozen(args) && Object.isFrozen(args['a'])).toBe(true);
});

test('arguments with symbols, hidden names, and names beside items or entries → with them', () => {
  const kind = Symbol('kind');
  const inner = { deep: 1 };
  const hidden = Object.defineProperty({ a: 1 }, 'secret', { value: inner, enumerable: false }) as object;
  const given = {
    symbol: { a: 1, [kind]: inner },
    hidden,
    match: /(?<year>\d+)/.exec('in 2024')!,
    date: Object.assign(new Date(5), { zone: 'utc' }),
    set: Object.assign(new Set([1]), { of: inner }),
  };
  const args = keptArgs(given);
  expect([args.symbol[kind], args.set.of]).toEqual([inner, inner]);
  expect([args.symbol[kind], args.set.of].includes(inner)).toBe(false);
  expect(Object.getOwnPropertyDescriptor(args.hidden, 'secret')).toMatchObject({ value: inner, enumerable: false });
  expect([args.match[1], args.match.index, args.match.input]).toEqual(['2024', 3, 'in 2024']);
  expect(args.match.groups).toEqual({ year: '2024' });
  expect([args.date.getTime(), args.date.zone]).toEqual([5, 'utc']);
});

test('arguments with a map or a set that holds itself → neither lost nor endless', () => {
  const map = new Map<string, unknown>([['a', 1]]);
  map.set('me', map);
  const set = new Set<unknown>();
  set.add({ set });
  const args = keptArgs({ map, set });
  expect(args.map).not.toBe(map);
  expect((args.map.get('me') as typeof map).get('a')).toBe(1);
  expect(args.set.size).toBe(1);
});

describe('what authors keep, and change later', () => {
  const till = defineContract('till', {
    pay: { effect: 'update', args: z.object({ amount: z.int() }), result: z.int() },
    write: { effect: 'update', args: z.object({ key: z.string(), byte: z.int() }), result: z.null() },
    note: { effect: 'update', args: z.object({ line: z.string() }), result: z.unknown() },
    refuse: { effect: 'update', args: z.object({}), result: z.null(), errors: { no: z.unknown() } },
    assign: { effect: 'update', args: z.object({ byte: z.int() }), result: z.int() },
    tryOut: { effect: 'update', args: z.object({}), result: z.array(z.int()) },
    assigned: { effect: 'read', args: z.object({}), result: z.unknown() },
    push: { effect: 'update', args: z.object({ items: z.array(z.int()) }), result: z.array(z.int()) },
    meddle: { effect: 'read', args: z.object({}), result: z.unknown() },
    read: { effect: 'read', args: z.object({ key: z.string() }), result: z.unknown() },
  });
  const makeTill = () => {
    const buffer = new Uint8Array(1);
    const lines: string[] = [];
    return defineService(till, {
      tables: {
        rows: table({ bytes: register<Uint8Array>(), sum: counter(), doc: register<{ readonly tags: string[] }>() }),
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
        assigned: (_, { tables }) => tables.order.row('o').owner?.[0],
        meddle: (_, { tables }) => (tables.rows.row('p').doc as { tags: string[] }).tags.push('smuggled'),
        read: ({ key }, { tables }) => tables.rows.row(key).bytes?.[0] ?? null,
      },
    });
  };
  const open = () => {
    const causes: unknown[] = [];
    const onAlarm = ({ cause }: SiteAlarm): void => void causes.push(cause);
    const generators = { repeatedShare: 0 };
    const deployment = createEmbedded(makeTill(), { sites: ['irl', 'frk'], onAlarm, generators, checkLabels: false });
    return { deployment, causes, irl: createClient(deployment.site('irl')) };
  };

  test('a buffer that is used again → each row has its own', async () => {
    const { deployment, irl } = open();
    await irl.invokeStrong(till.write({ key: 'p', byte: 1 }));
    await irl.invokeStrong(till.write({ key: 'q', byte: 2 }));
    const frk = createClient(deployment.site('frk'));
    for (const site of [irl, frk]) {
      const bytes = await Promise.all(['p', 'q'].map((key) => site.invokeStrong(till.read({ key }))));
      expect(bytes).toEqual([1, 2]);
      await expect(site.invokeStrong(till.meddle({}))).rejects.toMatchObject({ code: 'FINAL_FAILED' });
    }
    await deployment.close();
  });

  test.each([
    ['its arguments', till.pay({ amount: 1 })],
    ['the arguments of its shadow operation', till.push({ items: [1] })],
  ])('a generator that changes %s → FINAL_FAILED, and an alarm that says what it threw', async (_, operation) => {
    const { deployment, causes, irl } = open();
    await expect(irl.invokeStrong<unknown>(operation)).rejects.toMatchObject({
      code: 'FINAL_FAILED',
    });
    expect(causes).toContainEqual(expect.any(TypeError));
    await deployment.close();
  });

  test('a result that its author changes later → what was told stays', async () => {
    const { deployment, irl } = open();
    const told = [await irl.invoke(till.note({ line: 'a' })), await irl.invoke(till.note({ line: 'b' }))];
    expect(told).toEqual([['a'], ['a', 'b']]);
    await deployment.close();
  });

  test('a refusal whose author goes on with what he gave → who asks again is told the same', async () => {
    const { deployment } = open();
    const binding = deployment.site('irl');
    const ask = (): Promise<unknown> =>
      new Promise((resolve) => {
        const context = { signal: new AbortController().signal, operationId: 'the same' } as InvocationContext;
        const none = expect.fail;
        const sink = { update: none, confirm: none, fail: resolve } as unknown as Sink<unknown>;
        binding.submitOperation(till.refuse({}), ['causal'], sink, context);
      });
    const no = { domain: { data: { lines: ['no'] } } };
    expect(await ask()).toMatchObject(no);
    await createClient(binding).invoke(till.note({ line: 'and no more' }));
    expect(await ask()).toMatchObject(no);
    await deployment.close();
  });

  test('tried on the scratchpad, with arguments that are used again → neither they nor the state are touched', async () => {
    const { deployment, irl } = open();
    await irl.invokeStrong(till.assign({ byte: 4 }));
    for (let time = 0; time < 2; time += 1) expect(await irl.invoke(till.tryOut({}))).toEqual([14, 15]);
    await deployment.close();
  });

  test('a reply that changes bytes which an effect gave it → changes a copy', async () => {
    const { deployment, irl } = open();
    for (const byte of [1, 2]) await irl.invokeStrong(till.assign({ byte }));
    const seen: number[] = [];
    for (const byte of [3, 4]) {
      const assigned = irl.invoke(till.assign({ byte }));
      assigned.onUpdate((value) => seen.push(value));
      seen.push(await assigned);
    }
    expect(seen).toEqual([12, 12, 13, 13]);
    for (const site of ['irl', 'frk'] as const) {
      const client = createClient(deployment.site(site));
      expect(await client.invokeStrong(till.assigned({}))).toBe(4);
    }
    await deployment.close();
  });
});
