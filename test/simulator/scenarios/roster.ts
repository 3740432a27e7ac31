/**
 * Doctors on duty and rooms: every kind of field, removal in both colors, values that go in and out
 * of indexes, scans with bounds, limits and both directions, and scratchpads. No checker knows what
 * it is for but the oracle.
 */
import { z } from 'zod/v4';
import { defineContract } from '../../../src/contract/contract.ts';
import { withMeta } from '../../../src/server/service/records/reply.ts';
import { defineService } from '../../../src/server/service/service.ts';
import { blue, red } from '../../../src/server/service/shadow-operation.ts';
import {
  cell,
  counter,
  log,
  queue,
  register,
  set,
  stock,
  table,
} from '../../../src/server/service/tables.ts';
import { getObservedTraits } from '../../../src/testing/simulator/scenario.ts';
import type {
  DrawOptions,
  DrawnOperation,
  Scenario,
} from '../../../src/testing/simulator/scenario.ts';

const named = z.object({ key: z.string(), text: z.string() });
const reported = z.object({ done: z.boolean(), seen: z.array(z.string()) });
const update = { access: 'write', args: named } as const;

const contract = defineContract('roster', {
  hire: { ...update, result: z.null() },
  leave: { ...update, result: reported },
  rest: { ...update, result: reported },
  train: { ...update, result: z.null() },
  untrain: { ...update, result: z.null() },
  cover: { ...update, result: reported },
  dismiss: { ...update, result: reported },
  open: { ...update, result: z.null() },
  book: { ...update, result: reported },
  close: { ...update, result: reported },
  wait: { ...update, result: z.number() },
  call: { ...update, result: z.string().nullable() },
  promote: { ...update, result: reported },
  count: { ...update, result: reported },
  deliver: { ...update, result: z.number() },
  take: { ...update, result: reported },
  claim: { ...update, result: z.number(), errors: { tooFew: z.object({ left: z.number() }) } },
  find: {
    access: 'read',
    args: named,
    result: z.number(),
    errors: { missing: z.object({ key: z.string() }) },
  },
  audit: { access: 'read', args: named, result: z.array(z.string()) },
});

interface Named {
  readonly key: string;
}
interface Text extends Named {
  readonly text: string;
}

