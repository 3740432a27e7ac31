/** Two sites that meet: what is looked at, in which order, with which stamps. */
// @rule RB-K2, RB-K3
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineContract } from '../../../../src/contract/contract.ts';
import { runInterleaving } from '../../../../src/server/check/run-interleaving.ts';
import { shrinkViolation } from '../../../../src/server/check/shrink-violation.ts';
import { StampGenerator, THERE } from '../../../../src/server/check/analysis-site.ts';
import type { Step } from '../../../../src/server/check/interleaving.ts';
import { formatCounterexample } from '../../../../src/server/check/color-report.ts';
import { SearchContext } from '../../../../src/server/check/search-context.ts';
import { defineService, type Service } from '../../../../src/server/service/service.ts';
import { blue, red } from '../../../../src/server/service/shadow-operation.ts';
import { counter, queue, register, table } from '../../../../src/server/service/tables.ts';
import { bankService } from './bank.ts';

let serials = 0;
const step = (operation: string, args: unknown): Step => ({
  operation,
  args,
  serial: (serials += 1),
  seed: 1,
  atMs: 1000,
});
const booking = (operation: string, account: string, cents: number): Step =>
  step(operation, { account, cents });

const lines = defineContract('lines', {
  push: { access: 'write', args: z.object({ line: z.string() }), result: z.null() },
  write: {
    access: 'write',
    args: z.object({ note: z.string(), text: z.string() }),
    result: z.null(),
  },
  remove: { access: 'write', args: z.object({ note: z.string() }), result: z.null() },
});

const linesService = defineService(lines, {
  tables: {
    lines: table({ items: queue<string>() }),
    notes: table({ text: register<string>(), edits: counter() }, { removable: true }),
  },
  shadowOperations: (tables) => ({
    push: red(({ line }: { line: string }) => [tables.lines.row('all').items.push(line)]),
    write: blue(({ note, text }: { note: string; text: string }) => [
      tables.notes.row(note).text.write(text),
      tables.notes.row(note).edits.add(1),
    ]),
    remove: blue(({ note }: { note: string }) => [tables.notes.remove(note)]),
  }),
  generators: {
    push: (args, { shadow }) => shadow.push(args, null),
    write: (args, { shadow }) => shadow.write(args, null),
    remove: (args, { shadow }) => shadow.remove(args, null),
  },
  snapshotInvariants: {
    'no two notes say the same': ({ notes }) => {
      const texts = notes.keys().map((key) => notes.row(key).text);
      return new Set(texts).size === texts.length;
    },
  },
}) as unknown as Service;

describe('a valid state', () => {
  const bank = new SearchContext(bankService());

  test('stays valid if the effects of another site leave room', () => {
    const past = [booking('deposit', 'a', 2)];
    const interleaving = {
      past,
      here: booking('withdraw', 'a', 1),
      there: [booking('withdraw', 'a', 1)],
      place: 0,
    };
    const { localChoice, concurrentShadows, violation } = runInterleaving(bank, interleaving);
    expect([localChoice?.shadow, concurrentShadows, violation]).toEqual([
      'withdraw',
      ['withdraw'],
      undefined,
    ]);
  });

  test('is broken beside another site, at the first operation that does it', () => {
    const past = [booking('deposit', 'a', 2)];
    const there = [
      booking('deposit', 'b', 1),
      booking('withdraw', 'a', 1),
      booking('withdraw', 'a', 1),
    ];
    const { violation } = runInterleaving(bank, {
      past,
      here: booking('withdraw', 'a', 1),
      there,
      place: 0,
    });
    expect(violation).toMatchObject({ kind: 'beside', shadow: 'withdraw', operation: 'withdraw' });
    expect(violation?.interleaving.there).toHaveLength(3);
  });

  test('the counterexample ends with the operation that breaks it', () => {
    const past = [booking('deposit', 'a', 1)];
    const there = [booking('withdraw', 'a', 1), booking('deposit', 'b', 1)];
    const { violation } = runInterleaving(bank, {
      past,
      here: booking('withdraw', 'a', 1),
      there,
      place: 0,
    });
    expect(violation?.interleaving.there).toEqual(there.slice(0, 1));
  });

  test('if another operation breaks it by itself, that one is at fault, and the run ends', () => {
    const wrong = new SearchContext(bankService({ isPaid: () => true }));
    const there = [booking('withdraw', 'a', 5)];
    const { violation } = runInterleaving(wrong, {
      past: [],
      here: booking('deposit', 'a', 1),
      there,
      place: 0,
    });
    expect(violation).toMatchObject({
      kind: 'alone',
      shadow: 'withdraw',
      interleaving: { past: [], here: there[0], there: [] },
    });
  });

  test('broken alone, in the past or at the second site → what its site had seen before, and no more', () => {
    const wrong = new SearchContext(bankService({ isPaid: () => true }));
    const [before, breaks, after] = [
      booking('deposit', 'b', 1),
      booking('withdraw', 'a', 5),
      booking('deposit', 'b', 2),
    ];
    const here = booking('deposit', 'a', 1);
    const inPast = runInterleaving(wrong, {
      past: [before, breaks, after],
      here,
      there: [],
      place: 0,
    });
    const there = runInterleaving(wrong, {
      past: [after],
      here,
      there: [before, breaks],
      place: 0,
    });
    const reported = { kind: 'alone', shadow: 'withdraw' };
    expect(inPast.violation).toMatchObject({
      ...reported,
      interleaving: { past: [before], here: breaks, there: [] },
    });
    expect(there.violation).toMatchObject({
      ...reported,
      interleaving: { past: [after, before], here: breaks, there: [] },
    });
  });

  test('invariants of all tables count as those of rows do', () => {
    const here = step('write', { note: 'a', text: 'x' });
    const { violation } = runInterleaving(new SearchContext(linesService), {
      past: [],
      here,
      there: [step('write', { note: 'b', text: 'x' })],
      place: 0,
    });
    expect(violation && formatCounterexample(violation)).toEqual([
      "Ireland: write { note: 'a', text: 'x' }.",
      "Virginia, which has not seen it: write { note: 'b', text: 'x' }.",
      "Then 'no two notes say the same' does not hold: notes 'a' with text is 'x', edits is 1; notes 'b' with text is 'x', edits is 1.",
    ]);
  });
});

