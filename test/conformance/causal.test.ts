/**
 * The binding of a causal store keeps the contract of every binding, with one site and with
 * several.
 */
import { createCausalStore } from '../../src/bindings/causal/index.ts';
import { get, getMany, put, remove } from '../../src/operations/index.ts';
import { runConformance } from '../support/run-conformance.ts';

runConformance({
  name: 'causal, two sites',
  createBinding: async () => {
    const store = createCausalStore({
      sites: ['dublin', 'oregon'],
      latency: { 'dublin-oregon': 4 },
    });
    return {
      binding: store.site('dublin'),
      secondBinding: async () => store.site('oregon'),
      release: () => store.close(),
    };
  },
  write: put('k', { n: 1 }),
  read: get('k'),
  expected: { n: 1 },
  slowBinding: async () => {
    const store = createCausalStore({
      sites: ['dublin', 'oregon'],
      latency: { 'dublin-oregon': 250 },
    });
    return { binding: store.site('dublin'), release: () => store.close() };
  },
  strongLevelFails: async () => {
    const store = createCausalStore({ sites: ['dublin', 'oregon'] });
    store.disconnect('dublin', 'oregon');
    return { binding: store.site('dublin'), release: () => store.close() };
  },
});

runConformance({
  name: 'causal, one site, several keys',
  createBinding: async () => {
    const store = createCausalStore({ sites: ['dublin'], partitions: 2 });
    return { binding: store.site('dublin'), release: () => store.close() };
  },
  write: put('k', 1),
  read: getMany(['k', 'other']),
  expected: [1, undefined],
  history: (key) => [
    { operation: put(key, 1) },
    { operation: getMany([key, `${key} 2`]), expected: [1, undefined] },
    { operation: put(`${key} 2`, 2) },
    { operation: remove(key) },
    { operation: getMany([key, `${key} 2`]), expected: [undefined, 2] },
    { operation: get(key), expected: undefined },
  ],
});
