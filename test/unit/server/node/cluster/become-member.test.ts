/** What a node says of a change of the members that it has proposed. */
// @rule CLU-W5
import { afterEach, expect, test, vi } from 'vitest';
import { PendingChanges } from '../../../../../src/server/node/cluster/become-member.ts';

afterEach(() => void vi.useRealTimers());

test('the red log does not answer → the outcome is not known, with what it waits for', async () => {
  vi.useFakeTimers();
  const changes = new PendingChanges(() => 'the site ireland');
  const reply = changes.wait('a/1');
  vi.advanceTimersByTime(30_000);
  const problem = 'the red log did not answer within 30 s, since it waits for the site ireland';
  expect(await reply).toEqual({ problem, isUnknown: true });
});

test('the change is delivered → its outcome', async () => {
  const changes = new PendingChanges(() => undefined);
  const reply = changes.wait('a/1');
  const outcome = {
    kind: 'changed',
    id: 'a/1',
    origin: undefined,
    problem: 'another change waits',
  } as const;
  changes.onChanged(outcome);
  expect(await reply).toEqual(outcome);
});
