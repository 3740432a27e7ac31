/** What this process holds. Needs `--expose-gc`. */
import { readdirSync } from 'node:fs';
import type { Gateway, GatewayStatus } from '../../src/server/gateway/gateway.ts';
import type { Principals } from '../../src/server/gateway/limits/principal-shares.ts';
import type { Measure } from './messages.ts';

const HANDLES = ['TCPSocketWrap', 'TCPServerWrap', 'TCPConnectWrap', 'Timeout'];
const MB = 2 ** 20;

/** What a gateway knows of its clients. */
export function rememberedBy({
  clients,
  replies,
  replyBytes,
  inFlight,
}: GatewayStatus): Measure['remembered'] {
  return { clients, replies, replyBytes, inFlight };
}

/** Figures that no status has: the counted principals, who would be rejected. */
export function leftWith(gateway: Gateway): Measure['remembered'] {
  const { principals } = gateway as unknown as { readonly principals: Principals };
  return { principals: principals.size };
}

export async function measured(
  connections: number,
  remembered: Measure['remembered'],
): Promise<Measure> {
  const { gc } = globalThis as { gc?: () => void };
  // Finalizers run between collections, and let go of more.
  for (let i = 0; i < 3; i++) {
    gc?.();
    await new Promise(setImmediate);
  }
  const { heapUsed, external } = process.memoryUsage();
  const resources = activeResources();
  return {
    descriptors: descriptors(),
    handles: Object.fromEntries(HANDLES.map((kind) => [kind, resources.get(kind) ?? 0])),
    memoryMb: Math.round((heapUsed + external) / MB),
    connections,
    remembered,
  };
}

/** Descriptors that are open; 0 where the system does not tell. */
function descriptors(): number {
  try {
    return readdirSync('/proc/self/fd').length;
  } catch {
    return 0;
  }
}

/** What keeps the process alive, counted by kind. */
function activeResources(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo())
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}
