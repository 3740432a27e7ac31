/** Which servers a site has, and which of them is the master of a key. */
import type { RedisClient } from '../shared/redis/redis-driver.ts';
import type { RedisServer } from '../shared/redis/redis-server.ts';
import { formatAddress, type ServerAddress } from '../shared/server-address.ts';
import { getKeySlot, SLOT_COUNT } from './key-slot.ts';

export class Topology {
  /** The master of each slot. A single server has all of them. */
  readonly #slots: (ServerAddress | undefined)[];

  constructor(slots: (ServerAddress | undefined)[]) {
    this.#slots = slots;
  }

  /** The masters, each once. */
  get masters(): readonly ServerAddress[] {
    const masters = new Map<string, ServerAddress>();
    for (const address of new Set(this.#slots))
      if (address !== undefined) masters.set(formatAddress(address), address);
    return [...masters.values()];
  }

  findMaster(key: string): ServerAddress | undefined {
    return this.#slots[getKeySlot(key)];
  }

  /** Notes where a slot is, as a server has just replied. */
  move(slot: number, address: ServerAddress): void {
    if (slot >= 0 && slot < SLOT_COUNT) this.#slots[slot] = address;
  }
}

/** The next server is asked as well if the one before has not answered after this time. */
const STAGGER_MS = 250;

/**
 * Asks the servers which of them are masters. The first one that knows it decides, so that one
 * which is silent costs little.
 *
 * @throws the error of the last server that failed, if none knows it
 */
export function learnTopology(servers: readonly RedisServer[]): Promise<Topology> {
  return new Promise((resolve, reject) => {
    let started = 0;
    let failed = 0;
    let timer: NodeJS.Timeout | undefined;
    const startNext = (): void => {
      clearTimeout(timer);
      const server = servers[started];
      if (server === undefined) return;
      started += 1;
      timer = setTimeout(startNext, STAGGER_MS);
      askTopology(server).then(
        (topology) => {
          clearTimeout(timer);
          started = servers.length;
          resolve(topology);
        },
        (error: unknown) => {
          failed += 1;
          if (failed === servers.length) reject(error as Error);
          else startNext();
        },
      );
    };
    startNext();
  });
}

/** @throws Error if the server cannot be asked, is a replica, or knows no master */
async function askTopology(server: RedisServer): Promise<Topology> {
  const client = server.ready ?? (await server.connect());
  const info = String(await server.watch(client, client.call('INFO')));
  if (/^cluster_enabled:1/m.test(info)) return askSlots(server, client);
  if (!/^role:slave/m.test(info))
    return new Topology(Array.from({ length: SLOT_COUNT }, () => server.address));
  const reason = new Error(`${formatAddress(server.address)} is a replica, and no master`);
  // The name may lead to another server soon.
  server.giveUp(client, reason);
  throw reason;
}

/**
 * Host and port of a node, then its id and more. If the host is missing, it is that of the server.
 */
type SlotNode = readonly [host: string | null, port: number, ...rest: unknown[]];
type SlotRange = readonly [first: number, last: number, master: SlotNode, ...replicas: unknown[]];

async function askSlots(server: RedisServer, client: RedisClient): Promise<Topology> {
  const ranges = (await server.watch(client, client.call('CLUSTER', 'SLOTS'))) as SlotRange[];
  const slots: (ServerAddress | undefined)[] = Array(SLOT_COUNT).fill(undefined);
  for (const [first, last, [host, port]] of ranges) {
    const address = { host: toHost(host, server), port };
    for (let slot = first; slot <= last; slot += 1) slots[slot] = address;
  }
  if (ranges.length > 0) return new Topology(slots);
  throw new Error(`${formatAddress(server.address)} belongs to no cluster that has slots`);
}

export function toHost(host: string | null | undefined, { address }: RedisServer): string {
  return host === null || host === undefined || /^\??$/.test(host) ? address.host : host;
}
