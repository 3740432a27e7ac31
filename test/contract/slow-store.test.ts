/** A store far away, at which each step takes 110 ms, keeps its contract within what test runners wait for one test. */
import { describe, expect, test } from 'vitest';
import { memory, memoryStore } from '../../src/bindings/memory/index.ts';
import { get, put } from '../../src/operations/index.ts';
import { bindingContract } from '../../src/testing/index.ts';

/** What vitest waits unless told otherwise. */
const RUNNER_WAITS_MS = 5_000;

bindingContract(
  {
    name: 'memory, 110 ms away',
    open: async () => {
      const store = memoryStore();
      const away = (): ReturnType<typeof memory> => memory({ store, delaysMs: { weak: 110, strong: 110 } });
      return { binding: away(), another: async () => away() };
    },
    update: put('k', 1),
    read: get('k'),
    expected: 1,
  },
  { describe, test: (name, body) => test(name, { timeout: RUNNER_WAITS_MS }, body), expect },
);
