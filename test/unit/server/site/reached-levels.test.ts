/**
 * Levels that are true: what a site answers by itself is never called strong (docs/spec/redblue.md,
 * RB-V1 to RB-V4).
 */
// @rule RB-V2, RB-V3
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { createClient, type Client } from '../../../../src/correctable/client/client.ts';
import type { Operation } from '../../../../src/correctable/operation.ts';
import { defineContract, isDomainError } from '../../../../src/contract/contract.ts';
import { createEmbedded } from '../../../../src/server/node/embedded/embedded.ts';
import { uncertified } from '../../../../src/server/service/records/reply.ts';
import { defineService, type Service } from '../../../../src/server/service/service.ts';
import { blue, red } from '../../../../src/server/service/shadow-operation.ts';
import type { RedBlueLevels } from '../../../../src/protocol/redblue-levels.ts';
import { counter, table } from '../../../../src/server/service/tables.ts';

const args = z.object({ event: z.string() });
const errors = { soldOut: z.object({ free: z.int() }) };

const hall = defineContract('hall', {
  open: { access: 'write', args: args.extend({ seats: z.int() }), result: z.null() },
  book: { access: 'write', args, result: z.boolean() },
  bookHere: { access: 'write', args, result: z.boolean() },
  bookOrThrow: { access: 'write', args, result: z.null(), errors },
  bookRow: {
    access: 'write',
    args,
    result: z.null(),
    errors: { soldOut: z.object({ row: z.int() }) },
  },
  like: {
    access: 'write',
    color: 'blue',
    args,
    result: z.boolean(),
    errors: { tooMany: z.object({}) },
  },
  likeRed: { access: 'write', color: 'blue', args, result: z.null() },
});

const service = defineService(hall, {
  tables: { events: table({ free: counter(), likes: counter() }) },
  shadowOperations: ({ events }) => ({
    open: red((a: { event: string; seats: number }) => [events.row(a.event).free.add(a.seats)]),
    book: red((a: { event: string }) => [events.row(a.event).free.add(-1)]),
    like: blue((a: { event: string }) => [events.row(a.event).likes.add(1)]),
  }),
  generators: {
    open: (a, { shadow }) => shadow.open(a, null),
    book: (a, { shadow, tables }) =>
      tables.events.row(a.event).free > 0 ? shadow.book(a, true) : false,
    bookHere: (a, { shadow, tables }) =>
      tables.events.row(a.event).free > 0 ? shadow.book(a, true) : uncertified(false),
    bookOrThrow: (a, { shadow, tables, errors: refuse }) => {
      const { free } = tables.events.row(a.event);
      if (free <= 0) throw refuse.soldOut({ free });
      return shadow.book(a, null);
    },
    bookRow: (a, { shadow }) => shadow.book(a, null),
    like: (a, { shadow, tables, errors: refuse }) => {
      const { likes } = tables.events.row(a.event);
      if (likes >= 2) throw refuse.tooMany({});
      return likes === 1 && a.event === 'once' ? false : shadow.like(a, true);
    },
    // Types offer a blue operation no red path.
    likeRed: (a, { shadow }) =>
      (shadow as unknown as { book(args: object, reply: null): never }).book(a, null),
  },
});

type ViewTuple = readonly [level: string, final: boolean, value: unknown];

async function collectViews(
  client: Client<RedBlueLevels>,
  operation: Operation,
): Promise<ViewTuple[]> {
  const reported: ViewTuple[] = [];
  for await (const { level, final, value } of client.invoke(operation))
    reported.push([level, final, value]);
  return reported;
}

/** Long enough for a busy machine to ask meanwhile. */
const LONG_MS = 500;

/** Where the events are opened, and a site that hears of it so many milliseconds late. */
async function nearAndFar(
  of: Service = service,
  late = 60,
): Promise<Record<'near' | 'far', Client<RedBlueLevels>>> {
  const latency = { 'a-b': 0, 'a-c': late, 'b-c': late };
  const deployment = createEmbedded(of, { sites: ['a', 'b', 'c'], latency });
  onTestFinished(() => deployment.close());
  const [near, far] = [createClient(deployment.site('a')), createClient(deployment.site('c'))];
  await near.invoke(hall.open({ event: 'e', seats: 100 }));
  return { near, far };
}

