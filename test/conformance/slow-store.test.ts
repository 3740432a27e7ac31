/**
 * A store far away, at which each step takes 110 ms, keeps its contract within what test runners
 * wait for one test.
 */
import { describe, expect, test } from 'vitest';
import { memory, memoryStore } from '../../src/bindings/memory/index.ts';
import { get, put } from '../../src/operations/index.ts';
import { testBindingConformance } from '../../src/testing/index.ts';
import { VirtualTime } from '../support/outcomes/virtual-time.ts';

/** What vitest waits by default. */
const RUNNER_WAITS_MS = 5_000;
const STEP_MS = 10;

/** Fails if `body` takes longer than a runner waits. */
async function runInVirtualTime(body: () => Promise<void>): Promise<void> {
  using time = new VirtualTime();
  const ends: PromiseSettledResult<void>[] = [];
  void Promise.allSettled([body()]).then(([end]) => ends.push(end));
  const untilMs = time.nowMs + RUNNER_WAITS_MS;
  while (ends.length === 0 && time.nowMs < untilMs) await time.advance(STEP_MS);
  expect(ends, `ends within ${RUNNER_WAITS_MS} ms`).toHaveLength(1);
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

testBindingConformance(
  {
    name: 'memory, 110 ms away',
    createBinding: async () => {
      const store = memoryStore();
      const away = (): ReturnType<typeof memory> =>
        memory({ store, delaysMs: { weak: 110, strong: 110 } });
      return { binding: away(), secondBinding: async () => away() };
    },
    write: put('k', 1),
    read: get('k'),
    expected: 1,
  },
  {
    describe,
    test: (name, body) => test(name, () => runInVirtualTime(async () => body())),
    expect,
  },
);
