/** A primary of Redis or Valkey with replicas, which can be kept from following. */
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { ask, readInfo } from '../../../engines/redis/ask.ts';
import { openRoute } from '../../../engines/delay-proxy.ts';
import { freePorts, LOOPBACK } from '../../../engines/ports.ts';
import { waitUntil } from '../../../engines/process.ts';
import type { RedisServerName } from '../../../engines/redis/programs.ts';
import { startRedis, type RunningRedis } from '../../../engines/redis/single-server.ts';
import { reasonToSkip } from './missing-tools.ts';

const START_MS = 300_000;
const FOLLOW_MS = 20_000;

export interface ValkeyReplicas {
  /** `host:port`. */
  readonly primary: string;
  readonly replicas: readonly string[];
  readonly servers: readonly RunningRedis[];
  /** Keeps what the primary sends to replicas. */
  hold(): void;
  /** Lets it pass. Resolves once all replicas have it. */
  resume(): Promise<void>;
}

export const portOf = (address: string): number => Number(address.split(':')[1]);

const addressOf = ({ url }: RunningRedis): string => url.slice('redis://'.length);

/** Waits until a replica follows a primary, and has all of it. */
export async function untilCaughtUp(replica: string, primary: string): Promise<void> {
  const target = Number(await readInfo(portOf(primary), 'replication', 'master_repl_offset'));
  const hasAll = async (): Promise<boolean> => {
    const port = portOf(replica);
    const link = await readInfo(port, 'replication', 'master_link_status');
    return (
      link === 'up' && Number(await readInfo(port, 'replication', 'slave_repl_offset')) >= target
    );
  };
  if (!(await waitUntil(hasAll, FOLLOW_MS)))
    throw new Error(`${replica} does not follow ${primary}`);
}

async function start(
  server: RedisServerName,
): Promise<ValkeyReplicas & { stop: () => Promise<void> }> {
  const args = [
    '--repl-diskless-sync',
    'yes',
    '--repl-diskless-sync-delay',
    '0',
    '--repl-ping-replica-period',
    '1',
  ];
  const servers = await Promise.all(
    [1, 2, 3].map(() => startRedis({ durable: false, server, args })),
  );
  const [primary = '', ...replicas] = servers.map(addressOf);
  let isHeld = false;
  const [listenPort = 0] = await freePorts(1);
  const oneWayMs = (towards: 'target' | 'client'): number =>
    isHeld && towards === 'client' ? Infinity : 0;
  const route = await openRoute({ listenPort, targetPort: portOf(primary), oneWayMs });
  const sockets = new Set<{ destroy(): unknown }>();
  route.on('connection', (socket) => sockets.add(socket));
  for (const replica of replicas) await ask(portOf(replica), 'REPLICAOF', LOOPBACK, listenPort);
  const catchUp = async (): Promise<void> => {
    await Promise.all(replicas.map((replica) => untilCaughtUp(replica, primary)));
  };
  await catchUp();
  return {
    primary,
    replicas,
    servers,
    hold: () => void (isHeld = true),
    async resume() {
      isHeld = false;
      await catchUp();
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      route.close();
      await Promise.all(servers.map((running) => running.stop()));
    },
  };
}

/** Starts them before the tests of a file, and stops them after these. */
export function withValkeyReplicas(server: RedisServerName): { readonly sites: ValkeyReplicas } {
  let started: Awaited<ReturnType<typeof start>> | undefined;
  let missing: string | undefined;
  beforeAll(async () => {
    try {
      started = await start(server);
    } catch (error) {
      missing = reasonToSkip(error);
    }
  }, START_MS);
  beforeEach((context) => context.skip(missing !== undefined, missing));
  afterAll(async () => await started?.stop());
  return {
    get sites() {
      if (started === undefined) throw new Error('the servers have not been started');
      return started;
    },
  };
}
