/** Which plots a result has, drawn from its file alone. */
import type { Report } from '../harness/results.ts';
import { drawPage } from './page.ts';
import { drawCore, drawCrowd, drawOverhead, drawServer, drawWire } from './ratios.ts';
import { drawRights, drawTickets } from './sales.ts';
import { drawLatency, drawQuoddy, drawShop, drawThroughput } from './sites.ts';
import { drawSpeculation } from './speculation.ts';
import { drawBytes, drawDivergence, drawEnqueues, drawQueueBytes, drawReadLoad, drawReads } from './stores.ts';
import type { Figure } from './svg.ts';

type Draw = (report: Report, name: string) => Readonly<Record<string, Figure>>;

const tickets: Draw = (report, name) => drawTickets(name, report);
const ads: Draw = (report, name) => drawSpeculation(name, 'ads', report);
const timelines: Draw = (report, name) => drawSpeculation(name, 'timelines', report);

/** By the name of the result. */
const DRAW: Readonly<Record<string, Draw>> = {
  tickets,
  'tickets-zookeeper': tickets,
  rights: drawRights,
  ads,
  'ads-cassandra': ads,
  twissandra: timelines,
  'twissandra-cassandra': timelines,
  'cassandra-latency': (report, name) => drawReads(name, report),
  'cassandra-divergence': (report, name) => drawDivergence(name, report),
  'cassandra-bandwidth': (report, name) => drawBytes(name, report),
  'cassandra-load': (report, name) => drawReadLoad(name, report),
  'zookeeper-latency': drawEnqueues,
  'zookeeper-bandwidth': drawQueueBytes,
  'redblue-latency': drawLatency,
  'redblue-throughput': drawThroughput,
  'redblue-overhead': drawOverhead,
  tpcw: (report) => drawShop('tpcw', report),
  rubis: (report) => drawShop('rubis', report),
  quoddy: drawQuoddy,
  core: drawCore,
  wire: drawWire,
  server: drawServer,
  crowd: drawCrowd,
  react: drawPage,
};

/** Returns the plots of the result of that name, by file name without ending. */
export function drawResult(name: string, report: Report): Readonly<Record<string, Figure>> {
  return DRAW[name]?.(report, name) ?? {};
}
