/** The states of a connection as a gateway sees it, each brought about by a hostile client on a gateway of its own. */
import { createServer } from 'node:http';
import { createGateway, type Gateway } from '../../../src/server/gateway/gateway.ts';
import { listenGateways, type GatewayListener } from '../../../src/server/gateway/listen/listen.ts';
import { LEVELS } from '../wire.ts';
import { CountingStore } from './counting-store.ts';
import type { Scene } from './happenings.ts';
import { RawPeer } from './raw-peer.ts';
import { encode, helloRow, submitRow, SUBPROTOCOLS, type Row } from './rows.ts';
import { frame, upgradeRequest } from './ws-frames.ts';

/** Whose HTTP server the gateways listen on. */
export const SERVERS = ['of its own', 'of the caller'] as const;

/** A gateway for one case, with a store that counts. */
export interface Stand {
  readonly store: CountingStore;
  readonly gateway: Gateway;
  readonly listener: GatewayListener;
  readonly port: number;
  /** Lets clients in whose token made them wait. */
  admit(): void;
  /** Closes the gateway, and the server where that is the caller's. */
  close(): Promise<void>;
}

/** The token with which authentication takes until `admit`. */
const SLOW = 'slow';
export const MARK = 'hostile';

export async function openStand(whose: (typeof SERVERS)[number]): Promise<Stand> {
  const store = new CountingStore();
  const waiting: (() => void)[] = [];
  const gateway = createGateway({
    binding: store,
    limits: { frameBytesMax: 1 << 20, heartbeatMs: 50, helloTimeoutMs: 5_000 },
    authenticate: async (token) => {
      if (token === SLOW) await new Promise<void>((resolve) => waiting.push(resolve));
      return { id: 'anybody' };
    },
  });
  const server = whose === 'of the caller' ? createServer() : undefined;
  const listener = await listenGateways({ sites: { here: gateway }, server });
  return {
    store,
    gateway,
    listener,
    port: Number(new URL(listener.siteUrl('here')).port),
    admit: () => waiting.splice(0).forEach((resolve) => resolve()),
    async close() {
      store.release();
      await listener.close({ drainMs: 0 });
      if (server === undefined) return;
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

const CLIENT = 'h'.repeat(32);

function rows(...given: Row[]): Buffer {
  return frame(encode(given, 'json'), { isMasked: true });
}

const hello = rows(helloRow({ client: CLIENT, levels: LEVELS }));
const update = rows(submitRow({ id: 1, name: 'bump', effect: 'update', levels: 3, args: { mark: MARK } }));
const bigRead = rows(
  submitRow({ id: 2, name: 'count', effect: 'read', levels: 2, args: { mark: MARK, size: 1 << 20 } }),
);

function upgradeTo(path: string, port: number): Buffer {
  return Buffer.from(upgradeRequest({ path, port, subprotocol: SUBPROTOCOLS.json }));
}

async function upgrade({ port }: Stand): Promise<RawPeer> {
  const peer = await RawPeer.connect(port);
  peer.write(upgradeTo('/here', port));
  await peer.until(() => peer.head.includes('\r\n\r\n'));
  return peer;
}

async function greet(stand: Stand): Promise<RawPeer> {
  const peer = await upgrade(stand);
  peer.write(hello);
  await peer.until(() => peer.rows.length > 0);
  return peer;
}

async function submit(stand: Stand): Promise<RawPeer> {
  const peer = await greet(stand);
  peer.write(update);
  await stand.store.until(() => stand.store.timesOf(MARK) > 0);
  return peer;
}

const scene = (peer: RawPeer, ...rest: Buffer[]): Scene => ({ peer, rest: Buffer.concat(rest), isMasked: true });

export type Stage = (stand: Stand) => Promise<Scene>;

/** Name → how to get there. */
export const GATEWAY_STAGES: Readonly<Record<string, Stage>> = {
  'before the upgrade': async ({ port }) => scene(await RawPeer.connect(port), upgradeTo('/here', port), hello, update),
  'within the HTTP request': async ({ port }) => {
    const peer = await RawPeer.connect(port);
    const request = upgradeTo('/here', port);
    peer.write(request.subarray(0, 40));
    return scene(peer, request.subarray(40), hello, update);
  },
  'within a plain HTTP request': async ({ port }) => {
    const peer = await RawPeer.connect(port);
    peer.write(`POST /health HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Length: 1000\r\n\r\n{`);
    return scene(peer, Buffer.alloc(999, 0x20));
  },
  'upgrade on a path that is no site': async ({ port }) => {
    const peer = await RawPeer.connect(port);
    peer.write(upgradeTo('/nope', port));
    // An answer, where there is one, says what the rest of the case is about.
    await Promise.race([peer.until(() => peer.head !== ''), new Promise((resolve) => setTimeout(resolve, 50))]);
    return scene(peer, hello, update);
  },
  'upgrade that is refused': async ({ port }) => {
    const peer = await RawPeer.connect(port);
    peer.write(upgradeRequest({ path: '/here', port, subprotocol: 'mqtt' }));
    return scene(peer, hello, update);
  },
  'upgraded, no hello': async (stand) => scene(await upgrade(stand), hello, update),
  'hello half sent': async (stand) => {
    const peer = await upgrade(stand);
    peer.write(hello.subarray(0, hello.length >> 1));
    return scene(peer, hello.subarray(hello.length >> 1), update);
  },
  authenticating: async (stand) => {
    const peer = await upgrade(stand);
    peer.write(rows(helloRow({ client: CLIENT, levels: LEVELS, token: SLOW })));
    return scene(peer, update);
  },
  'welcomed, idle': async (stand) => scene(await greet(stand), update),
  'submission half sent': async (stand) => {
    const peer = await greet(stand);
    peer.write(update.subarray(0, update.length >> 1));
    return scene(peer, update.subarray(update.length >> 1));
  },
  'submission under way': async (stand) => {
    stand.store.manner = 'held';
    return scene(await submit(stand), bigRead);
  },
  'preliminary sent': async (stand) => {
    stand.store.manner = 'preliminary';
    const peer = await submit(stand);
    await peer.until(() => peer.rows.some((row) => row[1] === 'view'));
    return scene(peer, bigRead);
  },
  'answer half sent': async (stand) => {
    const peer = await greet(stand);
    peer.stopReading();
    peer.write(Buffer.concat(Array.from({ length: 4 }, () => bigRead)));
    peer.write(update);
    await stand.store.until(() => stand.store.timesOf(MARK) > 0);
    return scene(peer, update);
  },
  draining: async (stand) => {
    stand.store.manner = 'held';
    const peer = await submit(stand);
    void stand.gateway.close({ drainMs: 100 });
    await peer.until(() => peer.rows.some((row) => row[1] === 'goaway'));
    return scene(peer, update);
  },
  'asked whether it is alive': async (stand) => {
    const peer = await greet(stand);
    await peer.until(() => peer.opcodes.includes(9));
    return scene(peer, update);
  },
  closing: async (stand) => {
    const peer = await greet(stand);
    peer.write(rows(helloRow({ client: CLIENT, levels: LEVELS })));
    await peer.until(() => peer.opcodes.includes(8));
    return scene(peer, update);
  },
};
