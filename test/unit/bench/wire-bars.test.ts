/** What the wire is held to, and the frames of the echo that carries as much. */
import { expect, test } from 'vitest';
import { barsOf, isDecided, MODES, WINDOWS, type Samples } from '../../../bench/wire/bars.ts';
import { firstOf, joined } from '../../../bench/wire/echo-halves.ts';
import type { Mode } from '../../../bench/wire/messages.ts';
import type { Measured } from '../../../bench/wire/processes.ts';

/** Everybody takes 10 µs an operation, but for those that are given. */
function measured(given: Partial<Record<Mode, readonly number[]>>): Samples {
  const run = (usPerOp: number): Measured => ({
    opsPerSecond: 1e6 / usPerOp,
    clientUsPerOp: usPerOp / 2,
    serverUsPerOp: usPerOp / 2,
    usPerOp,
    bytesSentPerOp: 60,
    bytesReceivedPerOp: 12,
  });
  return new Map(MODES.map((mode) => [mode, (given[mode] ?? Array.from({ length: 12 }, () => 10)).map(run)]));
}

const barIn = (samples: Samples, name: string): unknown =>
  barsOf(new Map(WINDOWS.map((window) => [window, samples])), 0.01).find((bar) => bar.name === name);

test('processor time of both processes is held to twice that of an echo of as many bytes, for one view and for both', () => {
  const samples = measured({ gateway: Array(12).fill(19), 'gateway-views': Array(12).fill(31) });
  expect(barIn(samples, 'time-vs-equal-echo-one-view-64')).toMatchObject({ value: 1.9, aim: 2, verdict: 'met' });
  expect(barIn(samples, 'time-vs-equal-echo-both-views-64')).toMatchObject({ value: 3.1, aim: 2, verdict: 'missed' });
  expect(barIn(samples, 'vs-echo-array-64')).toMatchObject({ value: 0.5263, floor: 0.5, verdict: 'met' });
});

test('rounds go on while the processor time is on both sides of its aim', () => {
  const gateway = Array.from({ length: 12 }, (_, round) => (round % 2 === 0 ? 18 : 23));
  expect(isDecided(measured({ gateway }))).toBe(false);
  expect(isDecided(measured({}))).toBe(true);
});

test('a frame of two parts gives back the first as it was', () => {
  const frame = joined(Buffer.from('back'), Buffer.from('rest of it'));
  expect(firstOf(frame).toString()).toBe('back');
  expect(frame).toHaveLength(4 + 4 + 10);
  expect(firstOf(joined(Buffer.alloc(0), Buffer.from('x')))).toHaveLength(0);
});
