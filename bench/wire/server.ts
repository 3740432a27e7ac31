/** A server process of the benchmark: the gateway in front of a memory binding, or a bare echo. */
import type { Socket } from 'node:net';
import { createGateway, listenGateways } from 'correctables/server';
import { memory } from 'correctables/bindings/memory';
import { WebSocketServer, type WebSocket } from 'ws';
import { firstOf } from './echo-halves.ts';
import { cpuUsedUs, type Mode, type ServerOrder } from './messages.ts';
import { startProfile, type RunningProfile } from './profile.ts';

const tell = (message: unknown): void => void process.send?.(message);

const mode = process.argv[2] as Mode;
tell({ url: mode.startsWith('gateway') ? await serveGateway() : await serveEcho(mode) });

let profile: RunningProfile | undefined;
process.on('message', (order: ServerOrder) => void obey(order));
process.on('disconnect', () => process.exit());

async function obey(order: ServerOrder): Promise<void> {
  if (order === 'cpu') return tell({ cpuUs: cpuUsedUs() });
  if (order === 'profile') profile = await startProfile();
  tell(order === 'profile' ? { profiling: true } : { profile: await profile?.stop() });
}

async function serveGateway(): Promise<string> {
  const gateway = createGateway({ binding: memory({ delaysMs: { weak: 0, strong: 0 }, lagMs: 0 }) });
  const listener = await listenGateways({ sites: { bench: gateway } });
  return listener.siteUrl('bench');
}

async function serveEcho(how: Mode): Promise<string> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
  server.on('connection', (socket) => {
    if (how === 'echo-cork') corked(socket);
    else if (how === 'echo-equal' || how === 'echo-equal-views') {
      socket.on('message', (data: Buffer) => socket.send(firstOf(data)));
    } else socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }));
  });
  await new Promise((resolve) => server.once('listening', resolve));
  return `ws://127.0.0.1:${(server.address() as { port: number }).port}`;
}

/** Sends the answers of one tick in one write. */
function corked(socket: WebSocket): void {
  const { _socket: tcp } = socket as unknown as { _socket: Socket };
  let held = false;
  socket.on('message', (data, isBinary) => {
    if (!held) {
      held = true;
      tcp.cork();
      setImmediate(() => {
        held = false;
        tcp.uncork();
      });
    }
    socket.send(data, { binary: isBinary });
  });
}
