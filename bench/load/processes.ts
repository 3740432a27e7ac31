/** Starts a server and client processes for one contender and talks to them. */
import { answer, ask, ended, startChild } from '../harness/children.ts';
import { WRITTEN, type ClientOrder, type ClientReport, type Target } from './messages.ts';
import { processorTimeUs } from './processor-time.ts';
import { startRedis } from '../../engines/redis/single-server.ts';
import { verifyWrites, type WrittenReport } from './verify-writes.ts';

/** One run of one contender, of all its clients together. */
export interface Measured {
  readonly opsPerSecond: number;
  readonly clientUsPerOp: number;
  /** Null where the system does not tell. */
  readonly serverUsPerOp: number | null;
  /** Processors that the server was busy with: 1 where one thread does all, and can do no more. */
  readonly serverCores: number | null;
  /** Of the client that had to wait longest. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  /** Which start of the processes it was, from 1. */
  readonly start?: number;
}

/** What the clients of a contender are to do. */
export interface Order extends ClientOrder {
  /** How many of its client processes take part, each with the whole window: 1 unless given. */
  readonly clients?: number;
}

/** One contender, alive: an idle one waits and uses no processor time. */
export interface Contestant {
  /**
   * Warms up for a quarter of the time, then measures, then looks whether the store holds what was written.
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

/** A client process, as the contestant sees it. */
export interface LoadClient {
  ask<T>(order: ClientOrder | typeof WRITTEN): Promise<T>;
  ended(): Promise<void>;
}

/** Starts the server and its client processes. */
export async function startContestant(target: Target, maxClients = 1): Promise<Contestant> {
  const server = target.kind === 'redis' ? await startRedis({ durable: target.durable }) : await startServer(target);
  const clientFlags = removeLiterals(process.env['BENCH_CLIENT_FLAGS'] ?? '');
  const clients: LoadClient[] = [];
  for (let n = 0; n < maxClients; n += 1) {
    const client = startChild(new URL('client.ts', import.meta.url), [server.url], clientFlags);
    clients.push({ ask: (order) => ask(client, order), ended: () => ended(client) });
    await answer(client);
  }
  return contestantOf(server, clients);
}

/** The server and its clients, ready. */
export function contestantOf(server: Omit<RunningServer, 'url'>, clients: readonly LoadClient[]): Contestant {
  return {
    async run({ clients: count = 1, ...order }) {
      const requested = clients.slice(0, count);
      const all = (item: ClientOrder): Promise<ClientReport[]> =>
        Promise.all(requested.map((client) => client.ask<ClientReport>(item)));
      await all({ ...order, durationMs: order.durationMs / 4 });
      const [from, before] = [performance.now(), processorTimeUs(server.pid)];
      const reports = await all(order);
      const [elapsedMs, after] = [performance.now() - from, processorTimeUs(server.pid)];
      const written = await Promise.all(clients.map((client) => client.ask<WrittenReport>(WRITTEN)));
      verifyWrites(written.slice(0, count), written.slice(count));
      return measuredOf(reports, { elapsedMs, serverUs: before === null || after === null ? null : after - before });
    },
    async stop() {
      for (const client of clients) await client.ended();
      await server.stop();
    },
  };
}

/** What the clients of one contender reported, together. */
export function measuredOf(
  reports: readonly ClientReport[],
  { elapsedMs, serverUs }: { readonly elapsedMs: number; readonly serverUs: number | null },
): Measured {
  const sum = (of: (report: ClientReport) => number): number => reports.reduce((all, report) => all + of(report), 0);
  const slowest = (of: 'p50Ms' | 'p99Ms' | 'p999Ms'): number => Math.max(...reports.map((report) => report[of]));
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

/** Starts one of our own servers. @param script that of another checkout; the one beside this file by default */
export async function startServer(
  target: Target,
  script: URL = new URL('server.ts', import.meta.url),
): Promise<RunningServer> {
  const child = startChild(script, [JSON.stringify(target)], serverFlags());
  const { url } = await answer<{ url: string }>(child);
  return { url, pid: child.pid as number, stop: () => ended(child) };
}

/** What `correctables serve` gives the thread that it serves in (docs/operate/run-a-server.md, "Memory"). */
export const SERVER_FLAGS = '--max-semi-space-size=64';

/** What our servers run with: others can be given, for profiles and experiments. */
export function serverFlags(): string[] {
  return removeLiterals(process.env['BENCH_SERVER_FLAGS'] ?? SERVER_FLAGS);
}

function removeLiterals(flags: string): string[] {
  return flags.split(' ').filter(Boolean);
}
