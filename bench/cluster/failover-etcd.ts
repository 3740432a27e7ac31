/**
 * Measures how long clients of all sites cannot execute red writes after the leader of etcd is
 * killed, if etcd has the red log. Also checks that no acknowledged write is lost or applied twice.
 */
import { createClient, type Client } from 'correctables';
import { redblue, type RedBlueLevels } from 'correctables/bindings/redblue';
import { WebSocket } from 'ws';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench, Outcome, Settings } from '../harness/bench.ts';
import { estimate, limitTime, reported, type GoalResult } from '../harness/goals.ts';
import { serverFlags } from '../load/processes.ts';
import { load } from '../load/service.ts';
import { SITES, startClusterOnEtcd, type ClusterOnEtcd, type SiteName } from './nodes.ts';
import { Writer, longestWaitSeconds } from './writer.ts';

const FULL = { kills: 20 };
const QUICK = { kills: 2 };
/** How long clients write before a kill, and after it. */
const WINDOW_MS = 4000;
/** More than all withdrawals of a client. */
const FUNDS = 1_000_000;
/** The election timeout of the servers is 1 s. */
const AIM_SECONDS = 3;

/** The result of one kill. */
export interface EtcdKillRow {
  /** The site of the server that was killed. */
  readonly leader: SiteName;
  /** The longest time that a client waited for an acknowledged red write. */
  readonly awaySeconds: number;
  /** The same in a period of equal length before the kill. */
  readonly undisturbedSeconds: number;
  readonly writes: number;
  readonly lost: number;
  readonly repeated: number;
  readonly unknown: number;
}

export const failoverEtcd: Bench = {
  name: 'failover-etcd',
  about:
    'how long red writes are away after the leader of etcd is killed, and whether one is lost or applied twice',
  run,
};

async function run({ quick, progress }: Settings): Promise<Outcome> {
  const { kills } = quick ? QUICK : FULL;
  const cluster = await startClusterOnEtcd(progress);
  try {
    const rows: EtcdKillRow[] = [];
    for (let kill = 0; kill < kills; kill += 1) {
      const row = await measureKill(cluster, kill);
      const { leader, awaySeconds, undisturbedSeconds } = row;
      progress(
        `kill ${kill + 1} of ${kills}, ${leader}: away ${awaySeconds} s (before: ${undisturbedSeconds} s)`,
      );
      rows.push(row);
    }
    return {
      rounds: kills,
      rows: rows.map((row) => ({ ...row })),
      bars: computeGoalResults(rows),
      samples: rows,
      flags: serverFlags(),
    };
  } finally {
    await cluster.stop();
  }
}

/** Compares the kills with the goals. */
export function computeGoalResults(rows: readonly EtcdKillRow[]): GoalResult[] {
  const of = (figure: Exclude<keyof EtcdKillRow, 'leader'>): number[] =>
    rows.map((row) => row[figure]);
  const sum = (figure: 'lost' | 'repeated' | 'unknown'): number =>
    of(figure).reduce((all, value) => all + value, 0);
  return [
    limitTime('red-away-seconds', estimate(of('awaySeconds')), { floor: AIM_SECONDS }, 's'),
    limitTime('red-away-seconds-max', Math.max(...of('awaySeconds')), { floor: AIM_SECONDS }, 's'),
    reported('longest-wait-undisturbed-seconds', estimate(of('undisturbedSeconds')), 's'),
    limitTime('lost', sum('lost'), { floor: 0 }, 'writes'),
    limitTime('repeated', sum('repeated'), { floor: 0 }, 'writes'),
    reported('unknown', sum('unknown'), 'writes'),
  ];
}

/** Measures one kill, while a client at each site executes one red write after the other. */
async function measureKill({ nodes, etcd }: ClusterOnEtcd, kill: number): Promise<EtcdKillRow> {
  const clients = SITES.map((site) => new Withdrawer(`etcd:${kill}:${site}`, nodes[site].siteUrl));
  await Promise.all(clients.map((client) => client.begin()));
  const writers = clients.map(({ writer }) => writer);
  const leader = (await etcd.leader()) as SiteName;
  const fromMs = performance.now();
  const ends = writers.map((writer) => writer.run());
  await sleep(WINDOW_MS);
  const killedAtMs = performance.now();
  await etcd.kill(leader);
  await sleep(WINDOW_MS);
  for (const writer of writers) writer.stop();
  await Promise.all(ends);
  const endedAtMs = performance.now();
  await etcd.restart(leader);
  const totals = { writes: 0, lost: 0, repeated: 0, unknown: 0 };
  for (const client of clients) {
    const outcome = await client.end();
    for (const name of Object.keys(totals) as (keyof typeof totals)[])
      totals[name] += outcome[name];
  }
  return {
    leader,
    awaySeconds: longestWaitSeconds(writers, killedAtMs, endedAtMs),
    undisturbedSeconds: longestWaitSeconds(writers, fromMs, killedAtMs),
    ...totals,
  };
}

/** A client that withdraws from its own account, one cent after the other. */
class Withdrawer {
  readonly writer: Writer;
  readonly #account: string;
  readonly #client: Client<RedBlueLevels>;

  constructor(account: string, url: string) {
    this.#account = account;
    this.#client = createClient(redblue(load, { url, WebSocket }), { timeoutMs: 30_000 });
    this.writer = new Writer(() => this.#withdraw());
  }

  /** The first red write proves that all before it has arrived everywhere. */
  async begin(): Promise<void> {
    await this.#client.invoke(load.deposit({ account: this.#account, cents: FUNDS + 1 }));
    await this.#withdraw();
  }

  #withdraw(): PromiseLike<unknown> {
    return this.#client.invokeStrong(load.withdraw({ account: this.#account, cents: 1 }));
  }

  /** Reads the balance of the account in the red order, and closes the client. */
  async end(): Promise<Record<'writes' | 'lost' | 'repeated' | 'unknown', number>> {
    const balance = await this.#client.invokeStrong(load.balance({ account: this.#account }));
    await this.#client.close();
    const { acknowledged: writes, unknown } = this.writer;
    const withdrawn = FUNDS - balance;
    const [lost, repeated] = [
      Math.max(0, writes - withdrawn),
      Math.max(0, withdrawn - writes - unknown),
    ];
    return { writes, lost, repeated, unknown };
  }
}
