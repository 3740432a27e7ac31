/**
 * A bounded field: its ledger adds up in every order of changes, and a stamp names the site whose
 * rights are used.
 */
// @rule RIGHTS-1, RIGHTS-2
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Effect, Stamp } from '../../../../../src/server/service/records/effect.ts';
import { MAX_ORIGINS, RED } from '../../../../../src/server/service/records/origin.ts';
import type { Origin } from '../../../../../src/server/service/records/origin.ts';
import {
  boundedCounterKind,
  createTransferEffect,
} from '../../../../../src/server/service/fields/bounded-counter.ts';
import type { Ledger } from '../../../../../src/server/service/fields/ledger.ts';
import { createBoundedView } from '../../../../../src/server/service/fields/ledger.ts';
import { createEffectTables } from '../../../../../src/server/service/effect-builders.ts';
import { boundedCounter, table } from '../../../../../src/server/service/tables.ts';
import { EffectValidator } from '../../../../../src/server/service/effect-validator.ts';
import { Store } from '../../../../../src/server/service/state/store.ts';
import { siteAt } from '../../../../support/origins.ts';
import { sharesOf, unnoted, type Note } from '../../../../support/property-shares.ts';
import { scaleRuns } from '../../../../support/lane.ts';

const address = { table: 't', key: 'k', field: 'f' };
const give = (value: number): Effect => ({ ...address, action: 'give', value });
const take = (value: number): Effect => ({ ...address, action: 'take', value });
const [IRL, FRK] = [siteAt(0), siteAt(1)];

const getStamp = (site: Origin, isRed = false): Stamp => {
  return { time: 1, site, entry: isRed ? RED : site, version: 1, seen: [0, 0, 0] };
};

interface Change {
  readonly effect: Effect;
  readonly stamp: Stamp;
}

const origin = fc.constantFrom(RED, IRL, FRK);
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({
    effect: fc.oneof(
      fc.nat(9).map(give),
      fc.nat(9).map(take),
      fc
        .tuple(origin, fc.nat(9))
        .map(([to, amount]) => createTransferEffect(address, { to, amount })),
    ),
    stamp: fc
      .tuple(fc.constantFrom(IRL, FRK), fc.boolean())
      .map(([site, isRed]) => getStamp(site, isRed)),
  }),
);

function stateAfter(changes: readonly Change[]): ReturnType<typeof boundedCounterKind.state> {
  const state = boundedCounterKind.state(undefined, { min: 2 });
  for (const { effect, stamp } of changes) state.apply(effect, stamp);
  return state;
}

describe('what a shadow operation gives', () => {
  const { t } = createEffectTables({ t: table({ f: boundedCounter({ min: 0 }) }) });
  const field = t.row('k').f as unknown as Readonly<
    Record<string, (amount: number, options?: unknown) => Effect>
  >;

  test.each(['give', 'take'])(
    '%s with options, as a stock has them → INVALID_ARGUMENT',
    (action) => {
      const refused = {
        code: 'INVALID_ARGUMENT',
        field: 't.f',
        message: expect.stringContaining('has no options'),
      };
      expect(() => field[action]?.(2, { atLeast: 3 })).toThrow(expect.objectContaining(refused));
      expect(field[action]?.(2)).toEqual({ table: 't', key: 'k', field: 'f', action, value: 2 });
    },
  );
});

const noteChanges = (changes: readonly Change[], { takes }: Ledger, note: Note): void => {
  if (changes.length > 5) note('many changes');
  if (takes > 0) note('something is taken');
};

const inAnyOrder = (note: Note): fc.IRawProperty<unknown> => {
  const shuffled = fc
    .array(change, { minLength: 2, maxLength: 20 })
    .chain((changes) =>
      fc.tuple(fc.constant(changes), fc.shuffledSubarray(changes, { minLength: changes.length })),
    );
  return fc.property(shuffled, ([changes, others]) => {
    const state = stateAfter(changes);
    expect(stateAfter(others).snapshot()).toEqual(state.snapshot());
    const ledger = state.read() as Ledger;
    const { grants: value, takes, holders, left } = ledger;
    const retained = holders.reduce((sum, item) => sum + ledger.getHolding(item), 0);
    expect([left, ledger.value, retained + takes]).toEqual([retained, 2 + retained, value]);
    noteChanges(changes, ledger, note);
  });
};

