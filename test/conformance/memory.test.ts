/** The memory binding keeps the contract of every binding, with two levels and with three. */
import { memory, memoryStore } from '../../src/bindings/memory/index.ts';
import { enqueue, get, peek, put } from '../../src/operations/index.ts';
import { runConformance } from '../support/run-conformance.ts';

runConformance({
  name: 'memory, keys',
  createBinding: async () => {
    const store = memoryStore();
    const open = () => memory({ store, delaysMs: { weak: 0, strong: 2 } });
    return { binding: open(), secondBinding: async () => open() };
  },
  write: put('k', { n: 1 }),
  read: get('k'),
  expected: { n: 1 },
  slowBinding: async () => ({ binding: memory({ delaysMs: { weak: 0, strong: 300 } }) }),
  weakLevelFails: {
    'come late': async () => ({ binding: memory({ delaysMs: { weak: 200, strong: 1 } }) }),
  },
});

runConformance({
  name: 'memory, queues, three levels',
  createBinding: async () => ({
    binding: memory({ levels: ['cached', 'backup', 'primary'], delaysMs: { primary: 3 } }),
  }),
  write: enqueue('q', 'first'),
  read: peek('q'),
  expected: { item: 'first' },
  slowBinding: async () => ({
    binding: memory({ levels: ['cached', 'backup', 'primary'], delaysMs: { primary: 300 } }),
  }),
  weakLevelFails: {
    'come late': async () => ({
      binding: memory({
        levels: ['cached', 'backup', 'primary'],
        delaysMs: { cached: 200, backup: 200, primary: 1 },
      }),
    }),
  },
});
