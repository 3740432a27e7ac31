/** A cache in front keeps the contract of every binding, whatever is behind it. */
import { cached, mapStore } from '../../src/bindings/cache/index.ts';
import { memory } from '../../src/bindings/memory/index.ts';
import type { Binding } from '../../src/index.ts';
import { tiered } from '../../src/bindings/tiered/index.ts';
import { enqueue, get, peek, put } from '../../src/operations/index.ts';
import { createEmbedded } from '../../src/server/node/embedded/embedded.ts';
import type { ConformanceSubject } from '../../src/testing/index.ts';
import { bank, bankService, ticketService } from '../unit/server/site/services.ts';
import { createBankHistory } from './bank-history.ts';
import { runConformance } from '../support/run-conformance.ts';

const delaysMs = { weak: 0, strong: 2 };
/** A store whose guesses of updates fail before the updates are made. */
function withoutGuesses(): Binding<readonly ['weak', 'strong']> {
  const store = memory({ delaysMs });
  const submit = store.submitOperation.bind(store);
  store.submitOperation = (operation, levels, sink, context) => {
    if (operation.access === 'read') return submit(operation, levels, sink, context);
    if (levels.includes('strong')) sink.fail(new Error('no guess'), 'weak');
    return submit(operation, ['strong'], sink, context);
  };
  return store;
}

const keys = { write: put('k', { n: 1 }), read: get('k'), expected: { n: 1 } };

const subjects: readonly ConformanceSubject[] = [
  {
    name: 'cache in front of memory, keys',
    createBinding: async () => ({ binding: cached(memory({ delaysMs })) }),
    ...keys,
    slowBinding: async () => ({ binding: cached(memory({ delaysMs: { weak: 0, strong: 300 } })) }),
    weakLevelFails: {
      fail: async () => ({ binding: cached(withoutGuesses()) }),
      'come late': async () => ({
        binding: cached(memory({ delaysMs: { weak: 200, strong: 1 } })),
      }),
    },
  },
  {
    name: 'cache in front of memory, queues',
    // Nothing writes a queue's head through: asked alone, the cache has to fetch it.
    createBinding: async () => ({ binding: cached(memory({ delaysMs }), { onMiss: 'fetch' }) }),
    write: enqueue('q', 'first'),
    read: peek('q'),
    expected: { item: 'first' },
  },
  {
    name: 'cache in front of memory, kept in a store',
    createBinding: async () => ({ binding: cached(memory({ delaysMs }), { store: mapStore() }) }),
    ...keys,
  },
  {
    name: 'cache in front of one level without sessions',
    createBinding: async () => {
      const values = new Map<string, unknown>();
      const only = async ({
        name,
        key = '',
        args,
      }: {
        name: string;
        key?: string;
        args: unknown;
      }): Promise<unknown> =>
        name === 'put' ? void values.set(key, (args as { value: unknown }).value) : values.get(key);
      const supports = ({ name }: { name: string }): boolean => name === 'get' || name === 'put';
      return { binding: cached(tiered(['only'], { only }, { supports })) };
    },
    ...keys,
  },
  {
    name: 'cache in front of redblue, red writes',
    createBinding: async () => {
      const deployment = createEmbedded(ticketService, {
        sites: ['ireland', 'frankfurt', 'virginia'],
      });
      const binding = cached(deployment.site('virginia'), { onMiss: 'fetch' });
      return { binding, release: () => deployment.close() };
    },
    write: enqueue('q', 'first'),
    read: peek('q'),
    expected: { item: 'first' },
  },
  {
    name: 'cache in front of redblue, blue writes',
    createBinding: async () => {
      const deployment = createEmbedded(bankService(), {
        sites: ['ireland', 'frankfurt', 'virginia'],
      });
      const binding = cached(deployment.site('virginia'), { onMiss: 'fetch' });
      return { binding, release: () => deployment.close() };
    },
    write: bank.deposit({ account: 'a', amount: 5 }),
    read: bank.balance({ account: 'a' }),
    expected: 5,
    history: createBankHistory,
  },
];

for (const subject of subjects) runConformance(subject);
