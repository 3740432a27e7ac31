/** Runs a sale at three sites, while one site is killed and another one is frozen. */
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { createClient } from 'correctables';
import { peek } from 'correctables/operations';
import { WebSocket } from 'ws';
import type { EtcdCluster } from '../../engines/etcd/cluster.ts';
import { SITES, type Site } from '../../engines/wan.ts';
import { connectToSites } from '../shared/site-connection.ts';
import { ticketShop } from '../tickets/contract.ts';
import { isPassing } from '../tickets/page/failures.ts';
import { pause } from '../tickets/pause.ts';
import type { Shop } from '../tickets/purchase.ts';
import { runSale } from '../tickets/sale.ts';
import type { SaleEvent } from '../tickets/serve-customer.ts';
import { Cluster } from './cluster.ts';
import { injectFaults, type FaultReport } from './faults.ts';
import { figuresOf, type SaleFigures } from './figures.ts';
import type { Options } from './options.ts';
import { TICKET_PROBE } from './probe.ts';
import { openRedLog } from './red-log.ts';
import { startClusterServer } from './server.ts';
import { waysFrom } from './ways.ts';

const SERVICE = fileURLToPath(new URL('service.ts', import.meta.url));
const EVENT = 'concert';
const RETAILERS_PER_SITE = 2;
/** The pause of retailers. It is so long that the faults occur in the middle of the sale. */
const PACE_MS = 100;
/**
 * The timeout of a purchase. It is longer than a site is stopped, so that a purchase in flight
 * still ends.
 */
const PURCHASE_TIMEOUT_MS = 60_000;
const RECOVERY_PAUSE_MS = 250;

export interface Figures extends SaleFigures, FaultReport {
  /** Tickets left at the end, as each site reports them. */
  readonly left: Readonly<Record<string, number>>;
}

interface Retailer {
  readonly shop: Shop;
  /** Returns the site to which the retailer is connected. */
  readonly at: () => string;
}

type Setting = Pick<
  Options,
  'tickets' | 'threshold' | 'kill' | 'freeze' | 'wan' | 'engine' | 'keep' | 'history'
>;

/**
 * Runs it. `progress` gets lines for a person.
 *
 * @throws Error if `signal` aborts before the sale is over
 */
export async function sellThroughFaults(
  options: Setting,
  progress: (text: string) => void,
  signal: AbortSignal,
): Promise<Figures> {
  const { wan, keep, engine } = options;
  await using redLog = await openRedLog(engine, wan, progress);
  progress(`starting three sites, each a process of its own (delays: ${wan})`);
  const cluster = await Cluster.start({
    wan,
    service: SERVICE,
    probe: TICKET_PROBE,
    keep,
    redLog: redLog.at,
  });
  const { url, close } = await startClusterServer({ cluster, wan, port: 0 });
  const places = Array.from({ length: RETAILERS_PER_SITE }, () => SITES).flat();
  const connect = (place: Site, name: string): Retailer => {
    const onMove = (from: string, to: string): void =>
      progress(`${name}: moved from ${from} to ${to}`);
    const connection = connectToSites(ticketShop, {
      urls: waysFrom(url, place),
      WebSocket,
      onMove,
    });
    return {
      shop: createClient(connection.binding, { timeoutMs: PURCHASE_TIMEOUT_MS }),
      at: () => connection.at,
    };
  };
  const retailers = places.map((place, n) => connect(place, `retailer ${n + 1}`));
  const interrupted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () =>
      reject(new Error('interrupted before the sale was over')),
    );
  });
  const over = new AbortController();
  try {
    const running = { cluster, etcd: redLog.etcd, url, retailers, progress, signal: over.signal };
    return await Promise.race([sell(options, running), interrupted]);
  } finally {
    over.abort();
    await Promise.all(retailers.map(({ shop }) => shop.close()));
    await close();
    await cluster.close();
  }
}

interface Running {
  readonly cluster: Cluster;
  readonly etcd: EtcdCluster | undefined;
  /** The address of its server. */
  readonly url: string;
  readonly retailers: readonly Retailer[];
  readonly progress: (text: string) => void;
  readonly signal: AbortSignal;
}

async function sell(
  options: Setting,
  { cluster, etcd, url, retailers, progress, signal }: Running,
): Promise<Figures> {
  const { tickets, threshold } = options;
  const shops = retailers.map(({ shop }) => shop);
  await shops[0]?.invokeStrong(ticketShop.openEvent({ event: EVENT, tickets }));
  await Promise.all(shops.map((shop) => shop.invokeStrong(peek(EVENT))));
  progress(`${tickets} tickets are on sale at ${SITES.join(', ')}`);
  const history: string[] = [];
  const note = trackSites(retailers, (line) => history.push(JSON.stringify(line)));
  let answered = 0;
  let isSoldOut = false;
  const soldShare = (): number => (isSoldOut ? 1 : answered / tickets);
  const faults = injectFaults(cluster, { ...options, etcd, progress, signal, soldShare });
  const failing = faults.then(() => new Promise<never>(() => {}));
  const stock = Array.from({ length: tickets }, (_, n) => `${EVENT}#${n + 1}`);
  const sale = runSale(shops, {
    event: EVENT,
    policy: { threshold, paceMs: PACE_MS },
    stock,
    signal,
    onEvent: (line) => {
      note(line);
      if (line.kind === 'answered' && line.answer === 'yes') answered += 1;
    },
    recover: async (failure) => {
      if (!isPassing(failure)) throw failure;
      progress(`a purchase has failed: ${String(failure)}`);
      await pause(RECOVERY_PAUSE_MS);
    },
  });
  await Promise.race([sale, failing]);
  isSoldOut = true;
  progress('sold out');
  const report = await faults;
  if (options.history !== undefined) await writeFile(options.history, `${history.join('\n')}\n`);
  // Compute the figures from the lines of the history, which anyone can check.
  const figures = figuresOf(
    history.map((line): unknown => JSON.parse(line)),
    threshold,
  );
  const left = await Promise.all(
    SITES.map(async (site) => [site, await leftAt(url, site)] as const),
  );
  const isEmpty = left.every(([, count]) => count === 0);
  return { ...figures, ...report, left: Object.fromEntries(left), ok: figures.ok && isEmpty };
}

/** Notes at which site the retailer is with each step of a purchase. */
function trackSites(
  retailers: readonly Retailer[],
  note: (line: SaleEvent) => void,
): (line: SaleEvent) => void {
  const served = new Map<string, Retailer | undefined>();
  return (line) => {
    if (line.kind === 'stocked') return note(line);
    if (line.kind === 'begun') served.set(line.operation, retailers[line.retailer]);
    const site = served.get(line.operation)?.at();
    note({ ...line, ...(site !== undefined && { site }) } as SaleEvent);
  };
}

/** Returns the tickets left at one site, after all operations that were ordered before. */
async function leftAt(url: string, site: Site): Promise<number> {
  const { binding } = connectToSites(ticketShop, {
    urls: waysFrom(url, site).slice(0, 1),
    WebSocket,
  });
  const shop: Shop = createClient(binding, { timeoutMs: PURCHASE_TIMEOUT_MS });
  try {
    const { meta } = await shop.invokeStrong(peek(EVENT)).settle();
    return Number(meta?.['remaining']);
  } finally {
    await shop.close();
  }
}
