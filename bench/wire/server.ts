/** A server process of the benchmark: the gateway in front of a memory binding, or a bare echo. */
import { createGateway, listenGateways } from 'correctables/server';
import { memory } from 'correctables/bindings/memory';
import { WebSocketServer } from 'ws';
import { firstOf } from './echo-frame-parts.ts';
import { cpuUsedUs, type Mode, type ServerOrder } from './messages.ts';
import { startProfile, type RunningProfile } from './profile.ts';

const tell = (message: unknown): void => void process.send?.(message);

const mode = process.argv[2] as Mode;
tell({ url: mode.startsWith('gateway') ? await serveGateway() : await serveEcho() });

let profile: RunningProfile | undefined;
process.on('message', (order: ServerOrder) => void obey(order));
process.on('disconnect', () => process.exit());

async function obey(order: ServerOrder): Promise<void> {
  if (order === 'cpu') return tell({ cpuUs: cpuUsedUs() });
  if (order === 'profile') profile = await startProfile();
  tell(order === 'profile' ? { profiling: true } : { profile: await profile?.stop() });
}

async function serveGateway(): Promise<string> {
  const gateway = createGateway({
    binding: memory({ delaysMs: { weak: 0, strong: 0 }, lagMs: 0 }),
  });
  const listener = await listenGateways({ sites: { bench: gateway } });
  return listener.siteUrl('bench');
}

async function serveEcho(): Promise<string> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
  server.on('connection', (socket) =>
    socket.on('message', (data: Buffer) => socket.send(firstOf(data))),
  );
  await new Promise((resolve) => server.once('listening', resolve));
  return `ws://127.0.0.1:${(server.address() as { port: number }).port}`;
}
