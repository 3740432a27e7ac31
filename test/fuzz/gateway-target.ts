/**
 * The process that is stormed: two sites of a RedBlue service as `serve` puts them up, and a store
 * without memory of names.
 */
import { createServer } from 'node:http';
import { createGatewayWith, type GatewayStatus } from '../../src/server/gateway/gateway.ts';
import { listenGateways } from '../../src/server/gateway/listen/listen.ts';
import { serve } from '../../src/server/index.ts';
import { CountingStore } from '../support/hostile/counting-store.ts';
import { leftWith, measured, rememberedBy } from './measure.ts';
import type { FromTarget } from './messages.ts';
import { contract, service } from './service.ts';

const store = new CountingStore();
// Some replies come later than the next messages.
store.delayMs = 1;
const bounds = {
  maxMalformedMessages: 200,
  heartbeatIntervalMs: 1_000,
  helloTimeoutMs: 1_000,
  clientIdleMs: 1_000,
};
const open = createGatewayWith(bounds, { binding: store });
// The honest ones are two, and the others more than there is room for: many a hello is refused.
const few = { ...bounds, maxConnectionsPerPrincipal: 2, maxOperationsPerSecond: 5_000 };
/** Accepts every token as a user, for as long as the token allows, and has hooks that fail. */
const closed = createGatewayWith(few, {
  binding: store,
  authenticate: async (token) => {
    if (token === undefined || token === 'bad') throw new Error('who is that?');
    if (token === 'nobody') return undefined as never;
    if (token === 'slow') await new Promise((resolve) => setTimeout(resolve, 20));
    return { id: token, expiresAt: token === 'short' ? Date.now() + 50 : undefined };
  },
});
const backend = await serve({ service, sites: ['ireland', 'frankfurt'] });
const own = await listenGateways({ sites: { open, closed } });
const server = createServer((request, response) => {
  if (!shared.handleHttp(request, response)) response.writeHead(404).end();
});
const third = createGatewayWith(bounds, {
  binding: store,
  contract,
  origins: ['https://shop.example'],
});
const shared = await listenGateways({ sites: { third }, server });

const tell = (message: FromTarget): void => void process.send?.(message);

process.on('message', () => void measure());
process.on('disconnect', () => process.exit());

async function measure(): Promise<void> {
  const health = (await (await fetch(`${backend.url}/health`)).json()) as {
    sites: Record<string, GatewayStatus>;
  };
  const statuses = { ...health.sites };
  const left: Record<string, object> = {};
  for (const [name, gateway] of Object.entries({ open, closed, third })) {
    statuses[name] = gateway.status();
    left[name] = leftWith(gateway);
  }
  const connections = Object.values(statuses).reduce((sum, status) => sum + status.connections, 0);
  const remembered: Record<string, number> = {};
  for (const [name, status] of Object.entries(statuses)) {
    const kinds = Object.entries({ ...rememberedBy(status), ...left[name] });
    for (const [kind, count] of kinds) remembered[`${kind} of ${name}`] = count;
  }
  const executed = Object.fromEntries(
    [...store.executed].filter(([mark]) => mark.startsWith('honest')),
  );
  tell({ kind: 'measured', measure: await measured(connections, remembered), executed });
}

tell({
  kind: 'ready',
  urls: {
    ireland: backend.siteUrl('ireland'),
    frankfurt: backend.siteUrl('frankfurt'),
    open: own.siteUrl('open'),
    closed: own.siteUrl('closed'),
    third: shared.siteUrl('third'),
  },
});
