/** Whom the echo of as many bytes copies, what its frames carry, and what a run and a profile give. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { barsOf, MODES, WINDOWS } from '../../../bench/wire/bars.ts';
import { equalFrame } from '../../../bench/wire/echo.ts';
import { firstOf } from '../../../bench/wire/echo-halves.ts';
import type { BytesPerOp, Mode } from '../../../bench/wire/messages.ts';
import { measuredOf, type Measured, type Pair } from '../../../bench/wire/processes.ts';
import { sharesOf, VALIDATION } from '../../../bench/wire/profile.ts';
import { measureWindow } from '../../../bench/wire/window.ts';

const TAKES: Partial<Record<Mode, BytesPerOp>> = {
  gateway: { sent: 60, received: 12 },
  'gateway-views': { sent: 61, received: 40 },
};

/** An echo carries what it is told to, `off` times. */
function pairOf(mode: Mode, off: number): Pair {
  return {
    run: async (_window, _durationMs, bytes) => {
      const { sent, received } = TAKES[mode] ?? { sent: (bytes?.sent ?? 0) * off, received: bytes?.received ?? 0 };
      const rest = { opsPerSecond: 1000, clientUsPerOp: 5, serverUsPerOp: 5, usPerOp: 10 };
      return { ...rest, bytesSentPerOp: sent, bytesReceivedPerOp: received };
    },
    profile: async () => ({ validationShare: null, gcShare: null }),
    stop: () => {},
  };
}

const QUICK = { rounds: 6, roundsMax: 6, durationMs: 1, progress: (): void => {} };

async function measured(off: number): Promise<ReadonlyMap<Mode, readonly Measured[]>> {
  const pairs = new Map(MODES.map((mode) => [mode, pairOf(mode, off)]));
  return measureWindow(pairs, 64, QUICK);
}

test.each([
  { off: 1, verdict: 'met' },
  { off: 1.04, verdict: 'met' },
  { off: 1.06, verdict: 'missed' },
  { off: 0.94, verdict: 'missed' },
])('an echo that carries $off times what its gateway takes → $verdict', async ({ off, verdict }) => {
  const samples = await measured(off);
  const bars = barsOf(new Map(WINDOWS.map((window) => [window, samples])), 0.01);
  const found = bars.filter(({ name, floor }) => name.startsWith('equal-echo-bytes-off-') && floor !== null);
  expect(found.map((bar) => [bar.name, bar.floor, bar.verdict])).toEqual([
    ['equal-echo-bytes-off-one-view-64', 0.05, verdict],
    ['equal-echo-bytes-off-both-views-64', 0.05, verdict],
  ]);
});

test('each equal echo is told what its own gateway has just taken', async () => {
  const samples = await measured(1);
  const bytes = (mode: Mode): unknown => {
    const [{ bytesSentPerOp, bytesReceivedPerOp }] = samples.get(mode) as [Measured];
    return [bytesSentPerOp, bytesReceivedPerOp];
  };
  expect(bytes('echo-equal')).toEqual([60, 12]);
  expect(bytes('echo-equal-views')).toEqual([61, 40]);
});

test('the first two rounds of everybody warm up: nothing of them counts', async () => {
  const runs = new Map<Mode, number>();
  const pairs = MODES.map((mode): [Mode, Pair] => {
    const pair = pairOf(mode, 1);
    const run: Pair['run'] = async (window, durationMs, bytes) => {
      runs.set(mode, (runs.get(mode) ?? 0) + 1);
      return { ...(await pair.run(window, durationMs, bytes)), usPerOp: runs.get(mode) ?? 0 };
    };
    return [mode, { ...pair, run }];
  });
  const samples = await measureWindow(new Map(pairs), 64, QUICK);
  for (const mode of MODES) {
    // Whom an echo copies is asked once before: what its frames are to carry.
    const asked = TAKES[mode] === undefined ? 0 : 1;
    expect(
      samples.get(mode)?.map(({ usPerOp }) => usPerOp - asked),
      mode,
    ).toEqual([3, 4, 5, 6, 7, 8]);
  }
});

test('frame: as many bytes there and back as so many operations are to take', () => {
  const numbers = [1, 2, 3, 4, 5, 6, 7, 8];
  const [back, rest] = [numbers.map((n) => [n, 1]), numbers.map((n) => `key:${n}`)];
  const frame = equalFrame({ back, rest }, { sent: 60, received: 12 });
  expect(Math.abs(frame.length - 8 * 60)).toBeLessThan(8);
  expect(Math.abs(firstOf(frame).length - 8 * 12)).toBeLessThan(8);
});

test('a run: the processor time of an operation is that of client and server', () => {
  const report = { operations: 100, elapsedMs: 500, cpuUs: 1000, bytes: { sent: 60, received: 12 } };
  expect(measuredOf(report, { serverUs: 3000 })).toEqual({
    opsPerSecond: 200,
    clientUsPerOp: 10,
    serverUsPerOp: 30,
    usPerOp: 40,
    bytesSentPerOp: 60,
    bytesReceivedPerOp: 12,
  });
});

test('a run with both views → an error where operations after it have fewer preliminary ones', () => {
  const report = { operations: 100, elapsedMs: 500, cpuUs: 1000, bytes: { sent: 60, received: 12 } };
  const measuredWith = (views: number): Measured => measuredOf(report, { serverUs: 3000, views: { views, of: 100 } });
  expect(measuredWith(100).usPerOp).toBe(40);
  expect(() => measuredWith(0)).toThrow('both views: 0 preliminary views of 100 operations');
});

type Node = Parameters<typeof sharesOf>[0]['nodes'][number];

function node(id: number, functionName: string, hitCount: number, children: number[] = []): Node {
  return { id, hitCount, children, callFrame: { functionName, scriptId: '', url: '', lineNumber: 0, columnNumber: 0 } };
}

test('profile: what validation calls is validation; where it was not sampled its share is unknown, and has no bar', async () => {
  const callee = node(3, 'parse', 1);
  const nodes = [node(1, '(root)', 0, [2, 4, 5]), node(2, VALIDATION, 1, [3]), callee, node(4, 'send', 6)];
  expect(sharesOf({ nodes: [...nodes, node(5, '(garbage collector)', 2)] })).toEqual({
    validationShare: 0.2,
    gcShare: 0.2,
  });
  expect(sharesOf({ nodes: [node(1, '(root)', 0, [2]), node(2, 'send', 6)] }).validationShare).toBeNull();
  expect(sharesOf({ nodes: [node(1, '(root)', 0)] })).toEqual({ validationShare: null, gcShare: null });
  const samples = await measured(1);
  const names = barsOf(new Map(WINDOWS.map((window) => [window, samples])), null).map(({ name }) => name);
  expect(names).not.toContain('validation-share');
});

test('profile: the function that is looked for is that of the protocol', () => {
  const source = readFileSync(new URL('../../../src/protocol/rows/row-check.ts', import.meta.url), 'utf8');
  expect(source).toContain(`function ${VALIDATION}(`);
});