describe('one state in both orders', () => {
  const workshop = new SearchContext(linesService);

  test('operations of the red order do not commute', () => {
    const interleaving = {
      past: [],
      here: step('push', { line: 'x' }),
      there: [step('push', { line: 'y' })],
      place: 0,
    };
    const { violation } = runInterleaving(workshop, interleaving);
    expect(violation && formatCounterexample(violation).at(-1)).toBe(
      "Then the sites do not agree on lines 'all': Ireland has { items: ['x', 'y'] }, Virginia has { items: ['y', 'x'] }.",
    );
  });

  test.each([0, 1, 2, 3, 4])(
    'blue writes and removals commute, whichever is later (%i)',
    (place) => {
      const past = [step('write', { note: 'a', text: 'x' })];
      const there = [step('remove', { note: 'a' }), step('write', { note: 'a', text: 'z' })];
      for (const here of [step('write', { note: 'a', text: 'y' }), step('remove', { note: 'a' })]) {
        expect(runInterleaving(workshop, { past, here, there, place }).violation).toBeUndefined();
      }
    },
  );
});

describe('stamps', () => {
  test('are above all that was seen, and follow the clock alone otherwise', () => {
    const stamps = new StampGenerator();
    const past = stamps.next(THERE, true);
    const before = new StampGenerator(stamps);
    const there = [stamps.next(THERE, false), stamps.next(THERE, true)];
    expect(past).toMatchObject({ entry: 0, seen: [0, 0, 0] });
    expect(there.map(({ seen }) => seen)).toEqual([
      [past.version, 0, 0],
      [past.version, 0, there[0]?.version],
    ]);
    const apart = [0, 1, 2, 3, 4].map((place) =>
      new StampGenerator(before).createConcurrent(place),
    );
    const order = apart.map(({ time }) => there.map((item) => Math.sign(time - item.time)));
    expect(order).toEqual([
      [-1, -1],
      [0, -1],
      [1, -1],
      [1, 0],
      [1, 1],
    ]);
    expect(apart.map(({ seen }) => seen)).toEqual(apart.map(() => [past.version, 0, 0]));
  });
});

describe('shrinking', () => {
  test('leaves what the violation needs, with short names and small numbers', () => {
    const workshop = new SearchContext(bankService());
    const past = [
      booking('deposit', 'savings', 40),
      booking('deposit', 'joint', 9),
      booking('withdraw', 'joint', 2),
      booking('deposit', 'joint', 3),
    ];
    const there = [booking('deposit', 'savings', 1), booking('withdraw', 'joint', 7)];
    const { violation } = runInterleaving(workshop, {
      past,
      here: booking('withdraw', 'joint', 6),
      there,
      place: 3,
    });
    const shrunken = violation && shrinkViolation(workshop, violation);
    expect(shrunken?.interleaving.place).toBe(0);
    expect(shrunken && formatCounterexample(shrunken)).toEqual([
      "At first: deposit { account: 'a', cents: 1 }.",
      "Ireland: withdraw { account: 'a', cents: 1 }.",
      "Virginia, which has not seen it: withdraw { account: 'a', cents: 1 }.",
      "Then accounts 'a' breaks 'notOverdrawn': balance is -1, limit is 0.",
    ]);
  });

  test('keeps the invariant and the kind of violation that it began with', () => {
    // Paid too early by one: alone it breaks the same invariant, in a shorter run.
    const workshop = new SearchContext(
      bankService({ isPaid: (balance, cents) => balance >= cents - 1 }),
    );
    const there = [booking('withdraw', 'a', 7)];
    const interleaving = {
      past: [booking('deposit', 'a', 9)],
      here: booking('withdraw', 'a', 6),
      there,
      place: 0,
    };
    const { violation } = runInterleaving(workshop, interleaving);
    expect(violation?.kind).toBe('beside');
    expect(violation && shrinkViolation(workshop, violation).kind).toBe('beside');
  });
});
