/** What a session has seen, if some of it has no position. */
import { expect, test } from 'vitest';
import { SessionPositions } from '../../../../src/bindings/shared/session-positions.ts';

const open = () => new SessionPositions<number>((have, need) => have >= need);

// @rule REPL-5
test('a read that began before the primary showed an unknown write does not show a replica without it', () => {
  const positions = open();
  positions.recordReplica(positions.beginRead(), 5);
  positions.recordWrite(undefined); // It is at 7.
  const [first, second] = [positions.beginRead(), positions.beginRead()];
  positions.recordPrimary(first, 8);
  expect(positions.canShow(second, 6)).toBe(false);
  expect(positions.canShow(positions.beginRead(), 8)).toBe(true);
});

test('forget: what comes next is not compared with what was seen', () => {
  const positions = open();
  positions.recordReplica(positions.beginRead(), 5);
  positions.forget();
  const read = positions.beginRead();
  expect(positions.canShow(read, 9)).toBe(false);
  expect(positions.isPrimaryBehind(read, 1)).toBe(false);
  positions.recordPrimary(read, 1);
  expect(positions.canShow(positions.beginRead(), 1)).toBe(true);
  expect(positions.state).toEqual({ need: 1, needsPrimary: false });
});

test('forget: what a read that began before has shown is not compared, and only the primary certainly has it', () => {
  const positions = open();
  const [early, final] = [positions.beginRead(), positions.beginRead()];
  positions.forget();
  positions.recordPrimary(positions.beginRead(), 1);
  positions.recordReplica(early, 5);
  expect(positions.state).toEqual({ need: 1, needsPrimary: true });
  positions.recordPrimary(positions.beginRead(), 2);
  positions.recordPrimary(final, 6);
  expect(positions.state).toEqual({ need: 2, needsPrimary: true });
  positions.recordPrimary(positions.beginRead(), 3);
  expect(positions.state).toEqual({ need: 3, needsPrimary: false });
});
