/**
 * The Redis Cluster of one site on this machine: three masters, which keep nothing when they end.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { freePorts, LOOPBACK } from '../../engines/ports.ts';
import { startRedis, type RunningRedis } from '../../engines/redis/single-server.ts';

const MASTERS = 3;
const SLOTS = 16_384;
const POLL_MS = 50;

export class RedisSite {
  readonly #servers: readonly RunningRedis[];

  private constructor(servers: readonly RunningRedis[]) {
    this.#servers = servers;
  }

  /** @throws EngineUnavailable if Redis is not installed and cannot be downloaded */
  static async start(): Promise<RedisSite> {
    const busPorts = await freePorts(MASTERS);
    const starting = busPorts.map(startMaster);
    const starts = await Promise.allSettled(starting);
    const servers = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
    const site = new RedisSite(servers);
    try {
      await Promise.all(starting);
      await site.#join(busPorts);
      return site;
    } catch (error) {
      await site.stop();
      throw error;
    }
  }

  get ports(): readonly number[] {
    return this.#servers.map(({ url }) => Number(new URL(url).port));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.stop()));
  }

  /** Gives each master its slots, and waits until each of them serves all slots. */
  async #join(busPorts: readonly number[]): Promise<void> {
    const [first] = this.ports as readonly [number];
    const masters = this.ports.map((port) => new Redis({ host: LOOPBACK, port }));
    for (const master of masters) master.on('error', () => {}); // Ignore the event: each command reports its own failure.
    try {
      for (const [at, master] of masters.entries()) {
        await master.call('CLUSTER', 'SET-CONFIG-EPOCH', at + 1);
        await master.call('CLUSTER', 'ADDSLOTSRANGE', firstSlot(at), firstSlot(at + 1) - 1);
        if (at > 0) await master.call('CLUSTER', 'MEET', LOOPBACK, first, busPorts[0] as number);
      }
      await Promise.all(masters.map(waitUntilServing));
    } finally {
      for (const master of masters) master.disconnect();
    }
  }
}

function startMaster(busPort: number): Promise<RunningRedis> {
  const args = [
    '--cluster-enabled',
    'yes',
    '--cluster-port',
    String(busPort),
    '--cluster-announce-ip',
    LOOPBACK,
  ];
  return startRedis({ durable: false, args });
}

function firstSlot(master: number): number {
  return Math.ceil((SLOTS * master) / MASTERS);
}

async function waitUntilServing(master: Redis): Promise<void> {
  for (;;) {
    const info = String(await master.call('CLUSTER', 'INFO'));
    const isWhole = info.includes('cluster_state:ok') && info.includes(`cluster_slots_ok:${SLOTS}`);
    if (isWhole) return;
    await sleep(POLL_MS);
  }
}
