/** A site of an embedded RedBlue deployment keeps the contract of every binding: reads and updates of both colours. */
import { enqueue, peek } from '../../src/operations/index.ts';
import { createEmbedded } from '../../src/server/embedded.ts';
import type { Wan } from '../../src/server/site/wan.ts';
import type { Service } from '../../src/server/service/service.ts';
import type { OpenBinding } from '../../src/testing/index.ts';
import { bank, bankService, ticketService } from '../unit/server/replica/services.ts';
import { bankHistory } from './bank-history.ts';
import { keepsContract } from '../support/keeps-contract.ts';

/** Nothing strong is faster than two ticks of a site, after which it listens to the signals of what is under way. */
const FAR: Wan = { 'irl-frk': 700, 'irl-vrg': 700, 'frk-vrg': 700 };

async function openSite(service: Service, site: 'irl' | 'vrg', wan: Wan = 'none'): Promise<OpenBinding> {
  const deployment = createEmbedded(service, { sites: ['irl', 'frk', 'vrg'], wan });
  return { binding: deployment.site(site), release: () => deployment.close() };
}

keepsContract({
  name: 'redblue, red updates at the leader',
  open: () => openSite(ticketService, 'irl'),
  slow: () => openSite(ticketService, 'irl', FAR),
  update: enqueue('q', 'first'),
  read: peek('q'),
  expected: { item: 'first' },
});

keepsContract({
  name: 'redblue, red updates at a follower',
  open: () => openSite(ticketService, 'vrg'),
  slow: () => openSite(ticketService, 'vrg', FAR),
  update: enqueue('q', 'first'),
  read: peek('q'),
  expected: { item: 'first' },
});

keepsContract({
  name: 'redblue, blue updates',
  open: () => openSite(bankService(), 'vrg'),
  slow: () => openSite(bankService(), 'vrg', FAR),
  update: bank.deposit({ account: 'a', amount: 5 }),
  read: bank.balance({ account: 'a' }),
  expected: 5,
  history: bankHistory,
});
