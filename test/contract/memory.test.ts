/** The memory binding keeps the contract of every binding, with two levels and with three. */
import { memory, memoryStore } from '../../src/bindings/memory/index.ts';
import { enqueue, get, peek, put } from '../../src/operations/index.ts';
import { keepsContract } from '../support/keeps-contract.ts';

keepsContract({
  name: 'memory, keys',
  open: async () => {
    const store = memoryStore();
    const open = () => memory({ store, delaysMs: { weak: 0, strong: 2 } });
    return { binding: open(), another: async () => open() };
  },
  update: put('k', { n: 1 }),
  read: get('k'),
  expected: { n: 1 },
  slow: async () => ({ binding: memory({ delaysMs: { weak: 0, strong: 300 } }) }),
  weakless: { 'come late': async () => ({ binding: memory({ delaysMs: { weak: 200, strong: 1 } }) }) },
});

keepsContract({
  name: 'memory, queues, three levels',
  open: async () => ({ binding: memory({ levels: ['cached', 'backup', 'primary'], delaysMs: { primary: 3 } }) }),
  update: enqueue('q', 'first'),
  read: peek('q'),
  expected: { item: 'first' },
  slow: async () => ({ binding: memory({ levels: ['cached', 'backup', 'primary'], delaysMs: { primary: 300 } }) }),
  weakless: {
    'come late': async () => ({
      binding: memory({
        levels: ['cached', 'backup', 'primary'],
        delaysMs: { cached: 200, backup: 200, primary: 1 },
      }),
    }),
  },
});
