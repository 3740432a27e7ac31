/**
 * Injects faults during a sale: one site is killed and started again, and another one is frozen for
 * a while.
 */
import { waitUntil } from '../../engines/process.ts';
import type { EtcdCluster } from '../../engines/etcd/cluster.ts';
import type { Site } from '../../engines/wan.ts';
import { pause } from '../tickets/pause.ts';
import type { Cluster } from './cluster.ts';
import type { Action, SiteStatus } from './status.ts';

export interface FaultOptions {
  readonly kill: Site;
  readonly freeze: Site;
  /**
   * The etcd servers of the red log, if it is on etcd. Their leader is killed together with the
   * site.
   */
  readonly etcd?: EtcdCluster | undefined;
  /** Returns the share of the stock that is sold: from 0 to 1, and 1 once the sale is over. */
  readonly soldShare: () => number;
  /** Gets lines for a person. */
  readonly progress: (text: string) => void;
  /** Ends the injection early: no further faults are injected. */
  readonly signal: AbortSignal;
}

/**
 * How long sites took to recover: from the restart or the thaw of the process until the site has
 * all operations that were ordered meanwhile.
 */
export interface FaultReport {
  /** The site of the server of etcd that was killed. */
  readonly killedEtcdLeader?: Site | undefined;
  readonly killed: { readonly site: Site; readonly backAfterMs: number };
  readonly frozen: { readonly site: Site; readonly backAfterMs: number };
}

/** The share of sold tickets at which the site is killed. */
const KILL_AT = 0.2;
const FREEZE_AT = 0.6;
const AWAY_MS = 4_000;
const BACK_MAX_MS = 60_000;

/**
 * Kills and freezes, in this order, and waits each time until the site has recovered.
 *
 * @throws Error if a site does not recover, or if `signal` aborts
 */
export async function injectFaults(cluster: Cluster, options: FaultOptions): Promise<FaultReport> {
  const { kill, freeze, etcd, soldShare, progress, signal } = options;
  const isSold = (share: number): Promise<boolean> =>
    waitUntil(() => soldShare() >= share || signal.aborted, Infinity);
  const act = async (site: Site, action: Action): Promise<void> => {
    signal.throwIfAborted();
    await cluster.act(site, action);
  };
  const bringBack = async (site: Site, action: Action): Promise<number> => {
    const from = performance.now();
    await act(site, action);
    await waitUntilBack(cluster, site, signal);
    return Math.round(performance.now() - from);
  };
  await isSold(KILL_AT);
  const leader = await etcd?.leader();
  if (etcd !== undefined && leader !== undefined) {
    progress(`etcd's leader, at ${leader}: kill -9`);
    await etcd.kill(leader);
  }
  progress(`${kill}: kill -9`);
  await act(kill, 'kill');
  await pause(AWAY_MS, signal);
  if (etcd !== undefined && leader !== undefined) await etcd.restart(leader);
  progress(`${kill}: starts again`);
  const killed = { site: kill, backAfterMs: await bringBack(kill, 'start') };
  progress(`${kill}: has caught up ${killed.backAfterMs} ms after its start`);
  await isSold(FREEZE_AT);
  progress(`${freeze}: frozen (SIGSTOP)`);
  await act(freeze, 'freeze');
  await pause(AWAY_MS, signal);
  progress(`${freeze}: goes on (SIGCONT)`);
  const frozen = { site: freeze, backAfterMs: await bringBack(freeze, 'continue') };
  progress(`${freeze}: has caught up ${frozen.backAfterMs} ms after it went on`);
  return { killed, frozen, ...(leader !== undefined && { killedEtcdLeader: leader }) };
}

/**
 * Waits until a site that was started again has all operations that were ordered meanwhile.
 *
 * @throws Error if it does not recover, or if `signal` aborts
 */
export async function waitUntilBack(
  cluster: Cluster,
  site: Site,
  signal: AbortSignal,
): Promise<void> {
  const isBack = await waitUntil(() => {
    signal.throwIfAborted();
    const { state, isCatchingUp, failure } = cluster.status.find(
      ({ name }) => name === site,
    ) as SiteStatus;
    if (failure !== undefined) throw new Error(`the node of ${site} did not come back: ${failure}`);
    return state === 'running' && !isCatchingUp;
  }, BACK_MAX_MS);
  if (!isBack) throw new Error(`${site} has not caught up ${BACK_MAX_MS} ms after its return`);
}
