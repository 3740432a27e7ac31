/** The memory binding keeps the contract of every binding, with two levels and with three. */
import { describe, expect, test } from 'vitest';
import { memory, memoryStore } from '../../src/bindings/memory/index.ts';
import { enqueue, get, peek, put } from '../../src/operations/index.ts';
import { bindingContract } from '../../src/testing/index.ts';

bindingContract(
  {
    name: 'memory, keys',
    open: async () => {
      const store = memoryStore();
      const open = () => memory({ store, delaysMs: { weak: 0, strong: 2 } });
      return { binding: open(), another: async () => open() };
    },
    update: put('k', { n: 1 }),
    read: get('k'),
    expected: { n: 1 },
    weakless: { 'come late': async () => ({ binding: memory({ delaysMs: { weak: 5, strong: 1 } }) }) },
  },
  { describe, test, expect },
);

bindingContract(
  {
    name: 'memory, queues, three levels',
    open: async () => ({ binding: memory({ levels: ['cached', 'backup', 'primary'], delaysMs: { primary: 3 } }) }),
    update: enqueue('q', 'first'),
    read: peek('q'),
    expected: { item: 'first' },
    weakless: {
      'come late': async () => ({
        binding: memory({ levels: ['cached', 'backup', 'primary'], delaysMs: { cached: 9, backup: 9, primary: 1 } }),
      }),
    },
  },
  { describe, test, expect },
);
