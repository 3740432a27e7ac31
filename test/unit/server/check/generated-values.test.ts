/**
 * What a meeting is drawn by: states in which all holds, rights that are left, and what stands in
 * the run already.
 */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { Random } from '../../../../src/server/service/collections/random.ts';
import { defineContract } from '../../../../src/contract/contract.ts';
import { generateInterleaving } from '../../../../src/server/check/generate-interleaving.ts';
import type {
  GeneratedInterleaving,
  InterleavingConstraints,
} from '../../../../src/server/check/generate-interleaving.ts';
import { runInterleaving } from '../../../../src/server/check/run-interleaving.ts';
import { SearchContext } from '../../../../src/server/check/search-context.ts';
import { defineService } from '../../../../src/server/service/service.ts';
import type { Service } from '../../../../src/server/service/service.ts';
import { blue } from '../../../../src/server/service/shadow-operation.ts';
import { boundedCounter, counter, register, table } from '../../../../src/server/service/tables.ts';
import { bankService } from './bank.ts';

const SEEDS = Array.from({ length: 60 }, (_, n) => n + 1);
const WIDE = { names: 4, maxNumber: 1000, past: 3 };
const NARROW = { names: 1, maxNumber: 2, past: 0 };

/** One drawing a seed. */
function drawings(
  workshop: SearchContext,
  wish: Omit<InterleavingConstraints, 'random'>,
): readonly GeneratedInterleaving[] {
  return SEEDS.map((seed) => generateInterleaving(workshop, { ...wish, random: new Random(seed) }));
}

const meetingsOf = (
  all: readonly GeneratedInterleaving[],
): readonly NonNullable<GeneratedInterleaving['interleaving']>[] =>
  all.flatMap(({ interleaving }) => interleaving ?? []);

const names = z.object({ key: z.string() });

interface Named {
  readonly key: string;
}

describe('a meeting', () => {
  test('of a service whose empty tables are not valid → goes on until all holds, and has its operation there', () => {
    const update = { access: 'write', args: names, result: z.null() } as const;
    const staff = defineService(defineContract('staff', { hire: update, greet: update }), {
      tables: { people: table({ onDuty: register<boolean>(), greeted: counter() }) },
      shadowOperations: ({ people }) => ({
        hire: blue(({ key }: Named) => [people.row(key).onDuty.write(true)]),
        greet: blue(({ key }: Named) => [people.row(key).greeted.add(1)]),
      }),
      generators: {
        hire: (args, { shadow }) => shadow.hire(args, null),
        greet: (args, { shadow }) => shadow.greet(args, null),
      },
      snapshotInvariants: {
        'a doctor is on duty': ({ people }) =>
          people.keys().some((key) => people.row(key).onDuty === true),
      },
    }) as unknown as Service;
    const meetings = meetingsOf(
      drawings(new SearchContext(staff), { scope: NARROW, here: 'greet', there: 'greet' }),
    );
    expect(meetings.length).toBeGreaterThan(SEEDS.length / 2);
    // It gives up after some tries.
    const unheld = meetings.filter(
      ({ past }) => !past.some(({ operation }) => operation === 'hire'),
    );
    expect(unheld.length).toBeLessThan(meetings.length / 10);
  });

  test('of takes → the second site has what the first one leaves, so that no draw is wasted', () => {
    const args = z.object({ seats: z.int().min(1).max(3) });
    const contract = defineContract('sale', {
      open: { access: 'write', args, result: z.null() },
      sell: { access: 'write', args, result: z.boolean() },
    });
    interface Seats {
      readonly seats: number;
    }
    const sale = defineService(contract, {
      tables: { events: table({ seats: boundedCounter({ min: 0 }) }) },
      shadowOperations: ({ events }) => ({
        open: blue((a: Seats) => [events.row('E').seats.give(a.seats)]),
        sell: blue((a: Seats) => [events.row('E').seats.take(a.seats)]),
      }),
      generators: {
        open: (a, { shadow }) => shadow.open(a, null),
        sell: (a, { tables, shadow }) =>
          tables.events.row('E').seats.left >= a.seats && shadow.sell(a, true),
      },
    }) as unknown as Service;
    const workshop = new SearchContext(sale);
    const meetings = meetingsOf(drawings(workshop, { scope: NARROW, here: 'sell', there: 'sell' }));
    const done = meetings.map((interleaving) => [
      interleaving.there.length,
      runInterleaving(workshop, interleaving).concurrentShadows.length,
    ]);
    expect(done.length).toBeGreaterThan(SEEDS.length / 2);
    expect(done.filter(([generated, executed]) => generated !== executed)).toEqual([]);
  });

  test('of an operation beside itself → now and then with the same arguments', () => {
    const meetings = meetingsOf(
      drawings(new SearchContext(bankService()), {
        scope: WIDE,
        here: 'deposit',
        there: 'deposit',
      }),
    );
    const alike = meetings.filter(
      ({ here, there }) => JSON.stringify(here.args) === JSON.stringify(there[0]?.args),
    );
    expect(alike.length).toBeGreaterThan(meetings.length / 6);
    expect(alike.length).toBeLessThan(meetings.length / 2);
  });

  test('has a random time among those of the other site', () => {
    const meetings = meetingsOf(
      drawings(new SearchContext(bankService()), {
        scope: NARROW,
        here: 'deposit',
        there: 'deposit',
      }),
    );
    const places = meetings.filter(({ there }) => there.length === 1).map(({ place }) => place);
    expect([...new Set(places)].toSorted()).toEqual([0, 1, 2]);
  });
});

describe('values from the run', () => {
  test('replies → their texts are drawn again', () => {
    const contract = defineContract('tickets', {
      issue: { access: 'write', args: names, result: z.object({ ticket: z.string() }) },
    });
    const tickets = defineService(contract, {
      tables: { rows: table({ sum: counter() }) },
      shadowOperations: ({ rows }) => ({
        issue: blue(({ key }: Named) => [rows.row(key).sum.add(1)]),
      }),
      generators: {
        issue: (args, { shadow }) => shadow.issue(args, { ticket: `for ${args.key}` }),
      },
    }) as unknown as Service;
    const [drawing] = drawings(new SearchContext(tickets), {
      scope: NARROW,
      here: 'issue',
      there: 'issue',
    });
    expect(drawing?.pool.texts('ticket')).toEqual(['for a']);
  });

  test('numbers → as they stand, not only as they were added', () => {
    const five = (): object => ({ account: 'a', cents: 5 });
    const workshop = new SearchContext(bankService(), {
      arbitraries: { deposit: five, withdraw: five },
    });
    const all = drawings(workshop, {
      scope: { ...NARROW, past: 5 },
      here: 'deposit',
      there: 'deposit',
    });
    expect(all.some(({ pool }) => pool.numbers('balance').includes(10))).toBe(true);
  });
});
