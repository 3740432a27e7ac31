/**
 * The store of an application that follows references. It is started for the application and filled
 * with its data.
 */
import type { AnyClient } from 'correctables';
import type { Options } from '../options.ts';
import type { DeploymentOptions } from './headless.ts';

export interface SpeculationStore {
  /** The store as the client reaches it. */
  readonly store: AnyClient;
  close(): Promise<void>;
}

/** Starts what is needed and loads the data. `progress` receives lines for the user. */
export type OpenStore<Data> = (
  data: Data,
  options: DeploymentOptions,
  progress: (text: string) => void,
) => Promise<SpeculationStore>;

/** Opens the store that the options name; its code is loaded only then. */
export async function openStore<Data>(
  stores: Readonly<Partial<Record<Options['binding'], () => Promise<OpenStore<Data>>>>>,
  ...[data, options, progress]: Parameters<OpenStore<Data>>
): Promise<SpeculationStore> {
  const { binding = options.cassandra === undefined ? 'redblue' : 'cassandra' } = options;
  const load = stores[binding];
  if (load === undefined) throw new RangeError(`there is no store on ${binding}`);
  return (await load())(data, options, progress);
}
