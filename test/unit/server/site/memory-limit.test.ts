/**
 * A site whose memory is nearly used: what it refuses, what it still takes, and that it goes on as
 * the others once it has more.
 */
// @rule STO-33
import { beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { defineContract } from '../../../../src/contract/contract.ts';
import {
  keyValueOperations,
  queueOperations,
} from '../../../../src/contract/portable-operations.ts';
import { dequeue, enqueue, get, put } from '../../../../src/operations/index.ts';
import { defineService } from '../../../../src/server/service/service.ts';
import { blue, red } from '../../../../src/server/service/shadow-operation.ts';
import { queue, register, table } from '../../../../src/server/service/tables.ts';
import type { MemoryLevel, MemoryStatus } from '../../../../src/server/site/core/memory-port.ts';
import { Sites } from './sites.ts';

const [SMALL, OTHER] = [1, 0];
const MAX_MEMORY_BYTES = 200_000;
const TEXT = 'x'.repeat(3000);

const contract = defineContract('notes', {
  ...keyValueOperations,
  ...queueOperations,
  remove: { access: 'write', args: z.object({ key: z.string() }), result: z.null() },
});
const service = defineService(contract, {
  tables: {
    values: table({ value: register<unknown>() }, { removable: true }),
    queues: table({ items: queue<unknown>() }),
  },
  shadowOperations: ({ values, queues }) => ({
    write: blue((a: { key: string; value: unknown }) => [values.row(a.key).value.write(a.value)]),
    drop: blue((a: { key: string }) => [values.remove(a.key)]),
    push: red((a: { queue: string; item: unknown }) => [queues.row(a.queue).items.push(a.item)]),
    pop: red(
      (a: { queue: string }) => [queues.row(a.queue).items.pop()],
      ([popped]) => (popped.found ? { item: popped.item } : null),
    ),
  }),
  generators: {
    get: ({ key }, { tables }) => tables.values.row(key).value,
    getMany: ({ keys }, { tables }) => keys.map((key) => tables.values.row(key).value),
    put: ({ key, value }, { shadow }) => shadow.write({ key, value }, undefined),
    remove: ({ key }, { shadow }) => shadow.drop({ key }, null),
    enqueue: ({ queue: to, item }, { shadow }) => shadow.push({ queue: to, item }, undefined),
    dequeue: ({ queue: from }, { shadow }) => shadow.pop({ queue: from }),
    peek: () => null,
  },
  alwaysRed: ['enqueue', 'dequeue'],
});
const remove = (key: string) => ({ name: 'remove', args: { key } });

let sites: Sites;
let levels: MemoryLevel[];
let lastStatus: MemoryStatus | undefined;
let maxMemoryBytes: number | undefined;
beforeEach(() => {
  [levels, lastStatus, maxMemoryBytes] = [[], undefined, MAX_MEMORY_BYTES];
  sites = new Sites(service, 2, {
    getOwnOptions: (site) => {
      if (site !== SMALL) return {};
      const onMemoryLevel = (level: MemoryLevel, status: MemoryStatus): void => {
        levels.push(level);
        lastStatus = status;
      };
      return { maxMemoryBytes, observer: { onMemoryLevel } };
    },
  });
  sites.settle();
});

/** Writes at a site until it rejects a write. Returns the number of writes. */
function fill(site: number, most = 1000): number {
  for (let written = 0; written < most; written += 1) {
    const outcome = sites.submit(site, put(`k${written}`, TEXT));
    sites.settle();
    if (outcome.code === undefined) continue;
    expect(outcome.code).toBe('OVERLOADED');
    return written;
  }
  return most;
}

function getStatus(): MemoryStatus | undefined {
  return sites.machines[SMALL]?.memory.status;
}

test('a site without room reports it, refuses what grows and serves reads', () => {
  const written = fill(SMALL);
  expect(written).toBeGreaterThan(20);
  expect(written).toBeLessThan(60);
  expect(levels).toEqual(['low', 'full']);
  expect(lastStatus?.tables[0]).toEqual(['values', lastStatus?.use.rows]);
  expect(lastStatus?.maxBytes).toBe(MAX_MEMORY_BYTES);
  expect(sites.read(SMALL, get('k0'))).toBe(TEXT);
  expect(sites.submit(SMALL, enqueue('q', 'a'))).toMatchObject({ code: 'OVERLOADED' });
  // Reads go on, so a balancer must not leave the site.
  expect(sites.machines[SMALL]?.writeRefusal).toBeUndefined();
});

test('entries of logs that are kept for an absent site refuse no writes', () => {
  for (let written = 0; written < 400; written += 1) {
    expect(sites.submit(SMALL, put('k', written)).code).toBeUndefined();
    sites.settle(({ to }) => to === OTHER);
  }
  const { use } = getStatus() as MemoryStatus;
  expect(use.logs).toBeGreaterThan(MAX_MEMORY_BYTES);
  expect(levels).toEqual([]);
});

test('removals and pops are taken, and make room', () => {
  const pushed = sites.submit(SMALL, enqueue('q', 'a'));
  sites.settle();
  const written = fill(SMALL);
  const popped = sites.submit(SMALL, dequeue('q'));
  sites.settle();
  expect([pushed, popped.value]).toMatchObject([{ value: undefined }, { item: 'a' }]);

  for (let index = 0; index < written; index += 1) {
    const removed = sites.submit(SMALL, remove(`k${index}`));
    sites.settle();
    expect(removed.code).toBeUndefined();
  }
  expect(levels).toEqual(['low', 'full', 'low', 'enough']);
  expect(fill(SMALL, 5)).toBe(5);
});

test('an operation with a name gets its answer, OVERLOADED if it is new, UNKNOWN if it may have begun', () => {
  sites.ask(SMALL, put('known', 1), { id: 'known/1', home: SMALL });
  sites.settle();
  fill(SMALL);
  const [known, fresh, moved, movedRed] = [
    sites.ask(SMALL, put('known', 1), { id: 'known/1', home: SMALL }),
    sites.ask(SMALL, put('new', 1), { id: 'new/1', home: SMALL }),
    sites.ask(SMALL, put('moved', 1), { id: 'moved/1', home: OTHER, hop: 1 }),
    sites.ask(SMALL, enqueue('q', 1), { id: 'redmoved/1', home: OTHER, hop: 1 }),
  ];
  sites.settle();
  const codes = [known, fresh, moved, movedRed].map(({ code }) => code);
  expect(codes).toEqual([undefined, 'OVERLOADED', 'UNKNOWN', 'UNKNOWN']);

  maxMemoryBytes = undefined;
  sites.crash(SMALL);
  sites.start(SMALL);
  sites.pass(100);
  const again = sites.ask(SMALL, put('new', 2), { id: 'new/1', home: SMALL });
  sites.settle();
  expect([again.code, sites.read(SMALL, get('new'))]).toEqual([undefined, 2]);
});

test('a site without room takes nothing of others, and all of it once it has more', () => {
  fill(SMALL);
  fill(OTHER, 200);
  const count = (): number | undefined => sites.machines[SMALL]?.rejections.room;
  const before = count();
  sites.submit(OTHER, enqueue('q', 'red'));
  fill(OTHER, 200);
  sites.pass(100);
  expect(count()).toBeGreaterThan(before ?? 0);
  expect(getStatus()?.bytes).toBeLessThan(MAX_MEMORY_BYTES);

  maxMemoryBytes = undefined;
  sites.crash(SMALL);
  sites.start(SMALL);
  sites.pass(2000);
  expect(sites.read(SMALL, get('k199'))).toBe(TEXT);
  const popped = sites.submit(SMALL, dequeue('q'));
  sites.settle();
  expect(popped.value).toEqual({ item: 'red' });
});

test('a site counts the same after a restart', () => {
  fill(SMALL, 20);
  sites.pass(1000);
  const before = getStatus();
  sites.crash(SMALL);
  sites.start(SMALL);
  sites.pass(1000);
  expect(getStatus()?.use.rows).toBe(before?.use.rows);
  expect(before?.use).toMatchObject({ logs: 0, waiting: 0 });
});
