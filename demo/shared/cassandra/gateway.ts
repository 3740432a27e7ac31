/** Starts a gateway beside a coordinator, with the delay between it and its client. */
import type { Binding } from 'correctables';
import { createGateway, listenGateways, type GatewayOptions } from 'correctables/server';
import { roundTripMs } from '../../../engines/wan.ts';
import { startLatencyProxy } from '../latency-proxy.ts';
import type { Site, WanPreset } from '../options.ts';

export interface BesideCoordinator {
  /**
   * The binding to the store, for a gateway beside the coordinator. It is closed with the gateway.
   */
  readonly binding: Binding;
  /** The operations that clients may use. Default: all operations of the binding */
  readonly contract?: GatewayOptions['contract'];
  readonly coordinator: Site;
  /** The site beside which the client is. */
  readonly client: Site;
  readonly wan: WanPreset;
}

export interface OpenedGateway {
  /** The websocket address for the client. */
  readonly url: string;
  close(): Promise<void>;
}

export async function openGateway(options: BesideCoordinator): Promise<OpenedGateway> {
  const { binding, contract, coordinator, client, wan } = options;
  const gateway = createGateway({ site: coordinator, binding, contract });
  const listener = await listenGateways({ sites: { [coordinator]: gateway } });
  const way = await startLatencyProxy(
    listener.siteUrl(coordinator),
    roundTripMs(wan, client, coordinator),
  );
  return {
    url: way.url,
    async close() {
      await listener.close({ drainMs: 0 });
      await way.close();
      await binding.close();
    },
  };
}
