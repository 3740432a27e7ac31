/** Two sites that meet: what is looked at, in which order, with which stamps. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineContract } from '../../../../src/protocol/contract/contract.ts';
import { runMeeting } from '../../../../src/server/label/run-meeting.ts';
import { shrinkBreach } from '../../../../src/server/label/shrink-breach.ts';
import { Stamps, THERE } from '../../../../src/server/label/site.ts';
import type { Step } from '../../../../src/server/label/step.ts';
import { storyOf } from '../../../../src/server/label/report.ts';
import { Workshop } from '../../../../src/server/label/workshop.ts';
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
const booking = (operation: string, account: string, cents: number): Step => step(operation, { account, cents });

const lines = defineContract('lines', {
  push: { effect: 'update', args: z.object({ line: z.string() }), result: z.null() },
  write: { effect: 'update', args: z.object({ note: z.string(), text: z.string() }), result: z.null() },
  remove: { effect: 'update', args: z.object({ note: z.string() }), result: z.null() },
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
  const bank = new Workshop(bankService());

  test('stays valid where what another site has done leaves room', () => {
    const past = [booking('deposit', 'a', 2)];
    const meeting = { past, here: booking('withdraw', 'a', 1), there: [booking('withdraw', 'a', 1)], place: 0 };
    const { here, beside, breach } = runMeeting(bank, meeting);
    expect([here?.shadow, beside, breach]).toEqual(['withdraw', ['withdraw'], undefined]);
  });

  test('is broken beside another site, at the first operation that does it', () => {
    const past = [booking('deposit', 'a', 2)];
    const there = [booking('deposit', 'b', 1), booking('withdraw', 'a', 1), booking('withdraw', 'a', 1)];
    const { breach } = runMeeting(bank, { past, here: booking('withdraw', 'a', 1), there, place: 0 });
    expect(breach).toMatchObject({ kind: 'beside', shadow: 'withdraw', operation: 'withdraw' });
    expect(breach?.meeting.there).toHaveLength(3);
  });

  test('what comes after what breaks it is no part of the story', () => {
    const past = [booking('deposit', 'a', 1)];
    const there = [booking('withdraw', 'a', 1), booking('deposit', 'b', 1)];
    const { breach } = runMeeting(bank, { past, here: booking('withdraw', 'a', 1), there, place: 0 });
    expect(breach?.meeting.there).toEqual(there.slice(0, 1));
  });

  test('what another operation breaks by itself is that one’s fault, and ends the run', () => {
    const wrong = new Workshop(bankService({ isPaid: () => true }));
    const there = [booking('withdraw', 'a', 5)];
    const { breach } = runMeeting(wrong, { past: [], here: booking('deposit', 'a', 1), there, place: 0 });
    expect(breach).toMatchObject({
      kind: 'alone',
      shadow: 'withdraw',
      meeting: { past: [], here: there[0], there: [] },
    });
  });

  test('broken alone, in the past or at the second site → what its site had seen before, and no more', () => {
    const wrong = new Workshop(bankService({ isPaid: () => true }));
    const [before, breaks, after] = [
      booking('deposit', 'b', 1),
      booking('withdraw', 'a', 5),
      booking('deposit', 'b', 2),
    ];
    const here = booking('deposit', 'a', 1);
    const inPast = runMeeting(wrong, { past: [before, breaks, after], here, there: [], place: 0 });
    const there = runMeeting(wrong, { past: [after], here, there: [before, breaks], place: 0 });
    const told = { kind: 'alone', shadow: 'withdraw' };
    expect(inPast.breach).toMatchObject({ ...told, meeting: { past: [before], here: breaks, there: [] } });
    expect(there.breach).toMatchObject({ ...told, meeting: { past: [after, before], here: breaks, there: [] } });
  });

  test('invariants of all tables count as those of rows do', () => {
    const here = step('write', { note: 'a', text: 'x' });
    const { breach } = runMeeting(new Workshop(linesService), {
      past: [],
      here,
      there: [step('write', { note: 'b', text: 'x' })],
      place: 0,
    });
    expect(breach && storyOf(breach)).toEqual([
      "Ireland: write { note: 'a', text: 'x' }.",
      "Virginia, which has not seen it: write { note: 'b', text: 'x' }.",
      "Then 'no two notes say the same' does not hold: notes 'a' with text is 'x', edits is 1; notes 'b' with text is 'x', edits is 1.",
    ]);
  });
});

describe('one state in both orders', () => {
  const workshop = new Workshop(linesService);

  test('what goes by the red order does not commute', () => {
    const meeting = { past: [], here: step('push', { line: 'x' }), there: [step('push', { line: 'y' })], place: 0 };
    const { breach } = runMeeting(workshop, meeting);
    expect(breach && storyOf(breach).at(-1)).toBe(
      "Then the sites do not agree on lines 'all': Ireland has { items: ['x', 'y'] }, Virginia has { items: ['y', 'x'] }.",
    );
  });

  test.each([0, 1, 2, 3, 4])('blue writes and removals do, whichever has which time (%i)', (place) => {
    const past = [step('write', { note: 'a', text: 'x' })];
    const there = [step('remove', { note: 'a' }), step('write', { note: 'a', text: 'z' })];
    for (const here of [step('write', { note: 'a', text: 'y' }), step('remove', { note: 'a' })]) {
      expect(runMeeting(workshop, { past, here, there, place }).breach).toBeUndefined();
    }
  });
});

describe('stamps', () => {
  test('are above all that was seen, and of what was not seen by the clock alone', () => {
    const stamps = new Stamps();
    const past = stamps.next(THERE, true);
    const before = new Stamps(stamps);
    const there = [stamps.next(THERE, false), stamps.next(THERE, true)];
    expect(past).toMatchObject({ entry: 0, seen: [0, 0, 0] });
    expect(there.map(({ seen }) => seen)).toEqual([
      [past.version, 0, 0],
      [past.version, 0, there[0]?.version],
    ]);
    const apart = [0, 1, 2, 3, 4].map((place) => new Stamps(before).apart(place));
    const order = apart.map(({ time }) => there.map((each) => Math.sign(time - each.time)));
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
  test('leaves what the breach needs, in short names and small numbers', () => {
    const workshop = new Workshop(bankService());
    const past = [
      booking('deposit', 'savings', 40),
      booking('deposit', 'joint', 9),
      booking('withdraw', 'joint', 2),
      booking('deposit', 'joint', 3),
    ];
    const there = [booking('deposit', 'savings', 1), booking('withdraw', 'joint', 7)];
    const { breach } = runMeeting(workshop, { past, here: booking('withdraw', 'joint', 6), there, place: 3 });
    const shrunken = breach && shrinkBreach(workshop, breach);
    expect(shrunken?.meeting.place).toBe(0);
    expect(shrunken && storyOf(shrunken)).toEqual([
      "At first: deposit { account: 'a', cents: 1 }.",
      "Ireland: withdraw { account: 'a', cents: 1 }.",
      "Virginia, which has not seen it: withdraw { account: 'a', cents: 1 }.",
      "Then accounts 'a' breaks 'notOverdrawn': balance is -1, limit is 0.",
    ]);
  });

  test('stays with the invariant and the kind of breach that it began with', () => {
    // Paid too early by one: alone it breaks the same invariant, in a shorter run.
    const workshop = new Workshop(bankService({ isPaid: (balance, cents) => balance >= cents - 1 }));
    const there = [booking('withdraw', 'a', 7)];
    const meeting = { past: [booking('deposit', 'a', 9)], here: booking('withdraw', 'a', 6), there, place: 0 };
    const { breach } = runMeeting(workshop, meeting);
    expect(breach?.kind).toBe('beside');
    expect(breach && shrinkBreach(workshop, breach).kind).toBe('beside');
  });
});
