/** Which plots a result has, drawn from its file alone. */
import type { Report } from '../harness/results.ts';
import { drawCausal } from './causal.ts';
import { drawPage } from './page.ts';
import { drawCluster, drawEtcdFailover, drawFailover } from './processes.ts';
import { drawCore, drawCrowd, drawOverhead, drawServer, drawWire } from './ratios.ts';
import { drawRights, drawTickets } from './sales.ts';
import { drawLatency, drawQuoddy, drawShop, drawThroughput } from './sites.ts';
import { drawSpeculation } from './speculation.ts';
import { drawBytes, drawDivergence, drawEnqueues, drawQueueBytes, drawReadLoad, drawReads } from './stores.ts';
import type { Drawn } from './svg.ts';
import { drawTransactions } from './transactions.ts';

type Draw = (report: Report, name: string) => Drawn;

/** By the name of the result. */
const DRAW: Readonly<Record<string, Draw>> = {
  tickets: drawTickets,
  'tickets-zookeeper': drawTickets,
  rights: drawRights,
  ads: drawSpeculation,
  'ads-cassandra': drawSpeculation,
  twissandra: drawSpeculation,
  'twissandra-cassandra': drawSpeculation,
  'cassandra-latency': drawReads,
  'cassandra-divergence': drawDivergence,
  'cassandra-bandwidth': drawBytes,
  'cassandra-load': drawReadLoad,
  'zookeeper-latency': drawEnqueues,
  'zookeeper-bandwidth': drawQueueBytes,
  'redblue-latency': drawLatency,
  'redblue-throughput': drawThroughput,
  'redblue-overhead': drawOverhead,
  transactions: drawTransactions,
  causal: drawCausal,
  tpcw: drawShop,
  rubis: drawShop,
  quoddy: drawQuoddy,
  core: drawCore,
  wire: drawWire,
  server: drawServer,
  crowd: drawCrowd,
  react: drawPage,
  cluster: drawCluster,
  failover: drawFailover,
  'failover-etcd': drawEtcdFailover,
};

/** Returns the plots of the result of that name: none for a result that no plot shows. */
export function drawResult(name: string, report: Report): Drawn {
  return DRAW[name]?.(report, name) ?? {};
}
