/** A service on the RedBlue backend: three sites in this process, reached over real websockets. */
import { createClient, type AnyClient } from 'correctables';
import { redblue } from 'correctables/bindings/redblue';
import { WebSocket } from 'ws';
import { startSites, type BackendOptions } from './backend.ts';
import { roundTripMs } from '../../engines/wan.ts';
import { startLatencyProxy } from './latency-proxy.ts';
import type { SpeculationStore } from './speculation/store.ts';
import type { DeploymentOptions } from './speculation/headless.ts';

export interface RedblueParts {
  readonly service: BackendOptions['service'];
  readonly contract: Parameters<typeof redblue>[0];
  /** Loads the data through one client, and waits until it can be read there. */
  load(store: AnyClient): Promise<void>;
}

/** Starts the sites, connects the client and loads the data. */
export async function openRedblue(
  { service, contract, load }: RedblueParts,
  { client, asks = client, wan, placement }: DeploymentOptions,
  progress: (text: string) => void,
): Promise<SpeculationStore> {
  progress(`starting three sites (delays: ${wan}), the client beside ${client} asks ${asks}`);
  const sites = await startSites({ service, wan, placement });
  const near = sites.siteUrl(asks);
  const way =
    asks === client ? undefined : await startLatencyProxy(near, roundTripMs(wan, client, asks));
  const store = createClient(redblue(contract, { url: way?.url ?? near, WebSocket }));
  const close = async (): Promise<void> => {
    await store.close();
    await way?.close();
    await sites.close();
  };
  try {
    await load(store);
    return { store, close };
  } catch (error) {
    await close();
    throw error;
  }
}
