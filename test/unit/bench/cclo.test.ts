/**
 * CC-LO, which the benchmark `causal` compares with, is correct: otherwise its costs would mean
 * nothing.
 */
import { expect, test } from 'vitest';
import {
  toReadId,
  type CcloCalls,
  type CcloPort,
} from '../../../bench/causal/systems/cclo-calls.ts';
import {
  CcloPartition,
  type CcloPartitionOptions,
} from '../../../bench/causal/systems/cclo-partition.ts';
import {
  runChecked,
  type CheckedRunOptions,
  type CheckedRunResult,
} from '../../../bench/causal/systems/checked-run.ts';
import type { ReadersCheck } from '../../../bench/causal/systems/store-client.ts';
import { KeyNames } from '../../../bench/causal/systems/workload.ts';
import { sampleCases } from '../../support/lane.ts';
import { replaceMethods } from '../../support/replace-methods.ts';

/** The first of them shows each planted fault. */
const SEEDS = sampleCases([2, 1, 3, 4]);
const names = new KeyNames(2);
const [X, Y] = [names.nameKey(0, 0), names.nameKey(1, 0)];

/** One site with two partitions. Each message arrives at once, unless a test holds it back. */
function createSite(change: Partial<CcloPartitionOptions> = {}) {
  const checks: ReadersCheck[] = [];
  const sent: { readonly name: string; readonly to: number }[] = [];
  let now = 1_000_000;
  const partitions: CcloPartition[] = [];
  const port: CcloPort = {
    call: (to, name, request, onReply) => {
      sent.push({ name, to: to.site });
      if (to.site === 0) partitions[to.partition]?.execute(name, request, onReply);
    },
  };
  for (const partition of [0, 1])
    partitions.push(
      new CcloPartition({
        site: 0,
        partition,
        siteCount: 1,
        partitionCount: 2,
        port,
        getTime: () => now,
        onReadersCheck: (check) => checks.push(check),
        ...change,
      }),
    );
  const [px, py] = partitions as [CcloPartition, CcloPartition];
  const read = (partition: CcloPartition, key: string, reader: number): string | undefined => {
    let reply: CcloCalls['read']['reply'] | undefined;
    partition.execute('read', { reader, keys: [key], clock: 0 }, (value) => (reply = value));
    return reply?.versions[0]?.value;
  };
  const put = (
    partition: CcloPartition,
    request: Pick<CcloCalls['put']['request'], 'key' | 'value'> &
      Partial<CcloCalls['put']['request']>,
  ): number => {
    let reply: CcloCalls['put']['reply'] | undefined;
    partition.execute(
      'put',
      { dependencies: [], clock: 0, ...request },
      (value) => (reply = value),
    );
    return reply?.stamp ?? NaN;
  };
  const pass = (us: number): void => void (now += us);
  return { px, py, read, put, pass, checks, sent };
}

test('a read that has missed a write does not see what depends on it (Figure 3)', () => {
  const { px, py, read, put, checks } = createSite();
  put(px, { key: X, value: 'X0' });
  put(py, { key: Y, value: 'Y0' });
  const reader = toReadId(1, 1);
  expect(read(px, X, reader)).toBe('X0');
  const stamp = put(px, { key: X, value: 'X1' });
  put(py, { key: Y, value: 'Y1', dependencies: [{ key: X, stamp, site: 0 }] });
  expect(checks.at(-1)).toEqual({ all: 1, distinct: 1, partitions: 1 });
  expect(read(py, Y, reader)).toBe('Y0');
  expect(read(py, Y, toReadId(1, 2))).toBe('Y1');
  expect(read(py, Y, toReadId(2, 1))).toBe('Y1');
});

test('a read that has seen the dependency is not collected', () => {
  const { px, py, read, put, checks } = createSite();
  const stamp = put(px, { key: X, value: 'X1' });
  read(px, X, toReadId(1, 1));
  put(px, { key: X, value: 'X2' });
  put(py, { key: Y, value: 'Y1', dependencies: [{ key: X, stamp, site: 0 }] });
  expect(checks.at(-1)?.all).toBe(0);
});

test('an answer has one id a client, the one of its last read, and none older than 500 ms', () => {
  const { px, py, read, put, pass, checks } = createSite();
  put(px, { key: X, value: 'X0' });
  read(px, X, toReadId(1, 1));
  read(px, X, toReadId(1, 2));
  read(px, X, toReadId(2, 1));
  const stamp = put(px, { key: X, value: 'X1' });
  const dependencies = [{ key: X, stamp, site: 0 }];
  put(py, { key: Y, value: 'Y1', dependencies });
  expect(checks.at(-1)).toMatchObject({ all: 2, distinct: 2 });
  pass(500_001);
  put(py, { key: Y, value: 'Y2', dependencies });
  expect(checks.at(-1)).toMatchObject({ all: 0, distinct: 0 });
});

test('the stamp of a put is above the clocks of the readers that it collects', () => {
  const { px, py, read, put } = createSite();
  const first = put(px, { key: X, value: 'X1' });
  for (let number = 1; number <= 50; number += 1) read(px, X, toReadId(1, number));
  const stamp = put(py, { key: Y, value: 'Y1', dependencies: [{ key: X, stamp: first, site: 0 }] });
  expect(stamp).toBeGreaterThan(first + 50);
});

test('a write of another site waits for what it depends on', () => {
  const { px, py, read } = createSite({ siteCount: 2 });
  const write = (
    key: string,
    stamp: number,
    dependencies: CcloCalls['put']['request']['dependencies'],
  ) => ({
    key,
    version: { stamp, site: 1, value: `${stamp}` },
    dependencies,
    clock: stamp,
  });
  py.execute('replicate', write(Y, 8, [{ key: X, stamp: 7, site: 1 }]), () => {});
  expect(read(py, Y, toReadId(1, 1))).toBeUndefined();
  px.execute('replicate', write(X, 7, []), () => {});
  expect(read(py, Y, toReadId(1, 2))).toBe('8');
});

/** Runs all seeds. */
function runSeeds(options: Omit<CheckedRunOptions, 'seed'>): CheckedRunResult {
  const results = SEEDS.map((seed) => runChecked({ ...options, seed, operations: 1_000 }));
  return {
    reads: results.reduce((sum, { reads }) => sum + reads, 0),
    faults: results.flatMap(({ faults }) => faults),
    lateFaults: results.flatMap(({ lateFaults }) => lateFaults),
  };
}

test.each([
  { system: 'cc-lo', siteCount: 1 },
  { system: 'cc-lo', siteCount: 3 },
  { system: 'contrarian', siteCount: 3 },
  { system: 'contrarian-one-round', siteCount: 3 },
] as const)('$system, sites: $siteCount → the checker finds no fault', (options) => {
  const { reads, faults, lateFaults } = runSeeds(options);
  expect(reads).toBeGreaterThan(250 * SEEDS.length);
  expect([...faults, ...lateFaults]).toEqual([]);
});

test('a merge that lets an older id replace a newer one tears reads', () => {
  const OlderIdKept = replaceMethods(CcloPartition, () => ({ isNewer: () => true }));
  const { faults } = runSeeds({ system: 'cc-lo', siteCount: 3, Partition: OlderIdKept });
  expect(faults).toContain('torn');
});

test('reads that take longer than 500 ms may be torn, and are counted apart', () => {
  const { faults, lateFaults } = runSeeds({ system: 'cc-lo', siteCount: 1, delayMs: 300 });
  expect(faults).toEqual([]);
  expect(lateFaults).toContain('torn');
});
