/** An author's own service in the simulator. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineContract } from '../../src/contract/index.ts';
import type { Operation } from '../../src/index.ts';
import { blue, counter, defineService, recoloured, red, table } from '../../src/server/index.ts';
import type { Service } from '../../src/server/index.ts';
import { checkService, ServiceFault } from '../../src/testing/index.ts';
import type { CheckServiceOptions } from '../../src/testing/index.ts';

const key = z.object({ key: z.string() });
const shop = defineContract('shop', {
  restock: { effect: 'update', args: key, result: z.null() },
  buy: { effect: 'update', args: key, result: z.boolean() },
  left: { effect: 'read', args: key, result: z.int() },
});

const shopService = (colour: 'red' | 'blue') =>
  defineService(shop, {
    tables: { items: table({ left: counter() }) },
    shadowOperations: ({ items }) => {
      const take = (a: { key: string }) => [items.row(a.key).left.add(-1)];
      return {
        restock: blue((a: { key: string }) => [items.row(a.key).left.add(2)]),
        buy: colour === 'red' ? red(take) : blue(take),
      };
    },
    generators: {
      restock: (args, { shadow }) => shadow.restock(args, null),
      buy: (args, { tables, shadow }) => (tables.items.row(args.key).left > 0 ? shadow.buy(args, true) : false),
      left: (args, { tables }) => tables.items.row(args.key).left,
    },
    invariants: { items: { 'nothing is sold twice': ({ left }) => left >= 0 } },
  });

const options: CheckServiceOptions = {
  runs: 40,
  draw: ({ pick }) =>
    pick([shop.restock({ key: 'a' }), shop.buy({ key: 'a' }), shop.buy({ key: 'a' }), shop.left({ key: 'a' })]),
};

describe('checkService', () => {
  test('buying is red → every property holds, and something happened', () => {
    const { runs, coverage } = checkService(shopService('red'), options);
    expect(runs).toBe(40);
    expect(coverage['operations answered']).toBeGreaterThan(100);
    expect(coverage['crashes']).toBeGreaterThan(0);
  });

  test('what became of each operation → by colour, and nothing of one that was not drawn', () => {
    const counts = (given: Service, over: object = {}) =>
      checkService(given, { ...options, runs: 5, profile: 'calm', ...over }).operations;
    const none = { blue: 0, red: 0, unchanged: 0, failed: 0 };
    const onlyBuys = { draw: (): Operation => shop.buy({ key: 'a' }) };
    const { buy, restock } = counts(shopService('red'), onlyBuys);
    expect(restock).toEqual(none);
    expect(buy).toMatchObject({ blue: 0, red: 0, unchanged: expect.any(Number) });
    expect(buy?.unchanged).toBeGreaterThan(5);
    const all = counts(shopService('red'));
    expect(all).toEqual({
      restock: { ...none, blue: expect.any(Number), failed: expect.any(Number) },
      buy: { ...none, red: expect.any(Number), unchanged: expect.any(Number), failed: expect.any(Number) },
      left: { ...none, unchanged: expect.any(Number), failed: expect.any(Number) },
    });
    expect(all['restock']?.blue).toBeGreaterThan(5);
    expect(all['buy']?.red).toBeGreaterThan(5);
  });

  test.each([
    ['nothing', undefined, 'draw: gave undefined: operation'],
    ['an operation that the contract does not have', { name: 'sell', effect: 'update' }, 'shop has no operation sell'],
    ['arguments that do not fit', { ...shop.buy({ key: 'a' }), args: { key: 5 } }, 'key'],
  ])('draw gives %s → ServiceFault that says so', (_, given, message) => {
    const call = (): unknown => checkService(shopService('red'), { runs: 1, draw: () => given as never });
    expect(call).toThrow(expect.objectContaining({ checker: 'draw', message: expect.stringContaining(message) }));
  });

  test('an invariant that gives a promise → ServiceFault that says so', () => {
    const holds = (async () => true) as unknown as () => boolean;
    const service = {
      ...(shopService('red') as unknown as Service),
      invariants: { items: { 'nothing is sold twice': holds } },
    };
    expect(() => checkService(service, { ...options, runs: 1 })).toThrow(
      expect.objectContaining({ checker: 'invariants', message: expect.stringContaining('which gave a promise') }),
    );
  });

  test('a fault under a profile → the call that repeats it has the profile too', () => {
    const under = { ...options, profile: 'calm' } as const;
    expect(() => checkService(shopService('blue'), under)).toThrow(/\{ …, profile: 'calm', seed: \d+, runs: 1, with: /);
  });

  test('buying is blue → ServiceFault with the invariant, and what repeats it', () => {
    const faultOf = (given: object): unknown => {
      try {
        return checkService(shopService('blue'), { ...options, ...given });
      } catch (error) {
        return error;
      }
    };
    const fault = faultOf({});
    expect(fault).toBeInstanceOf(ServiceFault);
    expect(fault).toMatchObject({ checker: 'invariants', message: expect.stringContaining('nothing is sold twice') });
    const { seed, circumstances, message } = fault as ServiceFault;
    expect(message).toContain(`{ …, seed: ${seed}, runs: 1, with: `);
    expect(faultOf({ seed, runs: 1, with: circumstances })).toMatchObject({ checker: 'invariants', seed });
  });

  test('two rows that must not both go → only a condition on all of them sees it', () => {
    const ward = defineContract('ward', {
      hire: { effect: 'update', args: key, result: z.null() },
      leave: { effect: 'update', args: key, result: z.boolean() },
    });
    const wardService: Service = defineService(ward, {
      tables: { doctors: table({ shifts: counter() }), opened: table({}) },
      shadowOperations: ({ doctors, opened }) => ({
        hire: red((a: { key: string }) => [doctors.row(a.key).shifts.add(1), opened.insert('ward')]),
        leave: blue((a: { key: string; count: number }) => [doctors.row(a.key).shifts.add(-a.count)]),
      }),
      generators: {
        hire: (args, { tables, shadow }) => (tables.doctors.row(args.key).shifts > 0 ? null : shadow.hire(args, null)),
        // One has to stay: each site can see to that by itself, and two of them together cannot.
        leave: (args, { tables: { doctors }, shadow }) => {
          const onDuty = doctors.keys().filter((each) => doctors.row(each).shifts > 0);
          const count = doctors.row(args.key).shifts;
          return onDuty.length >= 2 && count > 0 && shadow.leave({ ...args, count }, true);
        },
      },
      snapshotInvariants: {
        'somebody is on duty': ({ doctors, opened }) =>
          !opened.has('ward') || doctors.keys().some((each) => doctors.row(each).shifts > 0),
      },
    });
    const draw: CheckServiceOptions['draw'] = ({ pick }) =>
      pick([ward.hire, ward.leave, ward.leave])({ key: pick(['ann', 'bob']) });
    const calm = { runs: 60, profile: 'calm', draw } as const;
    expect(() => checkService(wardService, calm)).toThrow(
      expect.objectContaining({ checker: 'invariants', message: expect.stringContaining('"somebody is on duty"') }),
    );
    checkService({ ...wardService, snapshotInvariants: {} }, calm);
    checkService(recoloured(wardService, { leave: 'red' }), calm);
  });

  test('generator that depends on more than its context → the oracle notices', () => {
    let count = 0;
    const service: Service = shopService('red');
    const generators = { ...service.generators, left: () => (count += 1) };
    expect(() => checkService({ ...service, generators }, options)).toThrow(/^oracle: /);
  });

  test.each([
    [{ runs: 0 }, 'runs'],
    [{ seed: -1 }, 'seed'],
    [{ profile: 'windy' }, 'profile'],
    [{ draw: 1 }, 'draw'],
  ])('option that does not fit: %o → INVALID_ARGUMENT naming it', (given, field) => {
    const call = (): unknown => checkService(shopService('red'), { ...options, ...given } as never);
    expect(call).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT', field }));
  });
});
