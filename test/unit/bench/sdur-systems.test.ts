/**
 * The systems that the benchmarks of partitions compare: trips decide how long a single transaction
 * takes.
 */
import { describe, expect, test } from 'vitest';
import { countBytes } from '../../../bench/sdur/systems/count-bytes.ts';
import { getDelayMs, LAYOUTS, WANS, type Wan } from '../../../bench/sdur/systems/layouts.ts';
import { PaperDeployment } from '../../../bench/sdur/systems/paper-deployment.ts';
import { ProductDeployment } from '../../../bench/sdur/systems/product-deployment.ts';
import { runLoad } from '../../../bench/sdur/systems/run-load.ts';
import type { Request, System } from '../../../bench/sdur/systems/system.ts';
import { createUpdates } from '../../../bench/sdur/systems/workloads.ts';
import { Timeline } from '../../../src/testing/simulator/timeline.ts';

const SERVICE_MS = 0.2;
const access = (partition: number, row: number) => ({
  partition,
  row,
  isRead: true,
  isWritten: true,
});
const LOCAL: Request = { home: 0, rows: [access(0, 1), access(0, 2)] };
const READ: Request = {
  home: 0,
  rows: [LOCAL.rows[0]!, { ...access(1, 2) }].map((row) => ({ ...row, isWritten: false })),
};
const ONE_ROW: Request = { home: 0, rows: [access(0, 5)] };
const GLOBAL: Request = { home: 0, rows: [access(0, 3), access(1, 3)] };

const SYSTEMS = {
  machine: (timeline: Timeline, wan: Wan): System => {
    const options = { timeline, layout: LAYOUTS[wan], getDelayMs, serviceMs: SERVICE_MS };
    return new PaperDeployment({ ...options, threshold: 0, delayMs: 0 });
  },
  product: (timeline: Timeline, wan: Wan): System => {
    return new ProductDeployment({
      timeline,
      layout: LAYOUTS[wan],
      getDelayMs,
      serviceMs: SERVICE_MS,
    });
  },
};

/**
 * Returns how many milliseconds pass until the client has the outcome, without the work of servers.
 */
function measureTrips(name: keyof typeof SYSTEMS, wan: Wan, request: Request): number {
  const timeline = new Timeline();
  const system = SYSTEMS[name](timeline, wan);
  timeline.run(2_000);
  const begunMs = timeline.nowMs;
  let endedMs = NaN;
  system.begin(request, (commits) => {
    if (commits) endedMs = timeline.nowMs;
  });
  timeline.run(begunMs + 2_000);
  return Math.floor(endedMs - begunMs);
}

describe('a transaction on an idle system takes its trips', () => {
  const CLIENT = 2;
  test.each(['machine', 'product'] as const)(
    '%s: a local waits for a majority of its partition',
    (name) => {
      const trips = WANS.map((wan) => measureTrips(name, wan, LOCAL));
      expect(trips).toEqual([CLIENT + 2, CLIENT + 180]);
    },
  );

  test.each(['machine', 'product'] as const)('%s: a local of one row too', (name) => {
    const trips = WANS.map((wan) => measureTrips(name, wan, ONE_ROW));
    expect(trips).toEqual([CLIENT + 2, CLIENT + 180]);
  });

  test('machine: what only reads waits for the nearest server of the other partition', () => {
    expect(WANS.map((wan) => measureTrips('machine', wan, READ))).toEqual([CLIENT + 2, CLIENT + 2]);
  });

  test('product: what only reads waits for no other site', () => {
    expect(WANS.map((wan) => measureTrips('product', wan, READ))).toEqual([CLIENT, CLIENT]);
  });

  test('machine: a global waits for the votes of the other partition, and first reads there', () => {
    const [read, vote] = [2, 1];
    const trips = WANS.map((wan) => measureTrips('machine', wan, GLOBAL));
    expect(trips).toEqual([CLIENT + read + 180 + vote, CLIENT + read + 180 + vote]);
  });

  test('product: a global waits for a hold in the other log, then for its record', () => {
    const trips = WANS.map((wan) => measureTrips('product', wan, GLOBAL));
    expect(trips).toEqual([CLIENT + 180 + 2, CLIENT + 180 + 180]);
  });
});

test('a run under load depends on its options alone', () => {
  const workload = createUpdates({ globals: 0, hot: 0 });
  const options = { wan: 'WAN 1', workload, threshold: 0, delayMs: 0 } as const;
  const run = (seed: number) =>
    runLoad({ ...options, system: 'machine', seed, warmUpMs: 20, durationMs: 20 });
  const [first, again, other] = [run(1), run(1), run(2)];
  expect(again).toEqual(first);
  expect(other.latenciesMs).not.toEqual(first.latenciesMs);
  expect(first.utilization).toBeGreaterThan(0.5);
});

test('an operation takes more bytes with more partitions', () => {
  const [one, eight] = [countBytes(1, 8), countBytes(8, 8)];
  expect(eight.wireBytes).toBeGreaterThan(one.wireBytes);
  expect(eight.diskBytes).toBeGreaterThan(one.diskBytes);
});
