/** Starts a proxy with a delay, as if the server were at another place. */
import { openRoute } from '../../engines/delay-proxy.ts';
import { freePorts } from '../../engines/ports.ts';

export interface LatencyProxy {
  /** The address of the proxy. */
  readonly url: string;
  close(): Promise<void>;
}

/** @param roundTripMs the round trip, half of it in each direction */
export async function startLatencyProxy(
  target: string,
  roundTripMs: number,
): Promise<LatencyProxy> {
  const url = new URL(target);
  const [listenPort = 0] = await freePorts(1);
  const route = await openRoute({
    listenPort,
    targetPort: Number(url.port),
    oneWayMs: roundTripMs / 2,
  });
  url.port = String(listenPort);
  return { url: url.href, close: () => new Promise((resolve) => route.close(() => resolve())) };
}
