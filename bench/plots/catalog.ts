/** Lists the plots of each result. They are drawn only from its results file. */
import { readResult, type Report } from '../harness/results.ts';
import { drawCausal } from './causal.ts';
import { drawPage } from './page.ts';
import { drawPartitions } from './partitions.ts';
import { drawCluster, drawEtcdFailover, drawFailover } from './processes.ts';
import { drawCore, drawCrowd, drawOverhead, drawServer, drawWire } from './ratios.ts';
import { drawRows } from './rows.ts';
import { drawRights, drawTickets } from './sales.ts';
import { drawDelay, drawMetadata, drawMix, drawReorder, drawSocial } from './sdur.ts';
import { drawLatency, drawQuoddy, drawShops, drawThroughput } from './sites.ts';
import { drawPostgresReads, drawPostgresSessions } from './postgres.ts';
import { drawSpeculation } from './speculation.ts';
import {
  drawBytes,
  drawDivergence,
  drawEnqueues,
  drawQueueBytes,
  drawReadLoad,
  drawReads,
} from './stores.ts';
import type { Drawn } from './svg.ts';
import { drawTransactions } from './transactions.ts';

type Draw = (report: Report, name: string) => Drawn;

/** The function that draws the plots of each result, by its name. */
const DRAW: Readonly<Record<string, Draw>> = {
  tickets: drawTickets,
  'tickets-zookeeper': drawTickets,
  'tickets-postgres': drawTickets,
  rights: drawRights,
  ads: drawSpeculation,
  'ads-cassandra': drawSpeculation,
  'ads-postgres': drawSpeculation,
  twissandra: drawSpeculation,
  'twissandra-cassandra': drawSpeculation,
  'cassandra-latency': drawReads,
  'cassandra-divergence': drawDivergence,
  'cassandra-bandwidth': drawBytes,
  'cassandra-load': drawReadLoad,
  'zookeeper-latency': drawEnqueues,
  'zookeeper-bandwidth': drawQueueBytes,
  'postgres-latency': drawPostgresReads,
  'postgres-sessions': drawPostgresSessions,
  'redblue-latency': drawLatency,
  'redblue-throughput': drawThroughput,
  'redblue-overhead': drawOverhead,
  'red-near-users': drawPartitions,
  'sdur-mix': drawMix,
  'sdur-reorder': drawReorder,
  'sdur-delay': drawDelay,
  'sdur-social': drawSocial,
  'partition-metadata': drawMetadata,
  transactions: drawTransactions,
  causal: drawCausal,
  // Both shops share one plot.
  tpcw: (report) => drawShops(report, readResult('rubis')),
  quoddy: drawQuoddy,
  core: drawCore,
  wire: drawWire,
  server: drawServer,
  crowd: drawCrowd,
  rows: drawRows,
  react: drawPage,
  cluster: drawCluster,
  failover: drawFailover,
  'failover-etcd': drawEtcdFailover,
};

/** Returns the plots of the result of that name: or none if no plot shows this result. */
export function drawResult(name: string, report: Report): Drawn {
  return DRAW[name]?.(report, name) ?? {};
}
