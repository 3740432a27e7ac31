/**
 * A site of an embedded RedBlue deployment keeps the contract of every binding: reads and updates
 * of both colors.
 */
import { commit, enqueue, get, peek, put } from '../../src/operations/index.ts';
import { createEmbedded } from '../../src/server/node/embedded/embedded.ts';
import { keyValueService } from '../../src/server/service/key-value-service.ts';
import type { SiteLatency } from '../../src/server/node/site-latency.ts';
import type { Service } from '../../src/server/service/service.ts';
import type { HistoryStep, OpenedBinding } from '../../src/testing/index.ts';
import { bank, bankService, ticketService } from '../unit/server/site/services.ts';
import { createBankHistory } from './bank-history.ts';
import { runConformance } from '../support/run-conformance.ts';

/**
 * Nothing strong is faster than two ticks of a site, after which it listens to the signals of what
 * is under way.
 */
const FAR: SiteLatency = {
  'ireland-frankfurt': 700,
  'ireland-virginia': 700,
  'frankfurt-virginia': 700,
};

async function openSite(
  service: Service,
  site: 'ireland' | 'virginia',
  latency: SiteLatency = 'none',
): Promise<OpenedBinding> {
  const deployment = createEmbedded(service, {
    sites: ['ireland', 'frankfurt', 'virginia'],
    latency,
  });
  return { binding: deployment.site(site), release: () => deployment.close() };
}

runConformance({
  name: 'redblue, red writes at the leader',
  createBinding: () => openSite(ticketService, 'ireland'),
  slowBinding: () => openSite(ticketService, 'ireland', FAR),
  write: enqueue('q', 'first'),
  read: peek('q'),
  expected: { item: 'first' },
});

runConformance({
  name: 'redblue, red writes at a follower',
  createBinding: () => openSite(ticketService, 'virginia'),
  slowBinding: () => openSite(ticketService, 'virginia', FAR),
  write: enqueue('q', 'first'),
  read: peek('q'),
  expected: { item: 'first' },
});

runConformance({
  name: 'redblue, blue writes',
  createBinding: () => openSite(bankService(), 'virginia'),
  slowBinding: () => openSite(bankService(), 'virginia', FAR),
  write: bank.deposit({ account: 'a', amount: 5 }),
  read: bank.balance({ account: 'a' }),
  expected: 5,
  history: createBankHistory,
});

runConformance({
  name: 'redblue, the key-value service at a follower',
  createBinding: () => openSite(keyValueService, 'virginia'),
  slowBinding: () => openSite(keyValueService, 'virginia', FAR),
  write: commit([{ key: 'k', version: '' }], [{ key: 'k', value: 'first' }]),
  read: get('k'),
  expected: 'first',
  history: (key): readonly HistoryStep[] =>
    [1, 2, 3, 4].flatMap((value) => [
      { operation: put(key, value) },
      { operation: get(key), expected: value },
    ]),
});
