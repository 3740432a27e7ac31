/**
 * The social network without a page. Users of both regions work on a deployment with a red log for
 * each region, and on one with a single log, in turns. Auditors read strongly meanwhile who follows
 * whom.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, isCorrectableError } from 'correctables';
import { redblue } from 'correctables/bindings/redblue';
import { WebSocket } from 'ws';
import { seededAt, wholeBetween, type Random } from '../shared/random.ts';
import { percentilesOf, type Percentiles } from '../tickets/verify/percentiles.ts';
import { social } from './contract.ts';
import {
  findHalfFollows,
  findMissedFollows,
  type FollowChange,
  type ProfilesRead,
} from './history.ts';
import { readLogCounts, type CountsByRegion } from './log-counts.ts';
import { act, readProfiles, readTimeline, type Receipt, type SocialClient } from './network.ts';
import type { Options } from './options.ts';
import { REGION_SITES, REGIONS, SITES, type Region, type Site } from './regions.ts';
import { startSites, type RunningNetwork } from './server.ts';
import { KINDS, Workload, type Kind } from './workload.ts';

/** How often both deployments take turns. */
const ROUNDS = 4;
/** Users at work at each site, and the longest pause between two of their steps. */
const WORKERS = 5;
const PAUSE_MS_MAX = 100;
const AUDIT_PAUSE_MS = 50;

export type Layout = 'logPerRegion' | 'oneLog';

/** The figures of one deployment. Times are from the call to the last view, in milliseconds. */
export interface LayoutFigures {
  readonly operations: Readonly<Record<Kind, Percentiles & { readonly count: number }>>;
  /** Strong reads of users of both regions. */
  readonly strongReads: Percentiles & { readonly count: number };
  /** Operations that were given up, because others changed the same rows at each attempt. */
  readonly conflicts: number;
  /** Operations without an answer, which may have been done. */
  readonly unknown: number;
}

export interface Figures {
  readonly logPerRegion: LayoutFigures;
  readonly oneLog: LayoutFigures;
  /** What each log of `logPerRegion` has counted. */
  readonly logs: CountsByRegion;
  readonly check: {
    readonly strongReads: number;
    /** Strong reads with one row of a follow and without the other one. */
    readonly halfFollows: number;
    /** Strong reads without a follow that had been confirmed before. */
    readonly missedFollows: number;
  };
}

type RunOptions = Pick<Options, 'seconds' | 'usersPerRegion' | 'seed'>;

/** Runs the scenario. `progress` gets lines for a person. */
export async function runUsers(
  options: RunOptions,
  progress: (text: string) => void,
): Promise<Figures> {
  const runs = {
    logPerRegion: await NetworkRun.start(true, options),
    oneLog: await NetworkRun.start(false, options),
  };
  const all = Object.entries(runs);
  try {
    const roundMs = (options.seconds * 1000) / ROUNDS;
    for (let round = 1; round <= ROUNDS; round += 1) {
      for (const [, run] of all) await run.work(roundMs);
      progress(
        `round ${round} of ${ROUNDS}: both deployments have worked for ${Math.round(roundMs)} ms`,
      );
    }
    const reads = all.flatMap(([, { history }]) => history.reads);
    return {
      logPerRegion: runs.logPerRegion.summarize(),
      oneLog: runs.oneLog.summarize(),
      logs: await runs.logPerRegion.readLogs(),
      check: {
        strongReads: reads.length,
        halfFollows: reads.flatMap(findHalfFollows).length,
        missedFollows: all.flatMap(([, { history }]) => findMissedFollows(history)).length,
      },
    };
  } finally {
    for (const [, run] of all) await run.close();
  }
}