const savedAndMadeAgain = (note: Note): fc.IRawProperty<unknown> =>
  fc.property(
    fc.array(change, { minLength: 2, maxLength: 20 }),
    fc.array(change, { maxLength: 4 }),
    (before, after) => {
      const state = stateAfter(before);
      const again = boundedCounterKind.state(JSON.parse(JSON.stringify(state.save())), { min: 2 });
      for (const { effect, stamp } of after)
        for (const item of [state, again]) item.apply(effect, stamp);
      const ledger = state.read() as Ledger;
      expect([again.snapshot(), (again.read() as Ledger).value]).toEqual([
        state.snapshot(),
        ledger.value,
      ]);
      noteChanges(before, ledger, note);
    },
  );

describe('a ledger', () => {
  test('the same changes in any order → the same; rights, pool and taken are all that was given', async () => {
    await fc.assert(inAnyOrder(unnoted), { numRuns: scaleRuns(300) });
  });

  test('saved and made again → the same, whatever comes then', async () => {
    await fc.assert(savedAndMadeAgain(unnoted), { numRuns: scaleRuns(300) });
  });

  test.each([
    ['any order', inAnyOrder],
    ['saved', savedAndMadeAgain],
  ])('the changes, %s → many, of which some take', async (_, property) => {
    const shares = await sharesOf(property, 200);
    for (const description of ['many changes', 'something is taken']) {
      expect(shares[description], description).toBeGreaterThan(0.4);
    }
  });

  test('a blue take uses the rights of its site, a red one those of the pool; what is given belongs to its site', () => {
    const ledger = stateAfter([
      { effect: give(9), stamp: getStamp(IRL) },
      { effect: give(4), stamp: getStamp(FRK, true) },
      { effect: createTransferEffect(address, { to: RED, amount: 3 }), stamp: getStamp(IRL) },
      { effect: take(2), stamp: getStamp(IRL) },
      { effect: take(1), stamp: getStamp(FRK, true) },
    ]).read() as Ledger;
    expect([
      ledger.getHolding(IRL),
      ledger.getHolding(FRK),
      ledger.pool,
      ledger.takes,
      ledger.grants,
    ]).toEqual([4, 4, 2, 3, 13]);
    expect([createBoundedView(ledger, IRL), createBoundedView(ledger, undefined)]).toEqual([
      { value: 12, left: 10, rights: 4 },
      { value: 12, left: 10, rights: 10 },
    ]);
  });

  test('a site that has had rights, and has none → the ledger is shown as if it never had any', () => {
    const value = { effect: give(2), stamp: getStamp(IRL) };
    const there = {
      effect: createTransferEffect(address, { to: FRK, amount: 2 }),
      stamp: getStamp(IRL),
    };
    const back = {
      effect: createTransferEffect(address, { to: IRL, amount: 2 }),
      stamp: getStamp(FRK),
    };
    expect(stateAfter([value, there, back]).snapshot()).toEqual(stateAfter([value]).snapshot());
  });

  test('beyond 2^53 → exact', () => {
    const most = Number.MAX_SAFE_INTEGER;
    const changes = [give(most), give(2), take(most), take(1)].map((effect) => ({
      effect,
      stamp: getStamp(IRL),
    }));
    expect((stateAfter(changes).read() as Ledger).left).toBe(1);
  });
});

describe('in flight', () => {
  test('takes draw on the pool, and added amounts belong to no site; removed in any order → as before', () => {
    const base = stateAfter([{ effect: give(5), stamp: getStamp(IRL) }]).read() as Ledger;
    for (const order of [
      [1, 2],
      [2, 1],
    ]) {
      const pending = boundedCounterKind.pending();
      pending.append(1, take(2), base);
      pending.append(2, give(4), base);
      const over = pending.applyTo(base) as Ledger;
      expect([
        over.left,
        over.value,
        over.pool,
        over.getHolding(RED),
        over.getHolding(IRL),
      ]).toEqual([7, 9, -2, -2, 5]);
      for (const owner of order) pending.remove(owner);
      expect([pending.isEmpty, (pending.applyTo(base) as Ledger).left]).toEqual([true, 5]);
    }
  });
});

