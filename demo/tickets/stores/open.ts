/** Opens the store that `--binding` names. The code of a store is loaded only when it is opened. */
import type { Options } from '../options.ts';
import type { OpenStore } from './store.ts';

export async function storeOf(binding: Options['binding']): Promise<OpenStore> {
  switch (binding) {
    case 'redblue':
      return (await import('./redblue.ts')).openRedblue;
    case 'zookeeper':
      return (await import('./zookeeper.ts')).openZookeeper;
    case 'postgres':
      return (await import('./postgres.ts')).openPostgres;
  }
}
