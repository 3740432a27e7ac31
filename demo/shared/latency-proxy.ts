/** A server as it is reached from another place. */
import { openRoute } from '../../engines/delay-proxy.ts';
import { freePorts } from '../../engines/ports.ts';

export interface LatencyProxy {
  /** The address to ask instead. */
  readonly url: string;
  close(): Promise<void>;
}

/** @param roundTripMs what the way there and back takes; half of it each way */
export async function startLatencyProxy(target: string, roundTripMs: number): Promise<LatencyProxy> {
  const url = new URL(target);
  const [listenPort = 0] = await freePorts(1);
  const route = await openRoute({ listenPort, targetPort: Number(url.port), oneWayMs: roundTripMs / 2 });
  url.port = String(listenPort);
  return { url: url.href, close: () => new Promise((resolve) => route.close(() => resolve())) };
}
