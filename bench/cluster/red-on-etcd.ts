/**
 * Measures red operations of sites whose red log is on etcd: the throughput, and the latency at a
 * tenth of it. Compares them with the time that etcd itself takes to store and deliver the same
 * bytes, plus the round trip of a client to its site.
 */
import type { EtcdCluster } from '../../engines/etcd/cluster.ts';
import type { Settings } from '../harness/bench.ts';
import { answer, ask, ended, startChild } from '../harness/children.ts';
import { estimate, limitTime, reported, type GoalResult } from '../harness/goals.ts';
import { rounded } from '../harness/statistics.ts';
import type { ClientOrder, ClientReport } from '../load/messages.ts';
import type { EtcdOrder } from './etcd-client.ts';
import { SITES, startClusterOnEtcd } from './nodes.ts';

const FULL = { rounds: 14, durationMs: 4000 };
const QUICK = { rounds: 2, durationMs: 500 };
const WINDOW = 64;
const LOAD_SHARE = 0.1;
const AIM = 1.3;

/** The measurements of one round. */
export interface RedOnEtcdRow {
  readonly redPerSecond: number;
  /** Median latencies at a tenth of the throughput. */
  readonly redMs: number;
  readonly etcdMs: number;
  readonly tripMs: number;
  /** The same latencies with one operation after the other. */
  readonly alone: Latencies;
}

type Latencies = Pick<RedOnEtcdRow, 'redMs' | 'etcdMs' | 'tripMs'>;

/** Measures one site of three. */
export async function measureRedOnEtcd({
  quick,
  progress,
}: Pick<Settings, 'quick' | 'progress'>): Promise<RedOnEtcdRow[]> {
  const { rounds, durationMs } = quick ? QUICK : FULL;
  const { nodes, etcd, stop } = await startClusterOnEtcd(progress);
  try {
    const client = startChild(new URL('../load/client.ts', import.meta.url), [
      nodes[SITES[0]].siteUrl,
    ]);
    const bare = startChild(new URL('etcd-client.ts', import.meta.url), [
      new URL(etcd.endpoint(SITES[0])).host,
    ]);
    await Promise.all([answer(client), answer(bare)]);
    const atSite = (
      order: Omit<ClientOrder, 'window' | 'durationMs'> & { readonly window?: number },
    ): Promise<ClientReport> =>
      ask<ClientReport>(client, { window: WINDOW, durationMs, ...order } satisfies ClientOrder);
    await atSite({ workload: 'withdraw' });
    const rows: RedOnEtcdRow[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      const { operations, elapsedMs } = await atSite({ workload: 'withdraw' });
      const redPerSecond = (operations * 1000) / elapsedMs;
      const bytes = await readGroupBytes(etcd);
      const measure = async (
        load: Pick<ClientOrder, 'window' | 'perSecond'>,
      ): Promise<Latencies> => {
        const red = await atSite({ workload: 'withdraw', ...load });
        const put = await ask<ClientReport>(bare, {
          bytes,
          durationMs,
          ...load,
        } satisfies EtcdOrder);
        const trip = await atSite({ workload: 'read', ...load });
        return { redMs: red.p50Ms, etcdMs: put.p50Ms, tripMs: trip.p50Ms };
      };
      const atATenth = await measure({ window: WINDOW, perSecond: redPerSecond * LOAD_SHARE });
      const row = { redPerSecond, ...atATenth, alone: await measure({ window: 1 }) };
      progress(
        `red on etcd, round ${round} of ${rounds}: ${rounded(ratioOf(row))} times what etcd and the trip take`,
      );
      rows.push(row);
    }
    await Promise.all([ended(client), ended(bare)]);
    return rows;
  } finally {
    await stop();
  }
}

/** Compares the rounds with the goals. */
export function computeRedOnEtcdGoals(rows: readonly RedOnEtcdRow[]): GoalResult[] {
  return [
    limitTime('red-latency-vs-etcd', estimate(rows.map(ratioOf)), { aim: AIM }),
    reported('red-latency-vs-etcd-alone', estimate(rows.map((row) => ratioOf(row.alone)))),
    reported(
      'red-per-second-on-etcd',
      estimate(rows.map((row) => row.redPerSecond)),
      'operations a second',
    ),
  ];
}

function ratioOf({ redMs, etcdMs, tripMs }: Latencies): number {
  return redMs / (etcdMs + tripMs);
}

/** Returns the size of the last group in the log. */
async function readGroupBytes(etcd: EtcdCluster): Promise<number> {
  const toBase64 = (text: string): string => Buffer.from(text).toString('base64');
  const range = {
    key: toBase64('/'),
    range_end: toBase64('0'),
    sort_order: 'DESCEND',
    sort_target: 'MOD',
    limit: 100,
  };
  const { kvs = [] } = await etcd.request<{
    readonly kvs?: readonly { readonly key: string; readonly value?: string }[];
  }>(SITES[0], 'kv/range', range);
  const group = kvs.find(({ key }) => Buffer.from(key, 'base64').toString().includes('/red/'));
  if (group?.value === undefined) throw new Error('etcd has no group of the red log');
  return Buffer.from(group.value, 'base64').length;
}