/** One deployment, its users and its history. */
class NetworkRun {
  readonly history: { readonly changes: FollowChange[]; readonly reads: ProfilesRead[] } = {
    changes: [],
    reads: [],
  };
  readonly #network: RunningNetwork;
  readonly #clients: ReadonlyMap<Site, SocialClient>;
  readonly #workloads: readonly {
    readonly region: Region;
    readonly workload: Workload;
    readonly random: Random;
  }[];
  readonly #times: Readonly<Record<Kind, number[]>> = {
    timeline: [],
    post: [],
    localFollow: [],
    crossFollow: [],
  };
  readonly #receipts: Receipt[] = [];
  /** The latest pairs of two regions that an operation is about: auditors read those. */
  readonly #pairs: (readonly [string, string])[] = [];

  private constructor(network: RunningNetwork, { usersPerRegion, seed }: RunOptions) {
    this.#network = network;
    this.#clients = new Map(
      SITES.map((site) => [
        site,
        createClient(redblue(social, { url: network.siteUrl(site), WebSocket })),
      ]),
    );
    this.#workloads = REGIONS.map((region, at) => {
      const random = seededAt(seed, at);
      return { region, workload: new Workload(region, usersPerRegion, random), random };
    });
  }

  static async start(hasPartitions: boolean, options: RunOptions): Promise<NetworkRun> {
    return new NetworkRun(await startSites({ hasPartitions }), options);
  }

  /** Lets users and auditors work for a time, and waits for their last operations. */
  async work(forMs: number): Promise<void> {
    const untilMs = performance.now() + forMs;
    const users = this.#workloads.flatMap(({ region, workload, random }) =>
      REGION_SITES[region].flatMap((site) =>
        Array.from({ length: WORKERS }, () => this.#workAt(site, workload, random, untilMs)),
      ),
    );
    const auditors = REGIONS.map((region) => this.#audit(REGION_SITES[region][0], untilMs));
    await Promise.all([...users, ...auditors]);
  }

  summarize(): LayoutFigures {
    const count = (outcome: Receipt['outcome']): number =>
      this.#receipts.filter((receipt) => receipt.outcome === outcome).length;
    return {
      operations: Object.fromEntries(
        KINDS.map((kind) => [kind, measure(this.#times[kind])]),
      ) as Record<Kind, ReturnType<typeof measure>>,
      strongReads: measure(this.history.reads.map(({ startMs, endMs }) => endMs - startMs)),
      conflicts: count('conflict'),
      unknown: count('unknown'),
    };
  }

  readLogs(): Promise<CountsByRegion> {
    return readLogCounts(new URL('metrics', this.#network.url).href);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#clients.values()].map((client) => client.close()));
    await this.#network.close();
  }

  async #workAt(site: Site, workload: Workload, random: Random, untilMs: number): Promise<void> {
    const client = this.#clientAt(site);
    while (performance.now() < untilMs) {
      await sleep(wholeBetween(random, 0, PAUSE_MS_MAX));
      const { kind, user, action } = workload.next();
      const startMs = performance.now();
      if (action === undefined) await readTimeline(client, user);
      else {
        if (kind === 'crossFollow' && action.kind !== 'post')
          this.#pairs.push([action.follower, action.followed]);
        this.#record(await act(client, action), startMs);
      }
      this.#times[kind].push(performance.now() - startMs);
    }
  }

  #record(receipt: Receipt, startMs: number): void {
    this.#receipts.push(receipt);
    const { action, outcome, ms = 0 } = receipt;
    if (action.kind === 'post' || outcome === 'unchanged' || outcome === 'conflict') return;
    const { kind, follower, followed } = action;
    const endMs = outcome === 'done' ? startMs + ms : undefined;
    this.history.changes.push({
      follower,
      followed,
      isFollowing: kind === 'follow',
      startMs,
      endMs,
    });
  }

  /** Reads pairs while they change: a half follow would show itself then. */
  async #audit(site: Site, untilMs: number): Promise<void> {
    const client = this.#clientAt(site);
    while (performance.now() < untilMs) {
      const pair = this.#pairs.at(-1);
      if (pair !== undefined) {
        const startMs = performance.now();
        const profiles = await readProfiles(client, pair).catch(ignoreConflict);
        if (profiles !== undefined)
          this.history.reads.push({ profiles, startMs, endMs: performance.now() });
      }
      await sleep(AUDIT_PAUSE_MS);
    }
  }

  #clientAt(site: Site): SocialClient {
    return this.#clients.get(site) as SocialClient;
  }
}

/** Users changed the rows at each attempt of the read. The next one may succeed. */
function ignoreConflict(error: unknown): undefined {
  if (!isCorrectableError(error, 'CONFLICT')) throw error;
}

function measure(times: readonly number[]): Percentiles & { readonly count: number } {
  return { count: times.length, ...percentilesOf(times) };
}
