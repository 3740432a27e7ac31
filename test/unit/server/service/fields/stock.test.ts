/**
 * A stock: what takes that decide when they are applied do to it, laid over it, and under
 * contention.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createClient } from '../../../../../src/index.ts';
import { defineContract } from '../../../../../src/contract/contract.ts';
import { createEmbedded } from '../../../../../src/server/node/embedded/embedded.ts';
import type { Effect } from '../../../../../src/server/service/records/effect.ts';
import { PendingStock, stockKind } from '../../../../../src/server/service/fields/stock.ts';
import { withMeta } from '../../../../../src/server/service/records/reply.ts';
import { defineService } from '../../../../../src/server/service/service.ts';
import { red } from '../../../../../src/server/service/shadow-operation.ts';
import { createEffectTables } from '../../../../../src/server/service/effect-builders.ts';
import { queue, register, stock, table } from '../../../../../src/server/service/tables.ts';
import { siteAt } from '../../../../support/origins.ts';
import {
  onceEach,
  sharesOf,
  testShares,
  unnoted,
  type Note,
} from '../../../../support/property-shares.ts';
import { RED } from '../../../../../src/server/service/records/origin.ts';
import { scaleRuns } from '../../../../support/lane.ts';

const address = { table: 't', key: 'k', field: 'f' };
const add = (value: number): Effect => ({ ...address, action: 'add', value });
const take = (amount: number, atLeast = 0): Effect => ({
  ...address,
  action: 'take',
  value: { amount, atLeast },
});
const stamp = { time: 1, site: siteAt(0), entry: RED, version: 1, seen: [0, 0] };

/** Written down a second time: what one effect does to a number. */
function plainly(left: number, { action, value }: Effect): { left: number; result: unknown } {
  if (action === 'add')
    return { left: left + (value as number), result: { remaining: left + (value as number) } };
  const { amount, atLeast } = value as { amount: number; atLeast: number };
  const took = left - amount >= atLeast;
  const remaining = took ? left - amount : left;
  return { left: remaining, result: { took, remaining } };
}

const effectArbitrary = fc.oneof(
  fc.nat(6).map(add),
  fc
    .tuple(fc.nat(6), fc.integer({ min: -4, max: 4 }))
    .map(([amount, atLeast]) => take(amount, atLeast)),
);

const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('add' as const),
      effects: fc.array(effectArbitrary, { maxLength: 3 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('commit first' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('drop' as const), index: fc.nat(5) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('foreign' as const), effect: effectArbitrary }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('clear' as const) }) },
);

const asANumber = (note: Note): fc.IRawProperty<unknown> =>
  fc.property(fc.array(effectArbitrary, { maxLength: 30 }), (effects) => {
    const once = onceEach(note);
    const state = stockKind.state();
    let left = 0;
    for (const effect of effects) {
      const expected = plainly(left, effect);
      const result = state.apply(effect, stamp) as { took?: boolean };
      expect(result).toEqual(expected.result);
      if (result.took === true)
        expect(state.read()).toBeGreaterThanOrEqual((effect.value as { atLeast: number }).atLeast);
      if (result.took === true) once('one takes');
      if (result.took === false)
        once(left > 0 ? 'one is refused though some are left' : 'one is refused');
      left = expected.left;
      expect(state.read()).toBe(left);
    }
    expect(stockKind.state(JSON.parse(JSON.stringify(state.save()))).read()).toBe(left);
    if (left > 0 && effects.length > 10) once('some are left after many effects');
    state.clear(stamp);
    expect([state.read(), state.isInitial]).toEqual([0, true]);
  });

