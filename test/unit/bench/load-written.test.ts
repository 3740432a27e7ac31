/**
 * After a run the store is asked what it holds: one that has answered a write and lost it ends the
 * benchmark.
 */
import { expect, test } from 'vitest';
import { WRITTEN, type ClientReport } from '../../../bench/load/messages.ts';
import { KEYS } from '../../../bench/load/mix.ts';
import { contestantOf, type LoadClient } from '../../../bench/load/processes.ts';
import { VerifiedWrites, type Reads } from '../../../bench/load/verify-writes.ts';

/** Replies to every write, but drops those that the test chooses. */
class Store implements Reads {
  readonly #values = new Map<number, string>();
  readonly #balances = new Map<number, number>();
  readonly #loses: (write: number) => boolean;
  #writes = 0;

  constructor(loses: (write: number) => boolean = () => false) {
    this.#loses = loses;
  }

  async set(key: number, value: string): Promise<void> {
    if (!this.#loses(this.#writes++)) this.#values.set(key, value);
  }

  async add(key: number, cents: number): Promise<void> {
    if (!this.#loses(this.#writes++))
      this.#balances.set(key, (this.#balances.get(key) ?? 0) + cents);
  }

  value = async (key: number): Promise<string | undefined> => this.#values.get(key);
  balance = async (key: number): Promise<number | undefined> => this.#balances.get(key);
}

const REPORT: ClientReport = {
  operations: 1,
  elapsedMs: 1,
  cpuUs: 1,
  p50Ms: 1,
  p99Ms: 1,
  p999Ms: 1,
};

/** A client that begins so many writes a run, or bookings, counted from the first key. */
function clientOf(store: Store, { name = 'a', writes = 0, bookings = 0 }): LoadClient {
  const written = new VerifiedWrites(name);
  const runOnce = async (): Promise<ClientReport> => {
    written.begin();
    const begun = [];
    for (let n = 0; n < writes; n += 1) begun.push(store.set(n % KEYS, written.value(n % KEYS)));
    for (let n = 0; n < bookings; n += 1) {
      written.book(n, 5);
      await store.add(n, 5);
    }
    await Promise.all(begun);
    return REPORT;
  };
  return {
    ask: (async (order) =>
      order === WRITTEN ? written.report(store) : runOnce()) as LoadClient['ask'],
    ended: async () => {},
  };
}

const server = { pid: process.pid, stop: async () => {} };
const order = { workload: 'set', window: 1, durationMs: 1 } as const;

test('all that was written is there → the run counts', async () => {
  const store = new Store();
  const contestant = contestantOf(server, [clientOf(store, { writes: KEYS + 7, bookings: 3 })]);
  await expect(contestant.run(order)).resolves.toMatchObject({ opsPerSecond: 1000 });
  await expect(contestant.run(order)).resolves.toMatchObject({ opsPerSecond: 1000 });
});

test.each([
  // Each run writes twelve times, first to warm up.
  {
    is: 'the last write of the timed part',
    lost: 23,
    first: 'key:11 holds 0000a:0000000011, written last: 0000a:0000000023',
  },
  {
    is: 'one in the middle of it',
    lost: 16,
    first: 'key:4 holds 0000a:0000000004, written last: 0000a:0000000016',
  },
])('$is is lost → the run fails, and names it', async ({ lost, first }) => {
  const contestant = contestantOf(server, [
    clientOf(new Store((write) => write === lost), { writes: 12 }),
  ]);
  await expect(contestant.run(order)).rejects.toThrow(
    `the store does not hold what was written: 1 differ, the first: ${first}`,
  );
});

test('several clients: the last write of each, and the bookings of both, also of one that did not take part this time', async () => {
  const store = new Store();
  const clients = [
    clientOf(store, { writes: 3, bookings: 2 }),
    clientOf(store, { name: 'b', writes: 5, bookings: 2 }),
  ];
  const contestant = contestantOf(server, clients);
  await contestant.run({ ...order, clients: 2 });
  await expect(contestant.run({ ...order, clients: 1 })).resolves.toBeDefined();
});
