/** Labelling of takes: within rights they are blue, and without them there is nothing to hold against others. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineContract } from '../../../../src/protocol/contract/contract.ts';
import { labelService } from '../../../../src/server/label/label-service.ts';
import { isRefused } from '../../../../src/server/label/report.ts';
import { defineService } from '../../../../src/server/service/service.ts';
import type { Service } from '../../../../src/server/service/service.ts';
import { blue } from '../../../../src/server/service/shadow-operation.ts';
import { bounded, counter, table } from '../../../../src/server/service/tables.ts';

const seats = z.object({ event: z.string(), seats: z.int().min(1).max(9) });
const contract = defineContract('sale', {
  open: { effect: 'update', args: seats, result: z.null() },
  sell: { effect: 'update', args: seats, result: z.boolean() },
});

interface Seats {
  readonly event: string;
  readonly seats: number;
}

const byRights = defineService(contract, {
  tables: { events: table({ seats: bounded({ min: 0 }) }) },
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
    sell: (args, { tables, shadow }) => tables.events.row(args.event).seats >= args.seats && shadow.sell(args, true),
  },
  invariants: { events: { 'no seat is sold twice': (row) => row.seats >= 0 } },
});

const verdicts = (service: Service): Readonly<Record<string, string>> =>
  Object.fromEntries(labelService(service, { runs: 600 }).shadows.map(({ name, verdict }) => [name, verdict]));

describe('takes from a bounded field', () => {
  test('declared blue → blue: no counterexample within the rights of a site', () => {
    expect(verdicts(byRights)).toEqual({ open: 'blue', sell: 'blue' });
    const [, sell] = labelService(byRights, { runs: 600 }).shadows;
    expect(sell?.reason).toMatch(/^no counterexample in \d\d+ tries beside/);
  });

  test('the same from a counter → unsafe, and refused', () => {
    expect(verdicts(byCounting)).toEqual({ open: 'blue', sell: 'unsafe' });
    expect(isRefused(labelService(byCounting, { runs: 600 }))).toBe(true);
  });
});
