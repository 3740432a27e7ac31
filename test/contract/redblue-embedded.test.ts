/** A site of an embedded RedBlue deployment keeps the contract of every binding: reads and updates of both colours. */
import { describe, expect, test } from 'vitest';
import { enqueue, peek } from '../../src/operations/index.ts';
import { createEmbedded } from '../../src/server/embedded.ts';
import type { Service } from '../../src/server/redblue/service.ts';
import { bindingContract } from '../../src/testing/index.ts';
import type { OpenBinding } from '../../src/testing/index.ts';
import { bank, bankService, ticketService } from '../unit/redblue/services.ts';

async function openSite(service: Service, site: 'irl' | 'vrg'): Promise<OpenBinding> {
  const deployment = createEmbedded(service, { sites: ['irl', 'frk', 'vrg'] });
  return { binding: deployment.site(site), release: () => deployment.close() };
}

bindingContract(
  {
    name: 'redblue, red updates at the leader',
    open: () => openSite(ticketService, 'irl'),
    update: enqueue('q', 'first'),
    read: peek('q'),
    expected: { item: 'first' },
  },
  { describe, test, expect },
);

bindingContract(
  {
    name: 'redblue, red updates at a follower',
    open: () => openSite(ticketService, 'vrg'),
    update: enqueue('q', 'first'),
    read: peek('q'),
    expected: { item: 'first' },
  },
  { describe, test, expect },
);

bindingContract(
  {
    name: 'redblue, blue updates',
    open: () => openSite(bankService(), 'vrg'),
    update: bank.deposit({ account: 'a', amount: 5 }),
    read: bank.balance({ account: 'a' }),
    expected: 5,
  },
  { describe, test, expect },
);
