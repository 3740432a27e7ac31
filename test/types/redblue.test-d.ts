/**
 * Types of a service flow from its contract and tables to shadow operations, generators and
 * clients.
 */
import { describe, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import * as three from 'zod/v3';
import type { Correctable } from '../../src/correctable/correctable.ts';
import { createClient, type AnyClient, type Client } from '../../src/correctable/client/client.ts';
import { cached, mapStore } from '../../src/bindings/cache/index.ts';
import { memory } from '../../src/bindings/memory/index.ts';
import { redblue, type RedBlueLevels } from '../../src/bindings/redblue/index.ts';
import { remote } from '../../src/bindings/remote/index.ts';
import { defineContract, isDomainError } from '../../src/contract/contract.ts';
import { createEmbedded } from '../../src/server/node/embedded/embedded.ts';
import type { Effect } from '../../src/server/service/records/effect.ts';
import type { QueueView } from '../../src/server/service/fields/pending-queue.ts';
import { uncertified, withMeta } from '../../src/server/service/records/reply.ts';
import { defineService, withColors } from '../../src/server/service/service.ts';
import type { Operation } from '../../src/correctable/operation.ts';
import { blue, red, shadow } from '../../src/server/service/shadow-operation.ts';
import { createEffectTables, type EffectTables } from '../../src/server/service/effect-builders.ts';
import {
  boundedCounter,
  cell,
  counter,
  log,
  queue,
  register,
  set,
  stock,
  table,
} from '../../src/server/service/tables.ts';

const contract = defineContract('notes', {
  add: {
    access: 'write',
    args: z.object({ id: z.string(), size: z.string().transform(Number) }),
    result: z.number(),
  },
  take: { access: 'write', args: z.object({ id: z.string() }), result: z.string().nullable() },
  read: {
    access: 'read',
    args: z.object({ id: z.string() }),
    result: z.object({ title: z.string() }),
  },
});

const tables = {
  notes: table(
    {
      size: counter(),
      title: register<string>(),
      rank: cell<number>(),
      tags: set<'a' | 'b'>(),
      lines: log<{ at: number }>(),
    },
    { indexes: ['title', 'rank', 'tags'], removable: true },
  ),
  plain: table(
    { title: register<string>(), data: register<{ x: number }>() },
    { indexes: ['title'], removable: true },
  ),
  queues: table({ items: queue<string>() }),
};

describe('service types', () => {
  test('effects: values by kind, colors by field', () => {
    const { notes, plain, queues } = createEffectTables(tables);
    expectTypeOf(notes.row('k').size.add).toEqualTypeOf<
      (amount: number) => Effect<undefined, 'blue', false>
    >();
    expectTypeOf(notes.row('k').rank.assign).toEqualTypeOf<
      (value: number) => Effect<number | undefined, 'red'>
    >();
    expectTypeOf(notes.row('k').tags.add).parameter(0).toEqualTypeOf<'a' | 'b'>();
    expectTypeOf(plain.remove('k')).toEqualTypeOf<Effect<undefined, 'blue', false>>();
    expectTypeOf(notes.remove('k')).toEqualTypeOf<Effect<undefined, 'red', false>>();
    expectTypeOf(queues.insert('k')).toEqualTypeOf<Effect<undefined, 'blue', false>>();
    // @ts-expect-error rows of this table are never removed
    queues.remove('k');
    // @ts-expect-error a queue is red
    blue((a: { id: string }) => [queues.row(a.id).items.pop()]);
    // @ts-expect-error a row with a cell is removed in the red order
    blue((a: { id: string }) => [notes.remove(a.id)]);
    blue((a: { id: string }) => [plain.remove(a.id)]);
  });

  test('a bounded field → its effects may be blue', () => {
    const { events } = createEffectTables({ events: table({ seats: boundedCounter({ min: 0 }) }) });
    blue((a: { id: string }) => [events.row(a.id).seats.take(1), events.row(a.id).seats.give(2)]);
    // @ts-expect-error rights move by themselves
    blue((a: { id: string }) => [events.row(a.id).seats.transfer(1)]);
  });

  test('a take of a bounded field → offered wherever its operation may be red, and nowhere else', () => {
    const halls = defineContract('halls', {
      blueOne: { access: 'write', color: 'blue', args: z.object({}), result: z.null() },
      either: { access: 'write', args: z.object({}), result: z.null() },
      redOne: { access: 'write', color: 'red', args: z.object({}), result: z.null() },
    });
    const remaining = {
      tables: { events: table({ seats: boundedCounter({ min: 0 }), sold: counter() }) },
      colors: { sell: 'blue', fill: 'blue', stop: 'red' },
    } as const;
    type Events = EffectTables<typeof remaining.tables>;
    const shadowOperations = ({ events }: Events) => ({
      open: blue((a: { id: string }) => [
        events.row(a.id).seats.give(2),
        events.row(a.id).sold.add(0),
      ]),
      take: blue((a: { id: string }) => [
        events.row(a.id).sold.add(1),
        events.row(a.id).seats.take(1),
      ]),
      takeAll: blue((a: { ids: readonly string[] }) =>
        a.ids.map((id) => events.row(id).seats.take(1)),
      ),
      move: blue((a: { id: string; by: number }) => [
        a.by < 0 ? events.row(a.id).seats.take(-a.by) : events.row(a.id).seats.give(a.by),
      ]),
      swap: blue((a: { id: string; by: number }) =>
        a.by < 0 ? [events.row(a.id).seats.take(-a.by)] : [events.row(a.id).sold.add(a.by)],
      ),
      known: blue((a: { id: string }): readonly Effect<undefined, 'blue'>[] => [
        events.row(a.id).sold.add(1),
      ]),
      sell: shadow((a: { id: string }) => [events.row(a.id).seats.take(1)]),
      fill: shadow((a: { id: string }) => [events.row(a.id).seats.give(1)]),
      stop: shadow((a: { id: string }) => [events.row(a.id).seats.take(1)]),
      close: red((a: { id: string }) => [events.row(a.id).seats.take(1)]),
    });
    type Offered<S> = keyof S;
    defineService(halls, {
      ...remaining,
      shadowOperations,
      generators: {
        blueOne: (_, { shadow }) => {
          expectTypeOf<Offered<typeof shadow>>().toEqualTypeOf<'open' | 'known' | 'fill'>();
          return shadow.open({ id: 'a' }, null);
        },
        either: (_, { shadow }) => {
          expectTypeOf<Offered<typeof shadow>>().toEqualTypeOf<
            | 'open'
            | 'take'
            | 'takeAll'
            | 'move'
            | 'swap'
            | 'known'
            | 'sell'
            | 'fill'
            | 'stop'
            | 'close'
          >();
          return shadow.take({ id: 'a' }, null);
        },
        redOne: (_, { shadow }) => shadow.takeAll({ ids: ['a'] }, null),
      },
    });
  });

  test('a shadow operation whose effects go by no arguments → takes whatever its operation has', () => {
    const empty = { access: 'write', args: z.object({}), result: z.null() } as const;
    const bell = defineContract('bell', { ring: empty, stop: { ...empty, result: z.boolean() } });
    defineService(bell, {
      tables: { bells: table({ rings: counter(), left: stock() }) },
      shadowOperations: ({ bells }) => ({
        ring: blue(() => [bells.row('one').rings.add(1)]),
        stop: red(
          () => [bells.row('one').left.take(1)],
          ([taken]) => taken.took,
        ),
      }),
      generators: {
        ring: (args, { shadow: { ring } }) => ring(args, null),
        stop: (args, { shadow: { stop } }) => stop(args),
      },
    });
  });

  test('indexes: registers, cells and sets of strings or numbers only', () => {
    // @ts-expect-error counters have no index
    table({ size: counter() }, { indexes: ['size'] });
    // @ts-expect-error what stands of a bounded field is no key
    table({ left: boundedCounter({ min: 0 }) }, { indexes: ['left'] });
    // @ts-expect-error objects have no order
    table({ data: register<{ x: number }>() }, { indexes: ['data'] });
    // @ts-expect-error no such field
    table({ title: register<string>() }, { indexes: ['name'] });
  });

  const service = defineService(contract, {
    tables,
    shadowOperations: ({ notes, queues }) => ({
      grow: blue((a: { id: string; by: number }) => [notes.row(a.id).size.add(a.by)]),
      take: red(
        (a: { id: string }) => [queues.row(a.id).items.pop()],
        ([popped]) => withMeta(popped.found ? popped.item : null, { remaining: popped.remaining }),
      ),
    }),
    generators: {
      add: ({ id, size }, { tables: { notes }, shadow, scratchpad }) => {
        expectTypeOf(size).toBeNumber();
        expectTypeOf(notes.row(id).size).toBeNumber();
        expectTypeOf(notes.row(id).title).toEqualTypeOf<string | undefined>();
        expectTypeOf(notes.row(id).tags).toEqualTypeOf<ReadonlySet<'a' | 'b'>>();
        expectTypeOf(notes.row(id).lines).toEqualTypeOf<readonly { at: number }[]>();
        expectTypeOf(notes.keys({ prefix: 'x', limit: 3 })).toEqualTypeOf<readonly string[]>();
        notes.by.title({ prefix: 'x' });
        notes.by.rank({ from: 3, before: 7, reverse: true });
        notes.by.tags({ equals: 'a' });
        // @ts-expect-error ranks are numbers
        notes.by.rank({ equals: 'x' });
        // @ts-expect-error no such element
        notes.by.tags({ equals: 'c' });
        // @ts-expect-error not indexed
        notes.by.size({ equals: 1 });
        expectTypeOf(scratchpad.apply(shadow.take({ id }))).toEqualTypeOf<string | null>();
        expectTypeOf(scratchpad.apply(shadow.grow({ id, by: 1 }, 'reply'))).toBeString();
        return shadow.grow({ id, by: size }, size);
      },
      take: ({ id }, { tables: { queues }, shadow }) => {
        expectTypeOf(queues.row(id).items).toEqualTypeOf<QueueView<string>>();
        return shadow.take({ id });
      },
      read: ({ id }, { tables: { notes } }) => ({ title: notes.row(id).title ?? '' }),
    },
  });

  test('results: a generator gives what the schema takes, a client gets what it makes of that', () => {
    const result = z.number().transform(String);
    const item = defineContract('one', {
      get: { access: 'read', args: z.object({}), result },
      grow: { access: 'write', args: z.object({}), result },
    });
    const shadowOperations = () => ({ nothing: blue(() => []) });
    const nothing = { tables: {}, shadowOperations };
    defineService(item, {
      ...nothing,
      generators: { get: () => 1, grow: (_, { shadow: to }) => to.nothing({}, 1) },
    });
    // @ts-expect-error what the schema makes is not what it takes
    defineService(item, { ...nothing, generators: { get: () => '1', grow: () => 1 } });
    expectTypeOf(item.get({})).toExtend<Operation<string>>();
  });

  test('results: a generator must return what the contract declares', () => {
    const item = defineContract('one', {
      get: { access: 'read', args: z.object({}), result: z.number() },
    });
    const implementation = { tables: {}, shadowOperations: () => ({}) };
    // @ts-expect-error a string is no number
    defineService(item, { ...implementation, generators: { get: () => 'x' } });
    // @ts-expect-error a generator does not wait
    defineService(item, { ...implementation, generators: { get: async () => 1 } });
    // @ts-expect-error no generator
    defineService(item, { ...implementation, generators: {} });
  });

  test('schemas: of any zod 4, none of zod 3', () => {
    /** The version literal of zod differs in each 4.x. */
    type OfAnother<S extends z.ZodType> = Omit<S, '_zod'> & {
      readonly _zod: Omit<S['_zod'], 'version'> & {
        readonly version: { major: 4; minor: 0; patch: number };
      };
    };
    const ofAnother = <S extends z.ZodType>(schema: S) => schema as unknown as OfAnother<S>;
    const args = ofAnother(z.object({ key: z.string().transform(Number) }));
    // @ts-expect-error so that the test is about this error
    const own: z.ZodType = args;
    const others = defineContract('others', { get: { access: 'read', args, result: z.string() } });
    expectTypeOf(others.get).parameter(0).toEqualTypeOf<{ key: string }>();
    // @ts-expect-error of zod 3
    defineContract('old', { get: { access: 'read', args: three.object({}), result: z.string() } });
    // @ts-expect-error of zod 3
    defineContract('old', { get: { access: 'read', args: z.object({}), result: three.string() } });
    const spec = { access: 'read', args: z.object({}), result: z.null() } as const;
    // @ts-expect-error of zod 3
    defineContract('old', { get: { ...spec, errors: { no: three.string() } } });
    void own;
  });

  test('client: arguments as given, results and levels from the contract and the binding', () => {
    const client = createClient(
      createEmbedded(service, { sites: ['ireland', 'frankfurt'] }).site('ireland'),
    );
    const added = client.invoke(contract.add({ id: 'n', size: '3' }));
    type L = readonly ['tentative', 'causal', 'strong'];
    // Its color is unknown: blue or red.
    expectTypeOf(added).toEqualTypeOf<Correctable<number, L, 'causal' | 'strong'>>();
    expectTypeOf(client.invoke(contract.take({ id: 'n' }))).resolves.toEqualTypeOf<string | null>();
    // @ts-expect-error sizes are given as strings
    contract.add({ id: 'n', size: 3 });
    // @ts-expect-error no such site
    createEmbedded(service, { sites: ['ireland', 'frankfurt'] }).site('virginia');
  });

  const ledger = defineContract('ledger', {
    note: { access: 'write', color: 'blue', args: z.object({ id: z.string() }), result: z.null() },
    pay: {
      access: 'write',
      color: 'red',
      args: z.object({ id: z.string() }),
      result: z.null(),
      errors: { notEnough: z.object({ left: z.int() }), closed: z.object({}) },
    },
    total: { access: 'read', args: z.object({}), result: z.int() },
  });

  test('levels: the contract of an operation determines the level of its final view', () => {
    const client = createClient(redblue(ledger, { url: 'ws://localhost/ireland' }));
    type Final<C> = C extends Correctable<unknown, infer _L, infer F> ? F : never;
    const [note, pay, total] = [
      ledger.note({ id: 'x' }),
      ledger.pay({ id: 'x' }),
      ledger.total({}),
    ];
    const finals = [client.invoke(note), client.invoke(pay), client.invoke(total)] as const;
    expectTypeOf<Final<(typeof finals)[0]>>().toEqualTypeOf<'causal'>();
    expectTypeOf<Final<(typeof finals)[1]>>().toEqualTypeOf<'strong'>();
    expectTypeOf<Final<(typeof finals)[2]>>().toEqualTypeOf<'strong'>();
    const strong = client.invokeStrong(note);
    expectTypeOf<Final<typeof strong>>().toEqualTypeOf<'causal'>();
    const weak = client.invokeWeak(pay);
    expectTypeOf<Final<typeof weak>>().toEqualTypeOf<'tentative' | 'strong'>();
  });

  test('levels: chosen at run time → the final may have the weakest of them', () => {
    const client = createClient(redblue(ledger, { url: 'ws://localhost/ireland' }));
    type Final<C> = C extends Correctable<unknown, infer _L, infer F> ? F : never;
    const read = (level: 'causal' | 'strong') =>
      client.invoke(ledger.total({}), { levels: [level] });
    expectTypeOf<Final<ReturnType<typeof read>>>().toEqualTypeOf<'causal' | 'strong'>();
    const either = (isFast: boolean) =>
      client.invoke(ledger.total({}), { levels: isFast ? ['causal'] : ['strong'] });
    expectTypeOf<Final<ReturnType<typeof either>>>().toEqualTypeOf<'causal' | 'strong'>();
    const both = client.invoke(ledger.total({}), { levels: ['causal', 'strong'] });
    expectTypeOf<Final<typeof both>>().toEqualTypeOf<'strong'>();
  });

  test('colors: a generator is offered what the contract leaves to its operation, and no more', () => {
    const colors = defineContract('colors', {
      blueOne: { access: 'write', color: 'blue', args: z.object({}), result: z.boolean() },
      redOne: { access: 'write', color: 'red', args: z.object({}), result: z.boolean() },
      either: { access: 'write', args: z.object({}), result: z.boolean() },
      read: { access: 'read', args: z.object({}), result: z.boolean() },
    });
    const implementation = {
      tables: { rows: table({ n: counter(), s: stock(), q: queue<number>(), c: cell<number>() }) },
    } as const;
    const { rows } = createEffectTables(implementation.tables);
    const shadowOperations = () => ({
      add: blue((_args: object) => [rows.row('r').n.add(1)]),
      sub: red((_args: object) => [rows.row('r').n.add(-1)]),
      take: red(
        (_args: object) => [rows.row('r').s.take(1)],
        ([{ took }]) => took,
      ),
    });
    // @ts-expect-error a stock is red
    blue((_args: object) => [rows.row('r').s.take(1)]);
    // @ts-expect-error a cell is red
    blue((_args: object) => [rows.row('r').c.assign(1)]);
    const fine = {
      blueOne: () => true,
      redOne: () => true,
      either: () => true,
      read: () => true,
    };
    defineService(colors, {
      ...implementation,
      shadowOperations,
      generators: {
        blueOne: (args, { shadow, scratchpad }) => {
          expectTypeOf<keyof typeof shadow>().toEqualTypeOf<'add'>();
          // @ts-expect-error red, though its effects could be blue
          scratchpad.apply(shadow.sub(args, true));
          // @ts-expect-error red
          if (args === undefined) return shadow.take(args);
          return args === undefined ? uncertified(true) : shadow.add(args, true);
        },
        redOne: (args, { shadow }) => {
          expectTypeOf<keyof typeof shadow>().toEqualTypeOf<'add' | 'sub' | 'take'>();
          return shadow.take(args);
        },
        either: (args, { shadow }) =>
          args === undefined ? uncertified(withMeta(true, {})) : shadow.sub(args, true),
        read: (_, { tables: { rows: all } }) => withMeta(all.row('r').s > 0, {}),
      },
    });
    const remaining = { ...implementation, shadowOperations };
    defineService(colors, {
      ...remaining,
      // @ts-expect-error what is declared red is answered from the red order
      generators: { ...fine, redOne: () => uncertified(true) },
    });
    // @ts-expect-error a read has no effects to be local without
    defineService(colors, { ...remaining, generators: { ...fine, read: () => uncertified(true) } });
    defineService(colors, {
      ...remaining,
      // @ts-expect-error a read chooses nothing
      generators: { ...fine, read: (args, { shadow }) => shadow.add(args, true) },
    });
    defineService(colors, {
      ...remaining,
      // @ts-expect-error once is enough
      generators: { ...fine, either: () => uncertified(uncertified(true)) },
    });
    defineService(colors, {
      ...remaining,
      // @ts-expect-error what has effects is not local
      generators: { ...fine, either: (args, { shadow }) => uncertified(shadow.sub(args, true)) },
    });
    defineService(colors, {
      ...remaining,
      // @ts-expect-error nor is the reply beside them
      generators: { ...fine, either: (args, { shadow }) => shadow.sub(args, uncertified(true)) },
    });
  });

  test('colors apart from effects: what they make of a shadow operation is what its generator is offered', () => {
    const posts = defineContract('posts', {
      like: {
        access: 'write',
        color: 'blue',
        args: z.object({ id: z.string() }),
        result: z.null(),
      },
      claim: { access: 'write', args: z.object({ id: z.string() }), result: z.boolean() },
    });
    const tables = { rows: table({ likes: counter(), left: stock() }) };
    const { rows } = createEffectTables(tables);
    const shadowOperations = () => ({
      like: shadow((a: { id: string }) => [rows.row(a.id).likes.add(1)]),
      dislike: shadow((a: { id: string }) => [rows.row(a.id).likes.add(-1)]),
      claim: shadow(
        (a: { id: string }) => [rows.row(a.id).left.take(1)],
        ([{ took }]) => took,
      ),
      drop: shadow((a: { id: string }) => [rows.row(a.id).left.add(1)]),
    });
    const colors = { like: 'blue', dislike: 'red', claim: 'red', drop: 'red' } as const;
    const service = defineService(posts, {
      tables,
      shadowOperations,
      colors: { like: 'blue', dislike: 'red', claim: 'red', drop: 'red' },
      generators: {
        like: (args, { shadow: chosen }) => {
          expectTypeOf<keyof typeof chosen>().toEqualTypeOf<'like'>();
          return chosen.like(args, null);
        },
        claim: (args, { shadow: chosen }) => {
          expectTypeOf<keyof typeof chosen>().toEqualTypeOf<
            'like' | 'dislike' | 'claim' | 'drop'
          >();
          expectTypeOf(args).toEqualTypeOf<{ id: string }>();
          return chosen.claim(args);
        },
      },
    });
    expectTypeOf(withColors(service, { like: 'red' })).toEqualTypeOf<typeof service>();
    const generators = { like: () => null, claim: () => true };
    defineService(posts, { tables, shadowOperations, colors, generators });
    // Put together at run time: looked at there.
    const found: Readonly<Record<string, 'blue' | 'red'>> = colors;
    defineService(posts, { tables, shadowOperations, colors: found, generators });
    // @ts-expect-error no color for three of them
    defineService(posts, { tables, shadowOperations, colors: { like: 'blue' }, generators });
    // @ts-expect-error no colors
    defineService(posts, { tables, shadowOperations, generators });
    defineService(posts, {
      tables,
      shadowOperations,
      // @ts-expect-error no such shadow operation
      colors: { ...colors, hate: 'red' },
      generators,
    });
    defineService(posts, {
      tables,
      shadowOperations,
      // @ts-expect-error no such color
      colors: { ...colors, like: 'green' },
      generators,
    });
    defineService(posts, {
      tables,
      shadowOperations,
      // @ts-expect-error a stock is red
      colors: { ...colors, drop: 'blue' },
      generators,
    });
    defineService(posts, {
      tables,
      shadowOperations,
      // @ts-expect-error so is a reply of what effects gave
      colors: { ...colors, claim: 'blue' },
      generators,
    });
    const colored = () => ({ like: blue((a: { id: string }) => [rows.row(a.id).likes.add(1)]) });
    defineService(posts, {
      tables,
      shadowOperations: colored,
      // @ts-expect-error it has its color
      colors: { like: 'red' },
      generators,
    });
  });

  test('invariants: of rows and of all tables, by their fields', () => {
    defineService(ledger, {
      tables: {
        accounts: table({ left: counter(), owner: register<string>() }, { indexes: ['owner'] }),
      },
      shadowOperations: () => ({}),
      generators: { note: () => null, pay: () => null, total: () => 0 },
      invariants: { accounts: { 'never negative': ({ left }) => left >= 0 } },
      snapshotInvariants: {
        'no owner has two': ({ accounts }) => {
          expectTypeOf(accounts.row('a').owner).toEqualTypeOf<string | undefined>();
          // @ts-expect-error no index
          accounts.by.left();
          return accounts.by.owner({ equals: 'ann' }).length < 2;
        },
        // @ts-expect-error no such table
        'there is one': ({ rooms }) => rooms !== undefined,
      },
    });
  });

  test('levels: a store that does not keep to the contract → any level that it has', () => {
    type Final<C> = C extends Correctable<unknown, infer _L, infer F> ? F : never;
    const site = redblue(ledger, { url: 'ws://localhost/ireland' });
    const before = createClient(cached(site, { principal: 'ann', store: mapStore() }));
    const cachedRead = before.invokeWeak(ledger.total({}));
    expectTypeOf<Final<typeof cachedRead>>().toEqualTypeOf<
      'cache' | 'tentative' | 'causal' | 'strong'
    >();
    const cacheOnly = before.invoke(ledger.total({}), { levels: ['cache'] });
    expectTypeOf<Final<typeof cacheOnly>>().toEqualTypeOf<
      'cache' | 'tentative' | 'causal' | 'strong'
    >();
    const tiers = createClient(memory({ levels: ['weak', 'strong'] }));
    const weak = tiers.invokeWeak(ledger.total({}));
    expectTypeOf<Final<typeof weak>>().toEqualTypeOf<'weak' | 'strong'>();
    const behind = createClient(
      remote({ url: 'ws://localhost/ireland', levels: ['causal', 'strong'], contract: ledger }),
    );
    const read = behind.invokeStrong(ledger.total({}));
    expectTypeOf<Final<typeof read>>().toEqualTypeOf<'causal' | 'strong'>();
    // A client of the service fits where less is known of it.
    expectTypeOf(createClient(site)).toExtend<Client<RedBlueLevels>>();
    expectTypeOf(createClient(site)).toExtend<AnyClient>();
  });

  test('errors of the domain: generators throw what the contract declares, clients narrow them', () => {
    defineService(ledger, {
      tables: {},
      shadowOperations: () => ({}),
      generators: {
        note: (_args, { errors }) => {
          expectTypeOf<keyof typeof errors>().toEqualTypeOf<never>();
          return null;
        },
        pay: (_args, { errors }) => {
          // @ts-expect-error a number is needed
          errors.notEnough({ left: 'x' });
          // @ts-expect-error no such error
          errors.lost({});
          throw errors.notEnough({ left: 3 });
        },
        total: () => 0,
      },
    });
    const error: unknown = undefined;
    if (isDomainError(error, ledger.operations.pay, 'notEnough')) {
      expectTypeOf(error.domain.data).toEqualTypeOf<{ left: number }>();
    }
    if (isDomainError(error, ledger.operations.pay)) {
      expectTypeOf(error.domain.name).toEqualTypeOf<'notEnough' | 'closed'>();
      if (error.domain.name === 'notEnough')
        expectTypeOf(error.domain.data).toEqualTypeOf<{ left: number }>();
    }
    // @ts-expect-error no such error
    isDomainError(error, ledger.operations.pay, 'lost');
  });
});
