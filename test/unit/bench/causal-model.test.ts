/** The queueing model of the benchmark `causal`, and what is read out of its curves. */
import { describe, expect, test } from 'vitest';
import {
  runClosedLoop,
  SYSTEMS,
  type LoopOptions,
} from '../../../bench/causal/systems/closed-loop.ts';
import { findCrossing, interpolate } from '../../../bench/causal/curves.ts';
import { fitLine } from '../../../bench/harness/fit-line.ts';
import { countBytes, measureMessage } from '../../../bench/causal/systems/message-size.ts';
import { QueueingNetwork } from '../../../bench/causal/systems/queueing-network.ts';
import { NOMINAL_TIMES, type ServiceTimes } from '../../../bench/causal/systems/service-times.ts';
import {
  createOperations,
  createRankChooser,
  DEFAULT_WORKLOAD,
  KeyNames,
} from '../../../bench/causal/systems/workload.ts';
import { Random } from '../../../src/server/service/collections/random.ts';
import { findPartition } from '../../../src/causal/partition-of-key.ts';
import { Timeline } from '../../../src/testing/simulator/timeline.ts';

/** Each end of a message takes 100 microseconds, and nothing else takes any time. */
const ROUND_TIMES: ServiceTimes = {
  socketUs: 100,
  codec: { perMessageUs: 0, perNumberUs: 0, perLetterUs: 0 },
  execution: { work: { baseUs: 0, perIdUs: 0 } },
};

describe('a server', () => {
  const runCalls = (
    count: number,
  ): { readonly endMs: readonly number[]; readonly network: QueueingNetwork } => {
    const timeline = new Timeline();
    const endMs: number[] = [];
    const network = new QueueingNetwork({
      timeline,
      times: ROUND_TIMES,
      nameExecution: () => 'work',
      startedAt: 0,
      drawDelayMs: () => 1,
    });
    for (let call = 0; call < count; call += 1)
      network.call({
        from: { site: 0 },
        to: { site: 0, partition: 0 },
        kind: 'work',
        purpose: 'read',
        request: { number: call },
        execute: (reply) => reply({}),
        onReply: () => endMs.push(Number(timeline.nowMs.toFixed(6))),
      });
    timeline.run(Infinity);
    return { endMs, network };
  };

  test('works on one message after the other', () => {
    // Two trips of a millisecond. Receiving and sending take 0.1 ms each.
    expect(runCalls(3).endMs).toEqual([2.2, 2.4, 2.6]);
  });

  test('is charged for both of its ends of a call', () => {
    const { messages, bytes, serviceUs } = runCalls(3).network.accounts.read;
    expect({ messages, bytes, serviceUs }).toEqual({ messages: 6, bytes: 24, serviceUs: 600 });
  });
});

test('a message has 8 bytes for a number and one for a letter; names of fields take none', () => {
  const size = measureMessage({
    key: '{00}0000',
    clock: 5,
    readers: [1, 2, 3],
    nothing: undefined,
  });
  expect(size).toEqual({ numbers: 4, letters: 8, ids: 3 });
  expect(countBytes(size)).toBe(40);
});

