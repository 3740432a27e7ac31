/** Labeling of takes: whichever sites hold the rights, together they take no more than is left. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineContract } from '../../../../src/contract/contract.ts';
import { analyzeColors } from '../../../../src/server/check/analyze-colors.ts';
import { hasViolations } from '../../../../src/server/check/color-report.ts';
import { defineService } from '../../../../src/server/service/service.ts';
import type { Service } from '../../../../src/server/service/service.ts';
import { blue } from '../../../../src/server/service/shadow-operation.ts';
import { boundedCounter, counter, table } from '../../../../src/server/service/tables.ts';

const seats = z.object({ event: z.string(), seats: z.int().min(1).max(9) });
const contract = defineContract('sale', {
  open: { access: 'write', args: seats, result: z.null() },
  sell: { access: 'write', args: seats, result: z.boolean() },
});

interface Seats {
  readonly event: string;
  readonly seats: number;
}

const byRights = defineService(contract, {
  tables: { events: table({ seats: boundedCounter({ min: 0 }) }) },
  shadowOperations: ({ events }) => ({
    open: blue((a: Seats) => [events.row(a.event).seats.give(a.seats)]),
    sell: blue((a: Seats) => [events.row(a.event).seats.take(a.seats)]),
  }),
  generators: {
    open: (args, { shadow }) => shadow.open(args, null),
    sell: (args, { tables, shadow }) =>
      tables.events.row(args.event).seats.left >= args.seats && shadow.sell(args, true),
  },
  invariants: { events: { 'no seat is sold twice': (row) => row.seats.value >= 0 } },
});

/** The same without rights. */
const byCounting = defineService(contract, {
  tables: { events: table({ seats: counter() }) },
  shadowOperations: ({ events }) => ({
    open: blue((a: Seats) => [events.row(a.event).seats.add(a.seats)]),
    sell: blue((a: Seats) => [events.row(a.event).seats.add(-a.seats)]),
  }),
  generators: {
    open: (args, { shadow }) => shadow.open(args, null),
    sell: (args, { tables, shadow }) =>
      tables.events.row(args.event).seats >= args.seats && shadow.sell(args, true),
  },
  invariants: { events: { 'no seat is sold twice': (row) => row.seats >= 0 } },
});

/**
 * A sale that begins once, at one site. Each party gets the table as well as its seats. No site
 * holds rights to the table.
 *
 * @param seatsOf how many seats an opened event has
 */
function withOneTable(seatsOf: (requested: number) => number): Service {
  return defineService(contract, {
    tables: { events: table({ seats: boundedCounter({ min: 0 }), parties: counter() }) },
    shadowOperations: ({ events }) => ({
      open: blue((a: Seats) => [events.row(a.event).seats.give(a.seats)]),
      sell: blue((a: Seats) => [
        events.row(a.event).seats.take(a.seats),
        events.row(a.event).parties.add(1),
      ]),
    }),
    generators: {
      open: ({ event, seats: requested }, { tables, shadow }) =>
        tables.events.has(event) ? null : shadow.open({ event, seats: seatsOf(requested) }, null),
      sell: (args, { tables, shadow }) => {
        const { seats: free, parties } = tables.events.row(args.event);
        return free.left >= args.seats && parties === 0 && shadow.sell(args, true);
      },
    },
    invariants: { events: { 'there is one table': ({ parties }) => parties <= 1 } },
  });
}

describe('takes from a bounded field', () => {
  test('declared blue → blue: no counterexample within what is left', () => {
    const [open, sell] = analyzeColors(byRights, { runs: 600 }).shadows;
    expect([open?.verdict, sell?.verdict]).toEqual(['blue', 'blue']);
    expect(sell?.reason).toMatch(/^no counterexample in \d\d+ tries beside/);
  });

  test('the same with a counter → unsafe, and rejected', () => {
    const report = analyzeColors(byCounting, { runs: 600 });
    expect(report.shadows.map(({ verdict }) => verdict)).toEqual(['blue', 'unsafe']);
    expect(hasViolations(report)).toBe(true);
  });

  test('two sites hold rights and break another invariant, though one site gave all → a counterexample', () => {
    const report = analyzeColors(
      withOneTable((requested) => requested),
      { runs: 600 },
    );
    const [open, sell] = report.shadows;
    expect([open?.verdict, sell?.verdict, hasViolations(report)]).toEqual(['blue', 'unsafe', true]);
    expect(sell?.counterexample?.explanation).toEqual([
      "At first: open { event: 'a', seats: 2 }.",
      "Ireland: sell { event: 'a', seats: 1 }.",
      "Virginia, which has not seen it: sell { event: 'a', seats: 1 }.",
      'Who takes holds the rights to it.',
      "Then events 'a' breaks 'there is one table': seats is 0, parties is 2.",
    ]);
  });

  test('two sites would take more than is left → rights keep one of them from it, and nothing is reported', () => {
    const report = analyzeColors(
      withOneTable(() => 1),
      { runs: 2000 },
    );
    expect(report.shadows.map(({ verdict }) => verdict)).toEqual(['blue', 'blue']);
    expect(report.shadows[1]?.reason).toMatch(/^no counterexample in \d\d+ tries beside open/);
    expect(report.generators).toEqual([]);
  });

  test('one is left, and no other operation is possible → nothing was tried beside it', () => {
    const service = defineService(contract, {
      tables: { events: table({ seats: boundedCounter({ min: 0 }) }) },
      shadowOperations: ({ events }) => ({
        open: blue((_a: Seats) => [events.row('E').seats.give(1)]),
        sell: blue((_a: Seats) => [events.row('E').seats.take(1)]),
      }),
      generators: {
        open: (args, { tables, shadow }) =>
          tables.events.has('E') ? null : shadow.open(args, null),
        sell: (args, { tables, shadow }) =>
          tables.events.row('E').seats.left > 0 && shadow.sell(args, true),
      },
    });
    const [, sell] = analyzeColors(service, { runs: 100 }).shadows;
    expect(sell).toMatchObject({
      verdict: 'undecided',
      reason: 'no run has tried it beside another',
    });
  });
});

test('a take that always wants more than there is → reported, but not as a fault', () => {
  const { generators } = byRights as unknown as Service;
  const greedy = {
    ...(byRights as unknown as Service),
    generators: {
      ...generators,
      sell: ((
        { event }: Seats,
        { shadow }: { shadow: { sell: (args: Seats, reply: boolean) => unknown } },
      ) => shadow.sell({ event, seats: 1_000_000 }, true)) as never,
    },
  };
  const report = analyzeColors(greedy, { runs: 100 });
  const found = report.generators.filter(({ operation }) => operation === 'sell');
  expect(found).toContainEqual(
    expect.objectContaining({ isFault: false, problem: expect.stringMatching(/look at what/) }),
  );
  expect(found.reduce((times, item) => times + item.times, 0)).toBeGreaterThan(100);
  expect(hasViolations(report)).toBe(false);
});