const service = defineService(contract, {
  tables: {
    doctors: table(
      { duty: register<string>(), shifts: counter(), skills: set<string>() },
      { indexes: ['duty', 'skills'], removable: true },
    ),
    rooms: table(
      {
        guest: cell<string>(),
        line: queue<string>(),
        notes: log<string>(),
        rank: register<number>(),
      },
      { indexes: ['guest', 'rank'], removable: true },
    ),
    beds: table({ left: stock() }, { removable: true }),
    tallies: table({ count: counter(), last: cell<string>() }, { indexes: ['last'] }),
  },
  shadowOperations: ({ doctors, rooms, beds, tallies }) => ({
    hire: red((a: Named) => [
      doctors.row(a.key).duty.write('on'),
      doctors.row(a.key).shifts.add(1),
    ]),
    leave: red((a: Named) => [doctors.remove(a.key)]),
    rest: red((a: Named) => [doctors.row(a.key).duty.write('off')]),
    train: blue((a: Text) => [
      doctors.row(a.key).skills.add(a.text),
      doctors.row(a.key).shifts.add(1),
    ]),
    untrain: blue((a: Text) => [doctors.row(a.key).skills.remove(a.text)]),
    dismiss: blue((a: Named) => [doctors.remove(a.key)]),
    open: blue((a: Text & { rank: number }) => [
      rooms.row(a.key).notes.append(a.text),
      rooms.row(a.key).rank.write(a.rank),
    ]),
    book: red((a: Text) => [rooms.row(a.key).guest.assign(a.text)]),
    close: red((a: Named) => [rooms.remove(a.key)]),
    wait: red(
      (a: Text) => [rooms.row(a.key).line.push(a.text)],
      ([pushed]) => pushed.size,
    ),
    call: red(
      (a: Named) => [rooms.row(a.key).line.pop()],
      ([popped]) => withMeta(popped.found ? popped.item : null, { remaining: popped.remaining }),
    ),
    deliver: red(
      (a: Named) => [beds.row(a.key).left.add(2)],
      ([added]) => added.remaining,
    ),
    take: red(
      (a: Named) => [beds.row(a.key).left.take(1, { atLeast: 1 })],
      ([taken]) => ({ done: taken.took, seen: [`${taken.remaining}`] }),
    ),
    claim: red((a: Named) => [beds.row(a.key).left.take(1)]),
    rank: red((a: Named & { rank: number }) => [rooms.row(a.key).rank.write(a.rank)]),
    count: red((a: Text) => [
      tallies.row(a.key).count.add(1),
      tallies.row(a.key).last.assign(a.text),
    ]),
  }),
  generators: {
    hire: (args, { shadow }) => shadow.hire(args, null),
    // One has to stay on duty: what an index shows decides, and the row leaves that index.
    leave: (args, { tables, shadow }) => {
      const seen = [...tables.doctors.by.duty({ equals: 'on' })];
      return seen.length >= 2 && seen.includes(args.key)
        ? shadow.leave(args, { done: true, seen })
        : { done: false, seen };
    },
    rest: (args, { tables, shadow }) => {
      const seen = [...tables.doctors.by.duty({ from: 'on', limit: 2 })];
      return seen.length === 2 ? shadow.rest(args, { done: true, seen }) : { done: false, seen };
    },
    train: (args, { shadow }) => shadow.train(args, null),
    untrain: (args, { shadow }) => shadow.untrain(args, null),
    // The first one with the skill, from the end.
    cover: (args, { tables, shadow }) => {
      const seen = [
        ...tables.doctors.by.skills({ prefix: args.text.slice(0, 1), reverse: true, limit: 1 }),
      ];
      const [first] = seen;
      return first === undefined
        ? { done: false, seen }
        : shadow.hire({ key: first }, { done: true, seen });
    },
    // Who is not on duty may be dismissed by one site alone.
    dismiss: (args, { tables, shadow }) => {
      const { duty, shifts, skills } = tables.doctors.row(args.key);
      const seen = [duty ?? 'none', String(shifts), ...skills];
      return duty === 'on' ? { done: false, seen } : shadow.dismiss(args, { done: true, seen });
    },
    open: (args, { random, shadow }) =>
      shadow.open({ ...args, rank: Math.floor(random() * 5) }, null),
    // The first room without a guest.
    book: (args, { tables, shadow }) => {
      const seen = [...tables.rooms.keys({ from: args.key })];
      const free = seen.find((key) => tables.rooms.row(key).guest === undefined);
      return free === undefined
        ? { done: false, seen }
        : shadow.book({ key: free, text: args.text }, { done: true, seen });
    },
    close: (args, { tables, shadow }) => {
      const seen = [...tables.rooms.row(args.key).notes];
      return tables.rooms.has(args.key)
        ? shadow.close(args, { done: true, seen })
        : { done: false, seen };
    },
    wait: (args, { shadow }) => shadow.wait(args),
    call: (args, { shadow }) => shadow.call(args),
    // Tried on the scratchpad, and done only if it makes the room the first.
    promote: (args, { tables, shadow, scratchpad }) => {
      const [best] = tables.rooms.by.rank({ reverse: true, limit: 1 });
      const rank =
        (best === undefined ? 0 : (tables.rooms.row(best).rank ?? 0)) + (args.text.length % 2);
      const chosen = { key: args.key, rank };
      scratchpad.apply(shadow.rank(chosen, null));
      const seen = [
        ...tables.rooms.by.rank({ reverse: true, limit: 2 }),
        `${tables.rooms.keys({ limit: 3 }).length}`,
      ];
      return seen[0] === args.key
        ? shadow.rank(chosen, { done: true, seen })
        : { done: false, seen };
    },
    deliver: (args, { shadow }) => shadow.deliver(args),
    // Decided where it is applied, without a look at what is left.
    take: (args, { shadow }) => shadow.take(args),
    // Decided by what is seen: certified, whether it takes one or refuses.
    claim: (args, { tables, shadow, errors }) => {
      const { left } = tables.beds.row(args.key);
      if (left < 1) throw errors.tooFew({ left });
      return shadow.claim(args, left - 1);
    },
    count: (args, { tables, shadow, uniqueId }) => {
      const seen = [
        `${tables.tallies.row(args.key).count}`,
        ...tables.tallies.by.last({ before: 'c5' }),
      ];
      return shadow.count({ key: args.key, text: uniqueId() }, { done: true, seen });
    },
    find: (args, { tables: { beds }, errors }) => {
      if (!beds.has(args.key)) throw errors.missing({ key: args.key });
      return beds.row(args.key).left;
    },
    audit: (args, { tables: { doctors, rooms, beds, tallies } }) => [
      ...beds.keys().map((key) => `${key} ${beds.row(key).left}`),
      ...doctors.keys({ prefix: args.key.slice(0, 1) }),
      ...doctors.by.skills(),
      ...rooms.by.rank({ from: 1, before: 4 }),
      ...rooms.by.guest({ reverse: true }),
      `${rooms.row(args.key).line.size} ${rooms.row(args.key).line.at(0) ?? ''}`,
      ...rooms.row(args.key).notes,
      ...tallies.keys().map((key) => `${key} ${tallies.row(key).count}`),
    ],
  },
  alwaysRed: ['wait', 'call', 'deliver', 'take'],
});

const DOCTORS = ['ann', 'bob', 'cay'] as const;
const BEDS = [
  'deliver',
  'deliver',
  'take',
  'take',
  'claim',
  'claim',
  'find',
  'find',
  'find',
] as const;
const ROOMS = ['r1', 'r2', 'r3'] as const;
const OF_DOCTORS = [
  'hire',
  'hire',
  'leave',
  'leave',
  'rest',
  'train',
  'untrain',
  'cover',
  'dismiss',
] as const;
const OF_ROOMS = ['open', 'book', 'close', 'wait', 'call', 'promote', 'count', 'audit'] as const;

function draw({ random, unique }: DrawOptions): DrawnOperation {
  if (random.chance(0.25)) {
    return {
      operation: random.pick(BEDS),
      args: { key: random.pick(['east', 'south', 'west']), text: unique },
    };
  }
  const isOfDoctors = random.chance(0.5);
  const operation = isOfDoctors ? random.pick(OF_DOCTORS) : random.pick(OF_ROOMS);
  const isOfSkills = operation === 'train' || operation === 'untrain' || operation === 'cover';
  const key = random.pick(isOfDoctors ? DOCTORS : ROOMS);
  return { operation, args: { key, text: isOfSkills ? random.pick(['x', 'y']) : unique } };
}

/** The world of the roster. */
export function rosterScenario(): Scenario {
  return { service, traits: getObservedTraits(service), draw, checkers: () => [] };
}
