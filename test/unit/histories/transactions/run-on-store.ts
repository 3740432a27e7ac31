/** Runs the workload of transactions on the stores of this package that need no other program. */
import { memory } from '../../../../src/bindings/memory/index.ts';
import { createClient, type Binding } from '../../../../src/index.ts';
import { Random } from '../../../../src/server/service/collections/random.ts';
import { createEmbedded, keyValueService } from '../../../../src/server/index.ts';
import { transaction } from '../../../../src/transactions/index.ts';
import {
  loseAnswers,
  plantFault,
  runUnknownAgain,
  type PlantedFault,
} from '../../../histories/transactions/planted-faults.ts';
import type { RecordedTransaction } from '../../../histories/transactions/recorded-transaction.ts';
import { runListAppend, type Transact } from '../../../histories/transactions/run-list-append.ts';

/** Bindings of one store, and how to end it. */
interface Store {
  readonly bindings: readonly Binding[];
  readonly close?: () => Promise<void>;
}

const STORES = {
  memory: (): Store => ({ bindings: [memory({ delaysMs: { weak: 1, strong: 2 }, lagMs: 8 })] }),
  redblue: (): Store => {
    const sites = ['ireland', 'frankfurt', 'virginia'] as const;
    const latency = { 'ireland-frankfurt': 2, 'ireland-virginia': 10, 'frankfurt-virginia': 10 };
    const deployment = createEmbedded(keyValueService, { sites, latency });
    return {
      bindings: sites.map((site) => deployment.site(site)),
      close: () => deployment.close(),
    };
  },
};

export type StoreName = keyof typeof STORES;
export const STORE_NAMES: readonly StoreName[] = ['memory', 'redblue'];

export interface StoreRun {
  readonly transactions: number;
  readonly seed?: number;
  readonly fault?: PlantedFault;
}

/** Loses some answers, so that there are transactions of unknown outcome as well. */
export async function runOnStore(name: StoreName, run: StoreRun): Promise<RecordedTransaction[]> {
  const { bindings, close } = STORES[name]();
  const history = await runOnBindings(bindings, run);
  await close?.();
  return history;
}

/** The same on a store that is there already, by one client for each binding. */
export function runOnBindings(
  bindings: readonly Binding[],
  { transactions, seed = 1, fault }: StoreRun,
): Promise<RecordedTransaction[]> {
  const random = new Random(seed);
  const clients = bindings.map((binding) => {
    const faulty = fault === undefined ? binding : plantFault(binding, fault);
    return createClient(loseAnswers(faulty, random));
  });
  const transact: Transact = (worker, run, kind) => {
    const client = clients[worker % clients.length]!;
    return transaction(client, run, kind === 'snapshot' ? {} : { level: client.strongest });
  };

  return runListAppend({
    transact: fault === 'unknown run again' ? runUnknownAgain(transact) : transact,
    workers: 9,
    keys: 4,
    transactions,
    seed,
  });
}
