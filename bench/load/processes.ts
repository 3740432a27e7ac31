/** Starts a server and client processes for one contender and talks to them. */
import { findScript } from '../harness/checkouts.ts';
import { answer, ask, ended, startChild } from '../harness/children.ts';
import { WRITTEN, type ClientOrder, type ClientReport, type Target } from './messages.ts';
import { processorTimeUs } from './processor-time.ts';
import { startRedis } from '../../engines/redis/single-server.ts';
import { verifyWrites, type WrittenReport } from './verify-writes.ts';

/** The measurements of one run of one contender, for all its clients together. */
export interface Measured {
  readonly opsPerSecond: number;
  readonly clientUsPerOp: number;
  /** Processor time of the server for each operation. Null if the system does not report it. */
  readonly serverUsPerOp: number | null;
  /**
   * The number of processors that the server used. A single-threaded server at its limit uses 1.
   */
  readonly serverCores: number | null;
  /** The latencies of the client with the highest ones. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  /** The number of the start of the processes, from 1. */
  readonly start?: number;
}

/** The order for the clients of a contender. */
export interface Order extends ClientOrder {
  /** How many client processes run, each with the whole window. Default: 1 */
  readonly clients?: number;
}

/** The running processes of one contender. While idle, they use no processor time. */
export interface Contestant {
  /**
   * Warms up for a quarter of the time, then measures, then checks that the store contains what was
   * written.
   *
   * @throws Error where it does not
   */
  run(order: Order): Promise<Measured>;
  stop(): Promise<void>;
}

interface RunningServer {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** A client process of a contender. */
export interface LoadClient {
  ask<T>(order: ClientOrder | typeof WRITTEN): Promise<T>;
  ended(): Promise<void>;
}

/** Starts the server and its client processes. */
export async function startContestant(target: Target, maxClients = 1): Promise<Contestant> {
  const server =
    target.kind === 'redis'
      ? await startRedis({ durable: target.durable })
      : await startServer(target);
  const clientFlags = removeLiterals(process.env['BENCH_CLIENT_FLAGS'] ?? '');
  const clients: LoadClient[] = [];
  for (let n = 0; n < maxClients; n += 1) {
    const client = startChild(
      findScript('bench/load/client.ts', checkoutOf(target)),
      [server.url],
      clientFlags,
    );
    clients.push({ ask: (order) => ask(client, order), ended: () => ended(client) });
    await answer(client);
  }
  return contestantOf(server, clients);
}

/** Creates a contender from its server and its clients, which are ready. */
export function contestantOf(
  server: Omit<RunningServer, 'url'>,
  clients: readonly LoadClient[],
): Contestant {
  return {
    async run({ clients: count = 1, ...order }) {
      const requested = clients.slice(0, count);
      const all = (item: ClientOrder): Promise<ClientReport[]> =>
        Promise.all(requested.map((client) => client.ask<ClientReport>(item)));
      await all({ ...order, durationMs: order.durationMs / 4 });
      const [from, before] = [performance.now(), processorTimeUs(server.pid)];
      const reports = await all(order);
      const [elapsedMs, after] = [performance.now() - from, processorTimeUs(server.pid)];
      const written = await Promise.all(
        clients.map((client) => client.ask<WrittenReport>(WRITTEN)),
      );
      verifyWrites(written.slice(0, count), written.slice(count));
      return measuredOf(reports, {
        elapsedMs,
        serverUs: before === null || after === null ? null : after - before,
      });
    },
    async stop() {
      for (const client of clients) await client.ended();
      await server.stop();
    },
  };
}

/** Merges the reports of the clients of one contender. */
export function measuredOf(
  reports: readonly ClientReport[],
  { elapsedMs, serverUs }: { readonly elapsedMs: number; readonly serverUs: number | null },
): Measured {
  const sum = (of: (report: ClientReport) => number): number =>
    reports.reduce((all, report) => all + of(report), 0);
  const slowest = (of: 'p50Ms' | 'p99Ms' | 'p999Ms'): number =>
    Math.max(...reports.map((report) => report[of]));
  const operations = sum((report) => report.operations);
  return {
    opsPerSecond: sum((report) => (report.operations / report.elapsedMs) * 1000),
    clientUsPerOp: sum((report) => report.cpuUs) / operations,
    serverUsPerOp: serverUs === null ? null : serverUs / operations,
    serverCores: serverUs === null ? null : serverUs / (elapsedMs * 1000),
    p50Ms: slowest('p50Ms'),
    p99Ms: slowest('p99Ms'),
    p999Ms: slowest('p999Ms'),
  };
}

/** Starts a server of this benchmark. */
export async function startServer(target: Target): Promise<RunningServer> {
  const script = findScript('bench/load/server.ts', checkoutOf(target));
  const child = startChild(script, [JSON.stringify(target)], serverFlags());
  const { url } = await answer<{ url: string }>(child);
  return { url, pid: child.pid as number, stop: () => ended(child) };
}

/** Returns the other checkout whose processes are measured. */
export function checkoutOf(target: Target): string | undefined {
  return target.kind === 'redblue' ? target.checkout : undefined;
}

/**
 * The memory flags that `correctables serve` sets for its worker thread
 * (docs/operate/run-a-server.md, "Memory").
 */
export const SERVER_FLAGS = '--max-semi-space-size=64';

/**
 * Returns the flags of the servers. An environment variable can replace them, for profiles and
 * experiments.
 */
export function serverFlags(): string[] {
  return removeLiterals(process.env['BENCH_SERVER_FLAGS'] ?? SERVER_FLAGS);
}

function removeLiterals(flags: string): string[] {
  return flags.split(' ').filter(Boolean);
}
