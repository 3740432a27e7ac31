/** Starts a server and a client process for one contender and talks to them. */
import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { ClientOrder, ClientReport, Target } from './messages.ts';
import { startRedis } from './redis.ts';

/** One run of one contender. */
export interface Measured {
  readonly opsPerSecond: number;
  readonly clientUsPerOp: number;
  /** Null for a server that does not tell. */
  readonly serverUsPerOp: number | null;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** One contender, alive: an idle one waits and uses no processor time. */
export interface Contestant {
  /** Warms up for a quarter of the time, then measures. */
  run(order: ClientOrder): Promise<Measured>;
  stop(): Promise<void>;
}

interface RunningServer {
  readonly url: string;
  cpuUs(): Promise<number | null>;
  stop(): Promise<void>;
}

/** Starts the two processes. */
export async function startContestant(target: Target): Promise<Contestant> {
  const server = target.kind === 'redis' ? await redisServer(target.durable) : await ownServer(target);
  const client = start('client.ts', [server.url]);
  await answer(client);
  return {
    async run(order) {
      const before = await server.cpuUs();
      const report = (await ask(client, order)) as ClientReport;
      const after = await server.cpuUs();
      // The server also worked during the warm-up, a quarter as long.
      const served = report.operations * 1.25;
      return {
        opsPerSecond: (report.operations / report.elapsedMs) * 1000,
        clientUsPerOp: report.cpuUs / report.operations,
        serverUsPerOp: before === null || after === null ? null : (after - before) / served,
        p50Ms: report.p50Ms,
        p99Ms: report.p99Ms,
      };
    },
    async stop() {
      await ended(client);
      await server.stop();
    },
  };
}

async function ownServer(target: Target): Promise<RunningServer> {
  const child = start('server.ts', [JSON.stringify(target)]);
  const { url } = (await answer(child)) as { url: string };
  return {
    url,
    cpuUs: async () => ((await ask(child, 'cpu')) as { cpuUs: number }).cpuUs,
    stop: () => ended(child),
  };
}

async function redisServer(durable: boolean): Promise<RunningServer> {
  const redis = await startRedis({ durable });
  return { url: redis.url, cpuUs: async () => null, stop: () => redis.stop() };
}

/** What `correctables serve` gives the thread that it serves in (docs/operating.md, "Memory"). */
const SERVER_FLAGS = '--max-semi-space-size=64';

/** Flags of Node can be given, for profiles and experiments. */
function start(script: string, args: readonly string[]): ChildProcess {
  const { BENCH_SERVER_FLAGS = SERVER_FLAGS, BENCH_CLIENT_FLAGS = '' } = process.env;
  const flags = script === 'server.ts' ? BENCH_SERVER_FLAGS : BENCH_CLIENT_FLAGS;
  const file = fileURLToPath(new URL(script, import.meta.url));
  return fork(file, args, { execArgv: [...flags.split(' ').filter(Boolean), '--import', 'tsx'] });
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const exited = new Promise((resolve) => child.once('exit', resolve));
  if (child.connected) child.disconnect();
  await exited;
}

async function ask(child: ChildProcess, order: object | string): Promise<unknown> {
  const answered = answer(child);
  child.send(order);
  return answered;
}

function answer(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null): void => reject(new Error(`a benchmark process ended with ${code}`));
    child.once('exit', onExit);
    child.once('message', (message) => {
      child.off('exit', onExit);
      resolve(message);
    });
  });
}
