/**
 * The paper's server, which the benchmarks of partitions measure: what it certifies, what waits,
 * and what leaps.
 */
import { expect, test } from 'vitest';
import { PaperServer, type PaperServerOptions } from '../../../bench/sdur/systems/paper-server.ts';
import type { Part, Transaction } from '../../../bench/sdur/systems/transaction.ts';

const [HOME, OTHER] = [0, 1];

function createServer(options: Partial<PaperServerOptions> = {}): PaperServer {
  return new PaperServer({ partition: HOME, threshold: 0, delayMs: 0, ...options });
}

const part = (partition: number, change: Partial<Part>): Part => ({
  partition,
  snapshot: 0,
  reads: [],
  writes: [],
  ...change,
});

function local(name: number, change: Partial<Part>): Transaction {
  return { name, parts: [part(HOME, change)] };
}

function global(name: number, change: Partial<Part>): Transaction {
  return { name, parts: [part(HOME, change), part(OTHER, { reads: [1], writes: [1] })] };
}

const vote = (transaction: number, commits = true) => ({ transaction, partition: OTHER, commits });

/** What has ended since the last call: the names, with a minus if the transaction aborts. */
function takeEnds(server: PaperServer): number[] {
  return server
    .takeOutputs()
    .flatMap((output) =>
      output.kind === 'end'
        ? [output.commits ? output.transaction.name : -output.transaction.name]
        : [],
    );
}

test('a local ends when it is delivered, and later reads see it', () => {
  const server = createServer();
  server.deliver(local(1, { reads: [7], writes: [7] }));
  expect(takeEnds(server)).toEqual([1]);
  expect(server.read([7, 8])).toEqual({
    snapshot: 1,
    writers: new Map([
      [7, 1],
      [8, undefined],
    ]),
  });
});

test('a transaction that read what a concurrent one wrote aborts', () => {
  const server = createServer();
  server.deliver(local(1, { writes: [7] }));
  server.deliver(local(2, { reads: [7] }));
  server.deliver(local(3, { reads: [7], snapshot: 1 }));
  expect(takeEnds(server)).toEqual([1, -2, 3]);
});

test('a global aborts also if it writes what a concurrent transaction read, and a local does not', () => {
  const server = createServer();
  server.deliver(local(1, { reads: [7] }));
  server.deliver(local(2, { writes: [7] }));
  server.deliver(global(3, { writes: [7] }));
  expect(takeEnds(server)).toEqual([1, 2, -3]);
});

test('a global waits for the votes of other partitions, and what is behind it waits too', () => {
  const server = createServer();
  server.deliver(global(1, { writes: [7] }));
  server.deliver(local(2, { writes: [8] }));
  expect(server.takeOutputs()).toEqual([
    { kind: 'vote', to: OTHER, vote: { transaction: 1, partition: HOME, commits: true } },
  ]);
  server.receiveVote(vote(1));
  expect(takeEnds(server)).toEqual([1, 2]);
});

test('a global aborts if another partition rejects it, and nothing of it is written', () => {
  const server = createServer();
  server.receiveVote(vote(1, false));
  server.deliver(global(1, { writes: [7] }));
  expect(takeEnds(server)).toEqual([-1]);
  expect(server.read([7]).writers.get(7)).toBeUndefined();
});

test('a transaction is certified against a global that another partition has rejected', () => {
  const server = createServer();
  server.receiveVote(vote(1, false));
  server.deliver(global(1, { writes: [7] }));
  server.deliver(local(2, { reads: [7] }));
  expect(takeEnds(server)).toEqual([-1, -2]);
});

test('a transaction waits for the end of what its snapshot contains', () => {
  const server = createServer();
  server.deliver(global(1, { writes: [7] }));
  server.deliver(local(2, { reads: [7], snapshot: 1 }));
  expect(takeEnds(server)).toEqual([]);
  server.receiveVote(vote(1));
  expect(takeEnds(server)).toEqual([1, 2]);
});

test('with a threshold, a local leaps a pending global that it does not overlap', () => {
  const server = createServer({ threshold: 2 });
  server.deliver(global(1, { reads: [6], writes: [7] }));
  server.deliver(local(2, { writes: [8] }));
  expect(takeEnds(server)).toEqual([2]);
  server.deliver(local(3, { writes: [6] }));
  expect(takeEnds(server)).toEqual([]);
  server.receiveVote(vote(1));
  expect(takeEnds(server)).toEqual([1, 3]);
});

test('no local leaps a global after the threshold', () => {
  const server = createServer({ threshold: 1 });
  server.deliver(global(1, { writes: [7] }));
  server.deliver(local(2, { writes: [8] }));
  server.deliver(local(3, { writes: [9] }));
  expect(takeEnds(server)).toEqual([2]);
  server.receiveVote(vote(1));
  expect(takeEnds(server)).toEqual([1, 3]);
});

test('a global with all votes ends only at the threshold, so that all servers leap it alike', () => {
  const server = createServer({ threshold: 2 });
  server.deliver(global(1, { writes: [7] }));
  server.receiveVote(vote(1));
  server.deliver(local(2, { writes: [8] }));
  expect(takeEnds(server)).toEqual([2]);
  server.deliver(local(3, { writes: [9] }));
  expect(takeEnds(server)).toEqual([3, 1]);
});

test('a local does not leap a local that it overlaps, nor what that one waits for', () => {
  const server = createServer({ threshold: 5 });
  server.deliver(global(1, { writes: [7] }));
  server.deliver(local(2, { writes: [7, 8] }));
  server.deliver(local(3, { writes: [8] }));
  expect(takeEnds(server)).toEqual([]);
  server.receiveVote(vote(1));
  for (const name of [4, 5, 6]) server.deliver(local(name, { writes: [name] }));
  expect(takeEnds(server)).toEqual([4, 5, 6, 1, 2, 3]);
});

test('a global is broadcast later in the own partition, and a local at once', () => {
  const server = createServer({ delayMs: 20 });
  server.submit(local(1, {}));
  server.submit(global(2, {}));
  expect(server.takeOutputs()).toMatchObject([
    { kind: 'broadcast', partition: HOME, afterMs: 0 },
    { kind: 'broadcast', partition: HOME, afterMs: 20 },
    { kind: 'broadcast', partition: OTHER, afterMs: 0 },
  ]);
});