describe('a stock', () => {
  test('any effects → as a number would have them, never below what a take was to leave', async () => {
    await fc.assert(asANumber(unnoted), { numRuns: scaleRuns(300) });
  });

  testShares('the effects → takes and refusals in most runs, some left after many', async () => {
    const shares = await sharesOf(asANumber, 300);
    for (const description of [
      'one takes',
      'one is refused though some are left',
      'some are left after many effects',
    ]) {
      expect(shares[description], description).toBeGreaterThan(0.4);
    }
  });

  test('beyond 2^53 → exact, one more taken than was there is refused', () => {
    const state = stockKind.state();
    const most = Number.MAX_SAFE_INTEGER;
    for (const item of [add(most), add(2), take(most), take(3)]) state.apply(item, stamp);
    expect(state.read()).toBe(2);
  });

  test('pending: any additions, ends and foreign changes → what one by one would give', () => {
    fc.assert(
      fc.property(fc.nat(8), fc.array(step, { maxLength: 40, size: 'max' }), (initial, steps) => {
        let committed = initial;
        let pending: { owner: number; effects: (Effect | undefined)[] }[] = [];
        const stockOver = new PendingStock();
        let owner = 0;
        const over = (): number =>
          pending
            .flatMap(({ effects }) => effects)
            .reduce(
              (left, effect) => (effect === undefined ? 0 : plainly(left, effect).left),
              committed,
            );
        for (const item of steps) {
          if (item.kind === 'add') {
            owner += 1;
            const mine: { owner: number; effects: (Effect | undefined)[] } = { owner, effects: [] };
            pending.push(mine);
            for (const effect of item.effects) {
              const { result } = plainly(over(), effect);
              expect(stockOver.append(owner, effect, committed)).toEqual(result);
              mine.effects.push(effect);
            }
          } else if (item.kind === 'clear') {
            owner += 1;
            stockOver.clear(owner);
            pending.push({ owner, effects: [undefined] });
          } else if (item.kind === 'commit first') {
            const first = pending.shift();
            if (first === undefined) continue;
            stockOver.remove(first.owner);
            for (const effect of first.effects)
              committed = effect === undefined ? 0 : plainly(committed, effect).left;
          } else if (item.kind === 'drop') {
            const dropped = pending[item.index];
            pending = pending.filter((element) => element !== dropped);
            if (dropped !== undefined) stockOver.remove(dropped.owner);
          } else {
            committed = plainly(committed, item.effect).left;
          }
          expect(stockOver.applyTo(committed)).toBe(over());
          expect(stockOver.isEmpty).toBe(pending.every(({ effects }) => effects.length === 0));
        }
      }),
      { numRuns: scaleRuns(1000) },
    );
  });

  test('amounts and limits that are no integers → INVALID_ARGUMENT that names the field', () => {
    const { events } = createEffectTables({ events: table({ seats: stock() }) });
    const seats = events.row('e').seats;
    for (const amount of [-1, 0.5, NaN, 2 ** 60, '1' as never]) {
      const refused = expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'events.seats' });
      expect(() => seats.add(amount)).toThrow(refused);
      expect(() => seats.take(amount)).toThrow(refused);
    }
    expect(() => seats.take(1, { atLeast: 0.5 })).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'events.seats.atLeast' }),
    );
    for (const [options, field] of [
      [{ atLest: 2 }, 'events.seats.atLest'],
      [{ atLeast: 2, min: undefined }, 'events.seats.min'],
      [2, 'events.seats'],
      [null, 'events.seats'],
      [[2], 'events.seats'],
    ] as const) {
      const refused = expect.objectContaining({ code: 'INVALID_ARGUMENT', field });
      expect(() => seats.take(1, options as never)).toThrow(refused);
    }
    expect(seats.take(2, { atLeast: -5 })).toMatchObject({
      action: 'take',
      value: { amount: 2, atLeast: -5 },
    });
  });
});

const contract = defineContract('sale', {
  open: {
    access: 'write',
    args: z.object({ event: z.string(), seats: z.int() }),
    result: z.null(),
  },
  book: {
    access: 'write',
    args: z.object({ event: z.string(), who: z.string(), seats: z.int() }),
    result: z.boolean(),
  },
  left: { access: 'read', args: z.object({ event: z.string() }), result: z.int() },
});

const service = defineService(contract, {
  tables: { events: table({ seats: stock(), asked: queue<string>(), by: register<string>() }) },
  shadowOperations: ({ events }) => ({
    open: red((a: { event: string; seats: number }) => [events.row(a.event).seats.add(a.seats)]),
    book: red(
      (a: { event: string; who: string; seats: number }) => [
        events.row(a.event).seats.take(a.seats, { atLeast: 2 }),
        events.row(a.event).asked.push(a.who),
      ],
      ([taken]) => withMeta(taken.took, { remaining: taken.remaining }),
    ),
  }),
  generators: {
    open: (args, { shadow }) => shadow.open(args, null),
    book: (args, { shadow }) => shadow.book(args),
    left: ({ event }, { tables }) => tables.events.row(event).seats,
  },
  alwaysRed: ['open', 'book'],
});

describe('a stock that many take from', () => {
  test('buyers at three sites, more than there are seats → no CONFLICT, all but the limit sold, previews too', async () => {
    const deployment = createEmbedded(service, {
      sites: ['ireland', 'frankfurt', 'virginia'],
      latency: 'eu-us',
    });
    const clients = (['ireland', 'frankfurt', 'virginia'] as const).map((site) =>
      createClient(deployment.site(site)),
    );
    const [ireland] = clients;
    await ireland?.invoke(contract.open({ event: 'E', seats: 42 }));
    const reported = await Promise.all(
      Array.from({ length: 90 }, async (_, buyer) => {
        const call = clients[buyer % 3]?.invoke(
          contract.book({ event: 'E', who: `u${buyer}`, seats: 1 }),
        );
        const views: unknown[] = [];
        call?.onUpdate((_value, { level }) => void views.push(level));
        return [await call, views];
      }),
    );
    expect(reported.filter(([took]) => took === true)).toHaveLength(40);
    expect(reported.filter(([took]) => took === false)).toHaveLength(50);
    expect(reported.every(([, views]) => (views as unknown[])[0] === 'tentative')).toBe(true);
    for (const client of clients)
      expect(await client.invokeStrong(contract.left({ event: 'E' }))).toBe(2);
    await deployment.close();
  });
});
