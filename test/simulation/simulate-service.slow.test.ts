/** An author's own service in the simulator. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineContract } from '../../src/contract/index.ts';
import type { Operation } from '../../src/index.ts';
import {
  blue,
  cell,
  counter,
  defineService,
  log,
  withColors,
  red,
  register,
  table,
} from '../../src/server/index.ts';
import type { Service } from '../../src/server/index.ts';
import { simulateService, ServiceCheckError } from '../../src/testing/index.ts';
import type { SimulateServiceOptions } from '../../src/testing/index.ts';
import { scaleRuns } from '../support/lane.ts';

const key = z.object({ key: z.string() });
const shop = defineContract('shop', {
  restock: { access: 'write', args: key, result: z.null() },
  buy: { access: 'write', args: key, result: z.boolean() },
  left: { access: 'read', args: key, result: z.int() },
});

const shopService = (color: 'red' | 'blue') =>
  defineService(shop, {
    tables: { items: table({ left: counter() }) },
    shadowOperations: ({ items }) => {
      const take = (a: { key: string }) => [items.row(a.key).left.add(-1)];
      return {
        restock: blue((a: { key: string }) => [items.row(a.key).left.add(2)]),
        buy: color === 'red' ? red(take) : blue(take),
      };
    },
    generators: {
      restock: (args, { shadow }) => shadow.restock(args, null),
      buy: (args, { tables, shadow }) =>
        tables.items.row(args.key).left > 0 ? shadow.buy(args, true) : false,
      left: (args, { tables }) => tables.items.row(args.key).left,
    },
    invariants: { items: { 'nothing is sold twice': ({ left }) => left >= 0 } },
  });

const options: SimulateServiceOptions = {
  runs: 40,
  draw: ({ pick }) =>
    pick([
      shop.restock({ key: 'a' }),
      shop.buy({ key: 'a' }),
      shop.buy({ key: 'a' }),
      shop.left({ key: 'a' }),
    ]),
};

describe('checkService', () => {
  test('buying is red → every property holds, and something happened', () => {
    const count = scaleRuns(40);
    const { runs, coverage } = simulateService(shopService('red'), { ...options, runs: count });
    expect(runs).toBe(count);
    expect(coverage['operations answered']).toBeGreaterThan(2 * count);
    if (count >= 40) expect(coverage['crashes']).toBeGreaterThan(0);
  });

  test('what became of each operation → by color, and nothing of one that was not drawn', () => {
    const counts = (value: Service, over: object = {}) =>
      simulateService(value, { ...options, runs: 5, profile: 'calm', ...over }).operations;
    const none = { blue: 0, red: 0, unchanged: 0, failed: 0 };
    const onlyBuys = { draw: (): Operation => shop.buy({ key: 'a' }) };
    const { buy, restock } = counts(shopService('red'), onlyBuys);
    expect(restock).toEqual(none);
    expect(buy).toMatchObject({ blue: 0, red: 0, unchanged: expect.any(Number) });
    expect(buy?.unchanged).toBeGreaterThan(5);
    const all = counts(shopService('red'));
    expect(all).toEqual({
      restock: { ...none, blue: expect.any(Number), failed: expect.any(Number) },
      buy: {
        ...none,
        red: expect.any(Number),
        unchanged: expect.any(Number),
        failed: expect.any(Number),
      },
      left: { ...none, unchanged: expect.any(Number), failed: expect.any(Number) },
    });
    expect(all['restock']?.blue).toBeGreaterThan(5);
    expect(all['buy']?.red).toBeGreaterThan(5);
  });

  test.each([
    ['nothing', undefined, 'draw: gave undefined: operation'],
    [
      'an operation that the contract does not have',
      { name: 'sell', access: 'write' },
      'shop has no operation sell',
    ],
    ['arguments that do not fit', { ...shop.buy({ key: 'a' }), args: { key: 5 } }, 'key'],
  ])('draw gives %s → ServiceFault with the cause', (_, value, message) => {
    const call = (): unknown =>
      simulateService(shopService('red'), { runs: 1, draw: () => value as never });
    expect(call).toThrow(
      expect.objectContaining({ checker: 'draw', message: expect.stringContaining(message) }),
    );
  });

  test('what draw gives cannot be sent → a fault of draw; what it draws from stays its own', () => {
    const any = defineContract('any', {
      put: {
        access: 'write',
        args: z.object({ key: z.string(), value: z.unknown() }),
        result: z.null(),
      },
    });
    const service: Service = defineService(any, {
      tables: { rows: table({ last: register() }) },
      shadowOperations: ({ rows }) => ({
        put: blue((a: { key: string; value?: unknown }) => [
          rows.row(a.key).last.write(a.value ?? null),
        ]),
      }),
      generators: { put: (args, { shadow }) => shadow.put(args, null) },
    });
    const run = (value: unknown) =>
      simulateService(service, {
        runs: 1,
        profile: 'calm',
        draw: () => any.put({ key: 'a', value }),
      });
    for (const value of [Number.NaN, new Map(), new Date(Number.NaN)]) {
      expect(() => run(value)).toThrow(expect.objectContaining({ checker: 'draw' }));
    }
    const pool = [{ n: 1 }];
    run(pool[0]);
    expect(Object.isFrozen(pool[0])).toBe(false);
  });

  describe('a service that keeps something beside its tables', () => {
    const keeping = (generators: object): Service => ({
      ...(shopService('red') as unknown as Service),
      generators: {
        ...(shopService('red') as unknown as Service).generators,
        ...generators,
      } as Service['generators'],
    });
    type Run = (args: { key: string }, context: never) => unknown;
    type Spread = { tables: { items: { row(key: string): { left: number } } } };
    const { buy } = shopService('red').generators as unknown as { buy: Run };

    const ONCE =
      /^oracle: (buy|left) at site \d asked for items\.left of a and, run again on the same, did not: what a service/;

    test('an item once sold out, forever → ServiceFault that names the call and the missing one', () => {
      const soldOut = new Set<string>();
      const service = keeping({
        buy: (args: { key: string }, context: never) => {
          if (soldOut.has(args.key)) return false;
          const bought = buy(args, context);
          if (bought === false) soldOut.add(args.key);
          return bought;
        },
      });
      expect(faultIn(service)).toMatchObject({
        checker: 'oracle',
        message: expect.stringMatching(ONCE),
      });
    });

    test('a set that is checked only after the tables → ServiceFault with both replies', () => {
      const soldOut = new Set<string>();
      const service = keeping({
        buy: (args: { key: string }, context: never) => {
          const bought = buy(args, context);
          if (bought === false) soldOut.add(args.key);
          return soldOut.has(args.key) ? false : bought;
        },
      });
      const fault = faultIn(service, 22);
      expect(fault).toMatchObject({ checker: 'repetition' });
      expect(String(fault)).toMatch(
        /buy\(\{ key: 'a' \}\) was answered true \(red\), and answered false \(red\) when the same run was repeated: a generator .*\nAgain: .* seed: 22, runs: 3,/,
      );
    });

    function faultIn(service: Service, seed = 1): unknown {
      try {
        return simulateService(service, { ...options, seed, runs: 3, profile: 'calm' });
      } catch (error) {
        return error;
      }
    }

    test.each<[string, (args: unknown, context: Spread) => unknown]>([
      ['by the tables', (_, { tables }) => memo(tables, () => tables.items.row('a').left)],
      ['by one of them', (_, { tables }) => memo(tables.items, () => tables.items.row('a').left)],
    ])('a memo %s, which are the same for all runs of a site → ServiceFault', (_, left) => {
      expect(faultIn(keeping({ left }))).toMatchObject({ checker: 'oracle' });
    });

    const memos = new WeakMap<object, number>();
    function memo(by: object, make: () => number): number {
      const known = memos.get(by) ?? make();
      memos.set(by, known);
      return known;
    }

    test.each<[string, (args: unknown, context: Spread) => unknown]>([
      [
        'looks at the fields of a row',
        (_, { tables }) => Object.keys(tables.items.row('a')).length,
      ],
      ['freezes its context', (_, context) => Object.freeze(context).tables.items.row('a').left],
    ])('a generator %s → the same at sites and at the model', (_, left) => {
      expect(faultIn(keeping({ left }))).toMatchObject({ runs: 3 });
    });

    test('what it has made of what it reads, by what it reads → nothing to blame', () => {
      const made = new Map<number, string>();
      const service = keeping({
        left: (
          { key: of }: { key: string },
          { tables }: { tables: { items: { row(key: string): { left: number } } } },
        ) => {
          const known = made.get(tables.items.row(of).left);
          if (known !== undefined) return Number(known);
          made.set(tables.items.row(of).left, `${tables.items.row(of).left}`);
          return tables.items.row(of).left;
        },
      });
      expect(faultIn(service)).toMatchObject({ runs: 3 });
    });

    test.each([
      ['of one kind of call', (n: number) => n % 7, [1, 2, 3, 4]],
      ['that comes to its end', (n: number) => (n < 40 ? n : undefined), [1]],
    ])('a draw with a state, %s → the result is no judgement of the service', (_, next, seeds) => {
      for (const seed of seeds) {
        let n = 0;
        const draw: SimulateServiceOptions['draw'] = ({ pick }) => {
          const count = next((n += 1) - 1);
          if (count === undefined) return undefined as never;
          return pick([
            shop.buy({ key: 'a' }),
            shop.left({ key: 'a' }),
            shop.restock({ key: `${count}` }),
          ]);
        };
        const sizes = { clientCount: 4, operationsPerClient: 10 };
        expect(
          simulateService(shopService('red'), { runs: 1, seed, draw, overrides: sizes }).runs,
        ).toBe(1);
      }
    });
  });

  test('the time that a generator is given → whole milliseconds, as at a site', () => {
    const times = defineContract('times', {
      mark: { access: 'write', args: key, result: z.int() },
    });
    const service: Service = defineService(times, {
      tables: { rows: table({ at: register<number>() }) },
      shadowOperations: ({ rows }) => ({
        mark: blue((a: { key: string; at: number }) => [rows.row(a.key).at.write(a.at)]),
      }),
      generators: { mark: (args, { shadow, now }) => shadow.mark({ ...args, at: now }, now) },
    });
    const counts = simulateService(service, { runs: 5, draw: () => times.mark({ key: 'a' }) })
      .operations['mark'];
    expect(counts?.blue).toBeGreaterThan(20);
  });

  test('an invariant that returns a promise → ServiceFault with the cause', () => {
    const holds = (async () => true) as unknown as () => boolean;
    const service = {
      ...(shopService('red') as unknown as Service),
      invariants: { items: { 'nothing is sold twice': holds } },
    };
    expect(() => simulateService(service, { ...options, runs: 1 })).toThrow(
      expect.objectContaining({
        checker: 'invariants',
        message: expect.stringContaining('which returned a promise'),
      }),
    );
  });

  test('a fault under a profile → the call that repeats it has the profile too', () => {
    const under = { ...options, profile: 'calm' } as const;
    expect(() => simulateService(shopService('blue'), under)).toThrow(
      /\{ …, profile: 'calm', seed: \d+, runs: 1, overrides: /,
    );
  });

  test('buying is blue → ServiceFault with the invariant, and what repeats it', () => {
    const faultOf = (value: object): unknown => {
      try {
        return simulateService(shopService('blue'), { ...options, ...value });
      } catch (error) {
        return error;
      }
    };
    const fault = faultOf({});
    expect(fault).toBeInstanceOf(ServiceCheckError);
    expect(fault).toMatchObject({
      checker: 'invariants',
      message: expect.stringContaining('nothing is sold twice'),
    });
    const { seed, overrides, message } = fault as ServiceCheckError;
    expect(message).toContain(`{ …, seed: ${seed}, runs: 1, overrides: `);
    expect(faultOf({ seed, runs: 1, overrides: overrides })).toMatchObject({
      checker: 'invariants',
      seed,
    });
  });

  test('two rows that must not both go → only a condition on all of them sees it', () => {
    const ward = defineContract('ward', {
      hire: { access: 'write', args: key, result: z.null() },
      leave: { access: 'write', args: key, result: z.boolean() },
    });
    const wardService: Service = defineService(ward, {
      tables: { doctors: table({ shifts: counter() }), opened: table({}) },
      shadowOperations: ({ doctors, opened }) => ({
        hire: red((a: { key: string }) => [
          doctors.row(a.key).shifts.add(1),
          opened.insert('ward'),
        ]),
        leave: blue((a: { key: string; count: number }) => [
          doctors.row(a.key).shifts.add(-a.count),
        ]),
      }),
      generators: {
        hire: (args, { tables, shadow }) =>
          tables.doctors.row(args.key).shifts > 0 ? null : shadow.hire(args, null),
        // One has to stay: each site can see to that by itself, and two of them together cannot.
        leave: (args, { tables: { doctors }, shadow }) => {
          const onDuty = doctors.keys().filter((item) => doctors.row(item).shifts > 0);
          const count = doctors.row(args.key).shifts;
          return onDuty.length >= 2 && count > 0 && shadow.leave({ ...args, count }, true);
        },
      },
      snapshotInvariants: {
        'a doctor is on duty': ({ doctors, opened }) =>
          !opened.has('ward') || doctors.keys().some((item) => doctors.row(item).shifts > 0),
      },
    });
    const draw: SimulateServiceOptions['draw'] = ({ pick }) =>
      pick([ward.hire, ward.leave, ward.leave])({ key: pick(['ann', 'bob']) });
    // The first of these runs shows it.
    const calm = { seed: 3, runs: scaleRuns(10), profile: 'calm', draw } as const;
    expect(() => simulateService(wardService, calm)).toThrow(
      expect.objectContaining({
        checker: 'invariants',
        message: expect.stringContaining('"a doctor is on duty"'),
      }),
    );
    simulateService({ ...wardService, snapshotInvariants: {} }, calm);
    simulateService(withColors(wardService, { leave: 'red' }), calm);
  });

  describe('one value that a generator gives', () => {
    const put = defineContract('values', {
      put: { access: 'write', args: key, result: z.unknown(), errors: { no: z.unknown() } },
      show: { access: 'read', args: key, result: z.unknown() },
    });
    /**
     * The value is in each kind of field that takes any, in a reply, and in the result of a read.
     */
    const giving = (make: () => unknown): Service =>
      defineService(put, {
        tables: { rows: table({ last: register(), all: log(), own: cell() }) },
        shadowOperations: ({ rows }) => ({
          put: blue((a: { key: string }) => [
            rows.row(a.key).last.write(make()),
            rows.row(a.key).all.append(make()),
          ]),
          own: red((a: { key: string }) => [
            rows.row(a.key).own.assign(make()),
            rows.row(a.key).last.write(make()),
          ]),
        }),
        generators: {
          put: (args, { random, shadow, errors }) => {
            const chance = random();
            if (chance < 0.2) throw errors.no(make());
            return chance < 0.4
              ? make()
              : chance < 0.7
                ? shadow.put(args, make())
                : shadow.own(args, make());
          },
          show: (args, { tables }) => tables.rows.row(args.key).all,
        },
      });
    const check = (service: Service) =>
      simulateService(service, {
        runs: 2,
        draw: ({ pick }) => pick([put.put({ key: 'a' }), put.show({ key: 'a' })]),
      }).operations['put'];

    test.each([
      ['-0', () => -0],
      ['-0 within', () => ({ by: [-0] })],
      ['undefined', () => undefined],
      ['a property that is undefined', () => ({ text: 'a', note: undefined })],
      ['a list with undefined in it', () => [undefined, 1]],
      ['an object without prototype', () => Object.assign(Object.create(null) as object, { n: 1 })],
      ['a big integer', () => [10n ** 30n]],
      ['a date', () => new Date(5)],
      ['bytes', () => [new Uint8Array([1, 2])]],
    ])('%s → every property holds', (_, make) => {
      const { blue: early = 0, red: late = 0 } = check(giving(make)) ?? {};
      expect(early).toBeGreaterThan(0);
      expect(late).toBeGreaterThan(0);
    });

    test.each([
      ['NaN', () => Number.NaN],
      ['half a surrogate', () => ['\ud800']],
      ['a date that is none', () => new Date(Number.NaN)],
      ['a map', () => new Map()],
    ])('%s, which cannot be sent → ServiceFault with the cause', (_, make) => {
      expect(() => check(giving(make))).toThrow(
        /^generators: \w+ at site \d fails: INVALID_VALUE effects\.0\.value/,
      );
    });
  });

  test('an operation that its contract declares blue, withColors red → ServiceFault with the cause', () => {
    const till = defineContract('till', {
      pay: { access: 'write', args: key, result: z.null(), color: 'blue' },
    });
    const service: Service = defineService(till, {
      tables: { rows: table({ paid: counter() }) },
      shadowOperations: ({ rows }) => ({
        pay: blue((a: { key: string }) => [rows.row(a.key).paid.add(1)]),
      }),
      generators: { pay: (args, { shadow }) => shadow.pay(args, null) },
    });
    const value = { runs: 5, draw: (): Operation => till.pay({ key: 'a' }) };
    expect(simulateService(service, value).operations['pay']?.blue).toBeGreaterThan(5);
    expect(() => simulateService(withColors(service, { pay: 'red' }), value)).toThrow(
      /^generators: pay at site \d fails: INVALID_ARGUMENT 'pay' is declared blue but chose 'pay', which is red/,
    );
  });

  test('a generator throws, now and then → ServiceFault with what it threw', () => {
    const service: Service = shopService('red');
    let runs = 0;
    const restock = (): null => {
      runs += 1;
      if (runs % 2 === 1) throw new Error('at the site alone');
      return null;
    };
    const failing = { ...service, generators: { ...service.generators, restock } };
    expect(() =>
      simulateService(failing, { ...options, draw: () => shop.restock({ key: 'a' }) }),
    ).toThrow(
      /^generators: the generator of 'restock' threw at site \d: Error: at the site alone\./,
    );
  });

  test('generator that depends on more than its context → the oracle notices', () => {
    let count = 0;
    const service: Service = shopService('red');
    const generators = { ...service.generators, left: () => (count += 1) };
    expect(() => simulateService({ ...service, generators }, options)).toThrow(/^oracle: /);
  });

  test.each([
    [{ runs: 0 }, 'runs'],
    [{ seed: -1 }, 'seed'],
    [{ seed: 2 ** 32 }, 'seed'],
    [{ profile: 'windy' }, 'profile'],
    [{ draw: 1 }, 'draw'],
  ])('option that does not fit: %o → INVALID_ARGUMENT naming it', (value, field) => {
    const call = (): unknown =>
      simulateService(shopService('red'), { ...options, ...value } as never);
    expect(call).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT', field }));
  });
});
