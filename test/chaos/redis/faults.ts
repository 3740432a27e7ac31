/** What is done to the servers during a round, one fault at a time. */
import {
  findSlot,
  flushAll,
  flushScripts,
  killMaster,
  killWithLoss,
  moveSlot,
  promote,
  restartAll,
  restartFromCopy,
  saveCopy,
  type ShardAddress,
} from '../../../engines/redis/faults.ts';
import { REDIS_SITES, type NodeLayout, type RedisSite } from '../../../engines/redis/layout.ts';
import type { RedisServerName } from '../../../engines/redis/programs.ts';
import type { RedisSites } from '../../../engines/redis/sites.ts';
import type { Random } from '../../../src/server/service/collections/random.ts';
import { pause } from '../../histories/pause.ts';

export interface Stage {
  readonly sites: RedisSites;
  readonly random: Random;
  readonly partitionCount: number;
  /** The key that has a partition in Redis. */
  readonly keyOf: (partition: number) => string;
  readonly restartGateway: () => Promise<void>;
  /** Called when Redis has lost what it will lose. */
  readonly noteLoss: () => void;
  /**
   * Called when a server may have acknowledged writes although it is no master any more, from
   * `fromMs` on.
   */
  readonly noteFalseAnswers: (fromMs: number) => void;
}

interface Fault {
  /** A fault that loses what Redis has acknowledged calls `noteLoss`. */
  run(stage: Stage, address: ShardAddress): Promise<void>;
}

/** Long enough for some writes, and for several rounds of replication. */
const SHORT_MS = 400;
const LONG_MS = 1_500;
/** Longer than it takes to promote a replica. */
const FROZEN_MS = 3_000;
/** Of a good clock, to either side. */
const CLOCKS_APART_MS = 40;
/** A server looks once a second whether its clock has moved. */
const WRONG_CLOCK_MS = 3_000;

export const STORM_FAULTS = {
  kill: {
    async run({ sites, noteLoss }, address) {
      await killMaster(sites, address);
      noteLoss();
      await restartAll(sites, address.site);
    },
  },
  'lossy-kill': {
    async run({ sites, noteLoss }, address) {
      await killWithLoss(sites, address, () => pause(SHORT_MS));
      noteLoss();
      await restartAll(sites, address.site);
    },
  },
  /** No other site has the writes that are lost. */
  'cut-and-lossy-kill': {
    async run({ sites, noteLoss }, address) {
      const heal = cutLinks(sites, REDIS_SITES);
      try {
        await pause(SHORT_MS);
        await killWithLoss(sites, address, () => pause(SHORT_MS));
        noteLoss();
      } finally {
        heal();
      }
      await restartAll(sites, address.site);
    },
  },
  'older-copy': {
    async run({ sites, noteLoss }, address) {
      const copy = await saveCopy(sites, address);
      await pause(LONG_MS);
      await restartFromCopy(sites, address, copy);
      noteLoss();
    },
  },
  'lost-disk': {
    async run({ sites, noteLoss }, address) {
      await restartFromCopy(sites, address);
      noteLoss();
    },
  },
  flush: {
    async run({ sites, noteLoss }, address) {
      await flushAll(sites, address);
      noteLoss();
    },
  },
  /** A server that hangs goes on as a master until it hears of the promotion. */
  freeze: {
    async run({ sites, noteLoss, noteFalseAnswers }, { site, shard }) {
      const master = (await sites.master(site, shard)) as NodeLayout;
      sites.signal(master, 'SIGSTOP');
      await pause(FROZEN_MS);
      const goesOnMs = performance.now();
      sites.signal(master, 'SIGCONT');
      await sites.untilServing(site);
      noteLoss();
      noteFalseAnswers(goesOnMs);
    },
  },
  promote: {
    run: ({ sites }, address) => promote(sites, address),
  },
  'flush-scripts': {
    run: ({ sites }, { site }) => flushScripts(sites, site),
  },
  'move-slots': {
    async run({ sites, random, partitionCount, keyOf }, address) {
      for (let count = 0; count < 3; count += 1) {
        const slot = await findSlot(sites, keyOf(random.between(0, partitionCount - 1)));
        await moveSlot(sites, slot, address);
      }
    },
  },
  cut: {
    async run({ sites, random }) {
      const heal = cutLinks(
        sites,
        random.pick<readonly RedisSite[]>([REDIS_SITES, ['dublin'], ['oregon']]),
      );
      await pause(LONG_MS);
      heal();
    },
  },
  /** The clock of a master is an hour, or a second, off for a while. */
  'wrong-clock': {
    async run({ sites, random }, { site, shard }) {
      const master = (await sites.master(site, shard)) as NodeLayout;
      sites.setClock(master, random.pick([3_600_000, -3_600_000, 1_000, -1_000]));
      await pause(WRONG_CLOCK_MS);
      setClockApart(sites, master, random);
      await sites.untilServing(site);
    },
  },
  'restart-gateway': {
    run: ({ restartGateway }) => restartGateway(),
  },
} as const satisfies Readonly<Record<string, Fault>>;

export type StormFaultName = keyof typeof STORM_FAULTS;
export const STORM_FAULT_NAMES = Object.keys(STORM_FAULTS) as StormFaultName[];

/**
 * Sets the clock of a server a little apart from the others, as clocks are: rules of stamps matter
 * only then.
 */
export function setClockApart(sites: RedisSites, node: NodeLayout, random: Random): void {
  sites.setClock(node, random.between(-CLOCKS_APART_MS, CLOCKS_APART_MS));
}

/** Returns the faults that a server can have: the clocks of Redis itself cannot be moved. */
export function listPossibleFaults(server: RedisServerName): readonly StormFaultName[] {
  return STORM_FAULT_NAMES.filter((name) => server === 'valkey' || name !== 'wrong-clock');
}

/**
 * Returns the faults of a storm unless others are asked for. A master that hangs breaks its
 * promises when it goes on: it confirms itself with polls that waited in its sockets. So this one
 * is left out.
 */
export function listDefaultFaults(server: RedisServerName): readonly StormFaultName[] {
  return listPossibleFaults(server).filter((name) => name !== 'freeze');
}

function cutLinks(sites: RedisSites, from: readonly RedisSite[]): () => void {
  for (const site of from) sites.cutLink(site);
  return () => {
    for (const site of from) sites.healLink(site);
  };
}