describe('a workload', () => {
  const PARTITIONS = 8;

  test('writes the share that it names, where a read of p keys counts as p', () => {
    const draw = createOperations(DEFAULT_WORKLOAD, {
      partitionCount: PARTITIONS,
      chooseRank: createRankChooser(100, 0),
    });
    const random = new Random(1);
    const operations = Array.from({ length: 20_000 }, () => draw(random));
    const puts = operations.filter(({ kind }) => kind === 'put').length;
    const keys = operations.flatMap((operation) =>
      operation.kind === 'read' ? operation.keys : [],
    );
    expect(puts / (puts + keys.length)).toBeCloseTo(0.05, 2);
  });

  test('reads each key from another partition, and its keys have eight letters', () => {
    const draw = createOperations(
      { ...DEFAULT_WORKLOAD, partitionsPerRead: PARTITIONS, writes: 0 },
      { partitionCount: PARTITIONS, chooseRank: createRankChooser(1_000_000, 0) },
    );
    const operation = draw(new Random(1));
    const keys = operation.kind === 'read' ? operation.keys : [];
    expect(new Set(keys.map((key) => findPartition(key, PARTITIONS))).size).toBe(PARTITIONS);
    expect(new Set(keys.map(({ length }) => length))).toEqual(new Set([8]));
    expect(findPartition(new KeyNames(PARTITIONS).nameKey(5, 7), PARTITIONS)).toBe(5);
  });

  test('asks for a rank in proportion to its weight', () => {
    const choose = createRankChooser(3, 1);
    const random = new Random(1);
    const ranks = Array.from({ length: 20_000 }, () => choose(random));
    const shares = [0, 1, 2].map(
      (rank) => ranks.filter((item) => item === rank).length / ranks.length,
    );
    for (const [rank, weight] of [6 / 11, 3 / 11, 2 / 11].entries())
      expect(shares[rank]).toBeCloseTo(weight, 1);
  });
});

describe('a closed loop', () => {
  const options = (system: LoopOptions['system'], clientsPerSite = 1): LoopOptions => ({
    system,
    clientsPerSite,
    siteCount: 1,
    workload: DEFAULT_WORKLOAD,
    chooseRank: createRankChooser(1_000, 0.99),
    times: NOMINAL_TIMES,
    seed: 1,
    warmUpMs: 20,
    durationMs: 20,
  });

  test('with one client, two rounds take twice as long as one', () => {
    const [two, one, cclo] = SYSTEMS.map((system) => runClosedLoop(options(system)).read.p50Ms);
    expect((two as number) / (one as number)).toBeCloseTo(2, 1);
    expect((cclo as number) / (one as number)).toBeCloseTo(1, 1);
  });

  test('a put sends as many messages with many clients, and in CC-LO as many ids more', () => {
    const putsOf = (system: LoopOptions['system']): number[] =>
      [2, 8].map((clients) => runClosedLoop(options(system, clients)).costs.put.bytes);
    const growth = (system: LoopOptions['system']): number => {
      const [few = NaN, many = NaN] = putsOf(system);
      return many / few;
    };
    expect(growth('contrarian')).toBeCloseTo(1, 1);
    expect(growth('cc-lo')).toBeGreaterThan(1.05);
  });

  test('the same seed gives the same run', () => {
    expect(runClosedLoop(options('cc-lo', 4))).toEqual(runClosedLoop(options('cc-lo', 4)));
  });

  test('no read is refused', () => {
    expect(runClosedLoop({ ...options('contrarian', 4), siteCount: 3 }).blockedReads).toBe(0);
  });
});

describe('a curve', () => {
  test('is fitted by a line, with the share of the variance that the line explains', () => {
    const points = [1, 2, 3].map((x) => ({ x, y: 2 * x + 1 }));
    expect(fitLine(points)).toMatchObject({ slope: 2, intercept: 1, rSquared: 1 });
    const bent = [...points, { x: 4, y: 1 }];
    expect(fitLine(bent).rSquared).toBeLessThan(0.5);
  });

  test('has values between its points, up to its highest throughput', () => {
    const points = [
      { x: 10, y: 1 },
      { x: 20, y: 3 },
      { x: 15, y: 9 },
    ];
    expect(interpolate(points, 15)).toBe(2);
    expect(interpolate(points, 20)).toBe(3);
    expect(interpolate(points, 21)).toBeNaN();
  });

  test('crosses another one where it becomes the lower one for good', () => {
    const flat = [0, 10].map((x) => ({ x, y: 5 }));
    const steep = [0, 10].map((x) => ({ x, y: x }));
    expect(findCrossing(flat, steep)).toBeCloseTo(5, 1);
    expect(findCrossing(steep, steep)).toBeNaN();
  });
});