describe('in flight, beyond 2^53', () => {
  const most = Number.MAX_SAFE_INTEGER;
  const toPool = (amount: number): Change => ({
    effect: createTransferEffect(address, { to: RED, amount }),
    stamp: getStamp(IRL),
  });

  test.each([3, 4, 5, 6])(
    'a pool of the most and %i, of which the most is taken → what it has, exactly',
    (more) => {
      const gifts = [give(most), give(more)].map((effect) => ({ effect, stamp: getStamp(IRL) }));
      const base = stateAfter([...gifts, toPool(most), toPool(more)]).read() as Ledger;
      const pending = boundedCounterKind.pending();
      pending.append(1, take(most), base);
      pending.append(2, give(most), base);
      pending.append(3, give(more), base);
      const over = pending.applyTo(base) as Ledger;
      expect([over.pool, over.takes]).toEqual([more, most]);
      for (const owner of [3, 2]) pending.remove(owner);
      const remaining = pending.applyTo(base) as Ledger;
      expect([remaining.left, remaining.value, remaining.pool]).toEqual([more, more + 2, more]);
    },
  );
});

describe('a table with a bounded field', () => {
  test('rows that can be removed, minima and amounts that are no integers → INVALID_ARGUMENT', () => {
    const refused = (field: string): unknown =>
      expect.objectContaining({ code: 'INVALID_ARGUMENT', field });
    expect(() => table({ seats: boundedCounter({ min: 0 }) }, { removable: true })).toThrow(
      refused('removable'),
    );
    expect(() => boundedCounter({ min: 0.5 })).toThrow(refused('min'));
    const { events } = createEffectTables({ events: table({ seats: boundedCounter({ min: 0 }) }) });
    for (const amount of [-1, 0.5, NaN, 2 ** 60, '1' as never]) {
      expect(() => events.row('e').seats.give(amount)).toThrow(refused('events.seats'));
      expect(() => events.row('e').seats.take(amount)).toThrow(refused('events.seats'));
    }
  });

  test('never written → its minimum stands', () => {
    const store = new Store({ events: table({ seats: boundedCounter({ min: -7 }) }) });
    expect(store.read('events', 'e', 'seats')).toMatchObject({ value: -7, left: 0, rights: 0 });
  });
});

describe('an effect of another site', () => {
  const tables = { t: table({ f: boundedCounter({ min: 0 }) }) };
  const known = new EffectValidator(tables);

  test.each([give(3), take(0), createTransferEffect(address, { to: FRK, amount: 2 })])(
    '$action of $value → may be applied',
    (effect) => {
      for (const isRed of [false, true])
        expect(known.describeProblem(effect, isRed)).toBeUndefined();
    },
  );

  test.each([
    give(-1),
    take(0.5),
    { ...address, action: 'take', value: '1' },
    { ...address, action: 'transfer', value: { to: 1, amount: -2 } },
    { ...address, action: 'transfer', value: 3 },
    { ...address, action: 'transfer', value: { to: 0.5, amount: 2 } },
    { ...address, action: 'burn', value: 1 },
  ])('$action of $value → may not', (effect) => {
    expect(known.describeProblem(effect, false)).toContain("'t.f' is a bounded");
  });

  test('rights for a site that may have joined since → may be applied; beyond all ordinals → may not', () => {
    const of = (origin: number): Effect =>
      createTransferEffect(address, { to: origin as Origin, amount: 2 });
    for (const origin of [RED, MAX_ORIGINS])
      expect(known.describeProblem(of(origin), true)).toBeUndefined();
    expect(known.describeProblem(of(MAX_ORIGINS + 1), true)).toContain('not for that value');
  });
});
