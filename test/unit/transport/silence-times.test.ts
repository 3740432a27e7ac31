/**
 * How long a line may be silent, to the millisecond: what connections do about it is in
 * `silence.test.ts`.
 */
import { expect, test } from 'vitest';
import { adjustTolerance, HeartbeatDeadline } from '../../../src/transport/connection-timer.ts';

const HEARTBEAT_MS = 1000;
const AWAITED_MS = HEARTBEAT_MS / 5;
/** So many bytes take a second on the slowest link. */
const BYTES = 1 << 15;
/** That second. */
const BYTES_MS = 1000;

function silence(patience = 1): HeartbeatDeadline {
  const made = new HeartbeatDeadline(HEARTBEAT_MS, patience);
  made.begin(0);
  return made;
}

const leftMs = (of: HeartbeatDeadline, nowMs: number, bytes = 0, maxBytes = Infinity): number =>
  of.getRemainingMs(nowMs, bytes, maxBytes);

test.each([
  [1, true, 1],
  [2, true, 1],
  [8, true, 4],
  [1, false, 2],
  [4, false, 8],
  [8, false, 8],
])('a patience of %i, answered when asked: %s → %i', (patience, wasAnswered, next) => {
  expect(adjustTolerance(patience, wasAnswered)).toBe(next);
});

test('nothing is awaited → the heartbeat, from when it began or was last heard', () => {
  const line = silence();
  expect([line.limitMs, leftMs(line, 0), leftMs(line, 400)]).toEqual([1000, 1000, 600]);
  line.begin(500);
  expect(leftMs(line, 600)).toBe(900);
  line.recordReceived(700);
  expect(leftMs(line, 900)).toBe(800);
});

test.each([
  [1, 200],
  [2, 400],
  [8, 1000],
])(
  'a reply is awaited with a patience of %i → %i ms, and the change is reported once',
  (patience, limitMs) => {
    const line = silence(patience);
    expect([line.expectReply(), line.limitMs, line.expectReply()]).toEqual([
      limitMs < HEARTBEAT_MS,
      limitMs,
      false,
    ]);
  },
);

test('asked and answered → twice as long each time, up to the heartbeat; retried it is short again', () => {
  const line = silence();
  line.expectReply();
  const limits = [300, 400, 500, 600].map((nowMs) => {
    line.recordReply(nowMs);
    return line.limitMs;
  });
  expect(limits).toEqual([400, 800, 1000, 1000]);
  expect(leftMs(line, 700)).toBe(900);
  expect([line.expectReply(), line.limitMs]).toEqual([true, AWAITED_MS]);
});

test('nothing is awaited any more → the heartbeat again, unless what was asked was given up unanswered', () => {
  const line = silence();
  line.expectReply();
  line.useIdleInterval();
  expect(line.limitMs).toBe(AWAITED_MS);
  line.recordReceived(10);
  line.useIdleInterval();
  expect(line.limitMs).toBe(HEARTBEAT_MS);
  line.expectReply();
  line.recordReply(20);
  line.useIdleInterval();
  expect(line.limitMs).toBe(HEARTBEAT_MS);
  expect(silence().limitMs).toBe(HEARTBEAT_MS);
});

test.each([1, 4])(
  'large messages of the server are on their way, a patience of %i → as long as a slow link takes',
  (patience) => {
    const line = silence(patience);
    line.extendForBytes(BYTES);
    line.extendForBytes(2 * BYTES);
    expect(leftMs(line, 100)).toBe(900 + 3 * BYTES_MS * patience);
    line.recordReceived(100);
    expect(leftMs(line, 100)).toBe(1000);
  },
);

test('large messages go to the server → as long as they take from when they left, at most', () => {
  const line = silence();
  line.recordUpload(2 * BYTES, 300);
  expect(leftMs(line, 300)).toBe(700 + 2 * BYTES_MS);
  // All that one message may have.
  expect(leftMs(line, 300, 0, BYTES)).toBe(700 + BYTES_MS);
  line.recordReceived(1000);
  // Of those that are not answered the rest is still on its way.
  expect([leftMs(line, 1000), leftMs(line, 1000, 2 * BYTES)]).toEqual([1000, 1000 + 1300]);
  line.recordUpload(BYTES, 1000);
  line.recordReply(1500);
  expect([leftMs(line, 1500), leftMs(line, 1500, BYTES), leftMs(line, 1500, BYTES / 4)]).toEqual([
    1000, 1500, 1250,
  ]);
  line.begin(9000);
  expect(leftMs(line, 9000, BYTES)).toBe(1000);
});
