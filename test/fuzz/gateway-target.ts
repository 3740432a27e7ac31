/** The process that is stormed: two sites of a RedBlue service as `serve` puts them up, and a store without memory of names. */
import { createServer } from 'node:http';
import { createGateway } from '../../src/server/gateway/gateway.ts';
import { listenGateways } from '../../src/server/gateway/listen.ts';
import { serve } from '../../src/server/index.ts';
import { CountingStore } from '../support/hostile/counting-store.ts';
import { measured } from './measure.ts';
import type { FromTarget, ToTarget } from './messages.ts';
import { contract, service } from './service.ts';

const store = new CountingStore();
// Some answers come later than what is said next.
store.delayMs = 1;
const limits = { malformedMax: 200, heartbeatMs: 1_000, helloTimeoutMs: 1_000, clientIdleMs: 1_000 };
const open = createGateway({ binding: store, limits });
/** Lets in who says who he is, for as long as he says, and knows hooks that fail. */
const closed = createGateway({
  binding: store,
  limits,
  authenticate: async (token) => {
    if (token === undefined || token === 'bad') throw new Error('who is that?');
    if (token === 'nobody') return undefined as never;
    if (token === 'slow') await new Promise((resolve) => setTimeout(resolve, 20));
    return { id: token, expiresAt: token === 'short' ? Date.now() + 50 : undefined };
  },
});
const backend = await serve({ service, sites: ['irl', 'frk'] });
const own = await listenGateways({ sites: { open, closed } });
const server = createServer((request, response) => {
  if (!shared.handleHttp(request, response)) response.writeHead(404).end();
});
const third = createGateway({ binding: store, contract, limits, origins: ['https://shop.example'] });
const shared = await listenGateways({ sites: { third }, server });

const tell = (message: FromTarget): void => void process.send?.(message);

process.on('message', (message: ToTarget) => {
  if (message.kind === 'measure') void measure();
});
process.on('disconnect', () => process.exit());

async function measure(): Promise<void> {
  let connections = 0;
  for (const gateway of [open, closed, third]) connections += gateway.status().connections;
  const health = (await (await fetch(`${backend.url}/health`)).json()) as {
    sites: Record<string, { connections: number }>;
  };
  for (const site of Object.values(health.sites)) connections += site.connections;
  const executed = Object.fromEntries([...store.executed].filter(([mark]) => mark.startsWith('honest')));
  tell({ kind: 'measured', measure: await measured(connections), executed });
}

tell({
  kind: 'ready',
  urls: {
    irl: backend.siteUrl('irl'),
    frk: backend.siteUrl('frk'),
    open: own.siteUrl('open'),
    closed: own.siteUrl('closed'),
    third: shared.siteUrl('third'),
  },
});