describe('a write that may be red and chooses nothing', () => {
  test('its site has not received the opening → the preliminary view is false, the final view is true', async () => {
    const { far } = await nearAndFar(service, LONG_MS);
    expect(await collectViews(far, hall.book({ event: 'e' }))).toEqual([
      ['tentative', false, false],
      ['strong', true, true],
    ]);
  });

  test('there is nothing to be had anywhere → strong, out of the red order', async () => {
    const { far } = await nearAndFar();
    expect(await collectViews(far, hall.book({ event: 'none' }))).toEqual([
      ['tentative', false, false],
      ['strong', true, false],
    ]);
  });

  test('its generator returns local → final at once, at level causal', async () => {
    const { far } = await nearAndFar(service, LONG_MS);
    expect(await collectViews(far, hall.bookHere({ event: 'e' }))).toEqual([
      ['causal', true, false],
    ]);
  });

  test('its generator throws an error of the domain → certified like a result', async () => {
    const { far } = await nearAndFar(service, LONG_MS);
    const early = far.invoke(hall.bookOrThrow({ event: 'e' }));
    expect(await early).toBeNull();
    expect(early.latest).toMatchObject({ level: 'strong', final: true });
    const error: unknown = await far
      .invoke(hall.bookOrThrow({ event: 'none' }))
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'DOMAIN',
      retryable: false,
      domain: { name: 'soldOut', data: { free: 0 } },
    });
    expect(isDomainError(error, hall.operations.bookOrThrow, 'soldOut')).toBe(true);
    expect(isDomainError(error, hall.operations.book)).toBe(false);
    expect(isDomainError(error, hall.operations.bookRow, 'soldOut')).toBe(false);
  });
});

describe('a blue write', () => {
  test('with effects, or without → final at causal, also where strong was asked for', async () => {
    const { far } = await nearAndFar();
    expect(await collectViews(far, hall.like({ event: 'once' }))).toEqual([['causal', true, true]]);
    expect(await collectViews(far, hall.like({ event: 'once' }))).toEqual([
      ['causal', true, false],
    ]);
    await expect(far.invoke(hall.like({ event: 'once' })).when('strong')).rejects.toMatchObject({
      code: 'LEVEL_NOT_REACHED',
    });
  });

  test('refused by an error of the domain → at once', async () => {
    const { near } = await nearAndFar();
    await near.invoke(hall.like({ event: 'e' }));
    await near.invoke(hall.like({ event: 'e' }));
    await expect(near.invoke(hall.like({ event: 'e' }))).rejects.toMatchObject({
      code: 'DOMAIN',
      domain: { name: 'tooMany' },
    });
  });

  test('declared blue, and a red path is chosen → refused, naming the color', async () => {
    const { near } = await nearAndFar();
    await expect(near.invoke(hall.likeRed({ event: 'e' }))).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      field: 'operations.likeRed.color',
    });
  });
});

describe('colors in the contract', () => {
  const implementation = {
    tables: {},
    shadowOperations: () => ({}),
    generators: { x: () => null },
  };
  const result = z.null();

  test('of a read → refused', () => {
    const reads = defineContract('x', { x: { access: 'read', color: 'blue', args, result } });
    expect(() => defineService(reads, implementation)).toThrow(
      expect.objectContaining({ field: 'operations.x.color' }),
    );
  });

  test('blue, and named in alwaysRed → refused', () => {
    const blues = defineContract('x', { x: { access: 'write', color: 'blue', args, result } });
    const both = { ...implementation, alwaysRed: ['x'] as const };
    expect(() => defineService(blues, both)).toThrow(
      expect.objectContaining({ field: 'alwaysRed' }),
    );
  });

  test('red → always red', () => {
    const reds = defineContract('x', { x: { access: 'write', color: 'red', args, result } });
    expect(defineService(reds, implementation).alwaysRed).toEqual(new Set(['x']));
  });

  test('colors and errors are parts of the hash; a contract without them keeps its own', () => {
    const plain = { access: 'write', args, result } as const;
    const hashes = [plain, { ...plain, color: 'blue' as const }, { ...plain, errors }].map(
      (x) => defineContract('x', { x }).hash,
    );
    expect(new Set(hashes).size).toBe(3);
    expect(defineContract('x', { x: { ...plain, errors: undefined } }).hash).toBe(hashes[0]);
  });
});
