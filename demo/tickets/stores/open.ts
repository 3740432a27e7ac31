/** The stores by the names that `--binding` takes. Each is loaded when it is asked for. */
import type { Options } from '../options.ts';
import type { OpenStore } from './store.ts';

export async function storeOf(binding: Options['binding']): Promise<OpenStore> {
  switch (binding) {
    case 'redblue':
      return (await import('./redblue.ts')).openRedblue;
    case 'zookeeper':
      return (await import('./zookeeper.ts')).openZookeeper;
  }
}
