/** A server process under load: the backend, or the plain service, behind the gateway. */
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGateway, listenGateways, serve } from 'correctables/server';
import { singleSiteService } from 'correctables/testing';
import { WebSocketServer } from 'ws';
import type { Target } from './messages.ts';
import { serveBaseline } from './baseline-server.ts';
import { load, service } from './service.ts';

const tell = (message: unknown): void => void process.send?.(message);

const target = JSON.parse(process.argv[2] as string) as Target;
tell({ url: await start() });

// Exit normally, so that Node writes a profile if its flags request one.
process.on('disconnect', () => process.exit());

async function start(): Promise<string> {
  if (target.kind === 'plain') {
    const gateway = createGateway({ binding: singleSiteService(service), contract: load });
    return (await listenGateways({ sites: { a: gateway } })).siteUrl('a');
  }
  if (target.kind === 'echo') return serveEcho();
  if (target.kind === 'day')
    return serveBaseline(target.durable ? join(await freshFolder(), 'log') : undefined);
  if (target.kind !== 'redblue') throw new Error(`no server here for ${target.kind}`);
  const sites = (['a', 'b', 'c'] as const).slice(0, target.sites) as unknown as ['a', 'b', 'c'];
  const server = await serve({
    service,
    sites,
    ...(target.durable ? { dataDir: await freshFolder(), checkColors: false } : {}),
  });
  return server.siteUrl('a');
}

/** Serves on a free loopback port, with the settings of a bare `ws`. Returns the address. */
async function serveEcho(): Promise<string> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
  server.on('connection', (socket) => {
    socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }));
  });
  await once(server, 'listening');
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

/** Creates a data directory that is removed at the exit of the process. */
async function freshFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-redblue-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
