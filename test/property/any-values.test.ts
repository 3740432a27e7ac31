/**
 * A site on a disk, given whatever keys and values there are: each update is done or refused with a
 * typed error, the site goes on, and after a restart everything that was answered is there as it
 * was.
 */
import { setImmediate as endOfTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { z } from 'zod';
import { createClient, isCorrectableError } from '../../src/index.ts';
import type { Client } from '../../src/index.ts';
import { defineContract } from '../../src/contract/contract.ts';
import { jsonCodec } from '../../src/protocol/codec/json-codec.ts';
import { defineService } from '../../src/server/service/service.ts';
import { blue, red } from '../../src/server/service/shadow-operation.ts';
import { SiteBinding } from '../../src/server/node/submission/site-binding.ts';
import type { RedBlueLevels } from '../../src/protocol/redblue-levels.ts';
import {
  cell,
  counter,
  log,
  queue,
  register,
  set,
  table,
} from '../../src/server/service/tables.ts';
import type { SiteDriver } from '../../src/server/node/site-driver.ts';
import { onceEach, sharesOf, testShares, unnoted, type Note } from '../support/property-shares.ts';
import { replaceMethods } from '../support/replace-methods.ts';
import { startSite } from '../unit/server/node/storage/virtual-site.ts';
import { VirtualMachine } from '../unit/server/node/storage/virtual-storage.ts';
import { scaleRuns } from '../support/lane.ts';

const RUNS = Number(process.env['FC_RUNS'] ?? scaleRuns(150));

const CHANGES = [
  'write',
  'add',
  'tag',
  'untag',
  'append',
  'assign',
  'push',
  'pop',
  'remove',
  'peek',
  'throw',
] as const;

interface Change {
  readonly key: string;
  readonly value: unknown;
}

const contract = defineContract('anything', {
  change: {
    access: 'write',
    args: z.object({ change: z.enum(CHANGES), key: z.string(), value: z.unknown() }),
    result: z.unknown(),
  },
  look: { access: 'read', args: z.object({ key: z.string() }), result: z.unknown() },
  all: { access: 'read', args: z.object({ prefix: z.string() }), result: z.unknown() },
});

const service = defineService(contract, {
  tables: {
    blues: table(
      {
        register: register<unknown>(),
        counter: counter(),
        set: set<string | number>(),
        log: log<unknown>(),
      },
      { removable: true, indexes: ['set'] },
    ),
    reds: table({ cell: cell<unknown>(), queue: queue<unknown>() }),
  },
  shadowOperations: ({ blues, reds }) => ({
    write: blue(({ key, value }: Change) => [blues.row(key).register.write(value)]),
    add: blue(({ key, value }: Change) => [blues.row(key).counter.add(value as number)]),
    tag: blue(({ key, value }: Change) => [blues.row(key).set.add(value as string)]),
    untag: blue(({ key, value }: Change) => [blues.row(key).set.remove(value as string)]),
    append: blue(({ key, value }: Change) => [blues.row(key).log.append(value)]),
    remove: red(({ key }: Change) => [blues.remove(key)]),
    assign: red(({ key, value }: Change) => [reds.row(key).cell.assign(value)]),
    push: red(({ key, value }: Change) => [reds.row(key).queue.push(value)]),
    pop: red(
      ({ key }: Change) => [reds.row(key).queue.pop()],
      ([popped]) => (popped.found ? { item: popped.item } : null),
    ),
    /** Reads by what it is given and changes something else. */
    peek: red((_change: Change) => [reds.row('peeked').cell.assign(1)]),
  }),
  generators: {
    change: ({ change, key, value }, { tables, shadow }) => {
      if (change === 'throw') throw new Error(`${key} ${typeof value === 'string' ? value : ''}`);
      if (change === 'peek') {
        void [
          tables.reds.row(key).cell,
          ...tables.blues.keys({ prefix: key }),
          ...tables.blues.by.set({ prefix: key }),
        ];
        return shadow.peek({ key: 'peeked', value: null }, null);
      }
      return change === 'pop'
        ? shadow.pop({ key, value: null })
        : shadow[change]({ key, value }, value);
    },
    look: ({ key }, { tables }) => {
      const { register: written, counter: count, set: tags, log: lines } = tables.blues.row(key);
      const { cell: assigned, queue: items } = tables.reds.row(key);
      return { written, count, tags: [...tags], lines: [...lines], assigned, size: items.size };
    },
    all: ({ prefix }, { tables }) => [
      tables.blues.keys({ prefix }),
      tables.blues.by.set({ prefix }),
    ],
  },
});

let drivers: SiteDriver[] = [];
let operationCount = 0;
afterEach(() => {
  for (const driver of drivers) driver.close();
  drivers = [];
});

function start(machine: VirtualMachine): Client<RedBlueLevels> {
  const driver = startSite(machine, {
    service,
    sizes: { segmentBytes: 4000, checkpointBytes: 1500 },
  });
  drivers.push(driver);
  return createClient(new NamedOperations('ireland', driver));
}

/**
 * Every operation has a name, as behind a gateway: then its answer is written down, a failure too.
 */
const NamedOperations = replaceMethods(SiteBinding, (original) => ({
  submitOperation: (operation, levels, sink, context) => {
    const operationId = `operation ${operationCount++}`;
    original.submitOperation(operation, levels, sink, { ...context, operationId });
  },
}));

/** The result, or the code of the typed error. */
async function outcomeOf(machine: VirtualMachine, invoked: PromiseLike<unknown>): Promise<unknown> {
  const outcome = Promise.resolve(invoked).then(
    (value) => ({ value }),
    (error: unknown) => (isCorrectableError(error) ? error.code : { untyped: error }),
  );
  await endOfTurn();
  machine.run(200);
  return outcome;
}

/** What a client sees: an object's properties that are undefined are left out, and -0 is 0. */
function asSent(value: unknown): unknown {
  return jsonCodec.encodeValue(value);
}

const ODD_KEYS = [
  '',
  '\u0000',
  'k\u0000',
  '__proto__',
  'constructor',
  '\ud800',
  '😀',
  '\ud83d',
  '\ud7ff',
  '\uffff',
  '🟿',
];
const key = fc.oneof(
  fc.constantFrom(...ODD_KEYS),
  fc.constantFrom('k', 'l'),
  fc.string({ unit: 'binary', maxLength: 3 }),
);
const value = fc.oneof(
  key,
  fc.constantFrom<unknown>(
    NaN,
    -0,
    Infinity,
    2 ** 53 - 1,
    2 ** 60,
    10n ** 1024n,
    7n,
    undefined,
    null,
    new Date(NaN),
  ),
  fc.constantFrom<unknown>(
    { $date: 1 },
    { $bytes: 'x' },
    { $: { $$: 1 } },
    JSON.parse('{"__proto__":{"a":1}}'),
    new Map(),
  ),
  fc.integer(),
  fc.anything({ withBigInt: true, withDate: true, withTypedArray: true, maxDepth: 3 }),
);
const step = fc.oneof(
  { weight: 12, arbitrary: fc.record({ change: fc.constantFrom(...CHANGES), key, value }) },
  { weight: 1, arbitrary: fc.constant('restart' as const) },
);

const survives = (note: Note): fc.IRawProperty<unknown> =>
  fc.asyncProperty(
    fc.nat(),
    fc.array(step, { maxLength: 40, size: 'max' }),
    async (seed, steps) => {
      const once = onceEach(note);
      const machine = new VirtualMachine(seed, {});
      let site = start(machine);
      const keys = new Set<string>(['peeked', 'k']);
      let done = 0;
      const lookAtAll = async (): Promise<unknown[]> => {
        const seen: unknown[] = [];
        for (const item of keys) {
          seen.push(await outcomeOf(machine, site.invokeStrong(contract.look({ key: item }))));
          seen.push(await outcomeOf(machine, site.invokeStrong(contract.all({ prefix: item }))));
        }
        return seen;
      };
      for (const entry of [...steps, 'restart' as const]) {
        if (entry !== 'restart') {
          keys.add(entry.key);
          const outcome = await outcomeOf(machine, site.invokeStrong(contract.change(entry)));
          expect(outcome).not.toHaveProperty('untyped');
          const isDone = typeof outcome === 'object';
          if (isDone) done += 1;
          once(isDone ? 'done' : 'refused');
          if (isDone) once(`${entry.change} done`);
          if (!isDone) once(String(outcome));
          if (isDone && (ODD_KEYS.includes(entry.key) || ODD_KEYS.includes(entry.value as string)))
            once('odd, and done');
          continue;
        }
        const before = await lookAtAll();
        machine.disk.crash();
        site = start(machine);
        expect(asSent(await lookAtAll())).toBe(asSent(before));
        if (done > 3) once('a restart with much to be there');
        if (before.some((view) => typeof view !== 'object')) once('a look that is refused');
        // It takes updates.
        expect(
          await outcomeOf(
            machine,
            site.invokeStrong(contract.change({ change: 'assign', key: 'k', value: 1 })),
          ),
        ).toEqual({ value: 1 });
      }
    },
  );

test('whatever comes → done or refused with a typed error; a restart changes nothing of what there is', async () => {
  await fc.assert(survives(unnoted), { numRuns: RUNS });
});

testShares(
  'whatever comes → much of it is done, some is refused, and restarts have much to keep',
  async () => {
    const shares = await sharesOf(survives, 40);
    for (const description of [
      'done',
      'refused',
      'odd, and done',
      'a restart with much to be there',
    ]) {
      expect(shares[description], description).toBeGreaterThan(0.6);
    }
    // Each kind of change now and then has something to keep.
    const changes = CHANGES.filter((change) => change !== 'throw').map(
      (change) => `${change} done`,
    );
    for (const subject of [
      ...changes,
      'a look that is refused',
      'INVALID_VALUE',
      'FINAL_FAILED',
      'INVALID_ARGUMENT',
    ]) {
      expect(shares[subject], subject).toBeGreaterThan(0.2);
    }
  },
);
