/** Measures the service times on this machine. */
import { createServer, connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { Packr } from 'msgpackr';
import { median } from '../harness/statistics.ts';
import { runClosedLoop, SYSTEMS, type SystemName } from './systems/closed-loop.ts';
import { fitLine } from '../harness/fit-line.ts';
import type { Execution } from './systems/queueing-network.ts';
import { NOMINAL_TIMES, type Line, type ServiceTimes } from './systems/service-times.ts';
import { DEFAULT_WORKLOAD, type RankChooser } from './systems/workload.ts';

/**
 * The share of the slowest calls, which are dropped. The machine or the garbage collector has
 * interrupted them.
 */
const SLOWEST_SHARE = 0.01;
const CONNECTIONS = 16;
const MESSAGE_BYTES = 64;
const LONG = 1_000;

export interface CalibrationOptions {
  readonly chooseRank: RankChooser;
  readonly quick: boolean;
}

export async function measureServiceTimes(options: CalibrationOptions): Promise<ServiceTimes> {
  const rounds = options.quick ? 1 : 3;
  const socketUs: number[] = [];
  for (let round = 0; round < rounds; round += 1)
    socketUs.push(await measureSocketUs(options.quick ? 2_000 : 20_000));
  return {
    socketUs: median(socketUs),
    codec: measureCodec(),
    execution: measureExecution(options),
  };
}

/** Returns the processor time of one end of a small message on a socket. */
async function measureSocketUs(trips: number): Promise<number> {
  const server = createServer((socket) => socket.on('data', (data) => socket.write(data))).listen(
    0,
    '127.0.0.1',
  );
  await once(server, 'listening');
  const { port } = server.address() as { readonly port: number };
  const clients = Array.from({ length: CONNECTIONS }, () =>
    connect(port, '127.0.0.1').setNoDelay(true),
  );
  await Promise.all(clients.map((client) => once(client, 'connect')));
  const run = (count: number): Promise<unknown> =>
    Promise.all(clients.map((client) => echo(client, count / CONNECTIONS)));
  await run(trips / 4);
  const before = process.cpuUsage();
  await run(trips);
  const { user, system } = process.cpuUsage(before);
  for (const client of clients) client.destroy();
  server.close();
  // A trip is two messages, each with two ends.
  return (user + system) / trips / 4;
}

function echo(client: Socket, count: number): Promise<void> {
  const message = Buffer.alloc(MESSAGE_BYTES);
  return new Promise((resolve) => {
    let open = Math.ceil(count);
    const onData = (): void => {
      open -= 1;
      if (open > 0) return void client.write(message);
      client.off('data', onData);
      resolve();
    };
    client.on('data', onData);
    client.write(message);
  });
}

/**
 * Measures the codec: half of the time to encode and decode a message, by the content of the
 * message.
 */
function measureCodec(): ServiceTimes['codec'] {
  const packr = new Packr({ useRecords: true });
  const small = { clock: 1, key: '{00}0000' };
  const numbers = { ...small, readers: Array.from({ length: LONG }, (_, at) => 2 ** 40 + at) };
  const letters = { ...small, value: 'v'.repeat(LONG) };
  const time = (message: object, count: number): number => {
    const runs = Array.from({ length: 9 }, () => {
      const before = performance.now();
      for (let run = 0; run < count; run += 1) packr.unpack(packr.pack(message));
      return ((performance.now() - before) * 1_000) / count / 2;
    });
    return median(runs);
  };
  const perMessageUs = time(small, 5_000);
  const perNumberUs = Math.max(0, time(numbers, 300) - perMessageUs) / LONG;
  const perLetterUs = Math.max(0, time(letters, 2_000) - perMessageUs) / LONG;
  return { perMessageUs, perNumberUs, perLetterUs };
}

/** Runs all systems, and fits the execution times of their partitions for each kind of message. */
function measureExecution({ chooseRank, quick }: CalibrationOptions): ServiceTimes['execution'] {
  const byKind = new Map<string, Execution[]>();
  const collect = (system: SystemName, siteCount: number, clientsPerSite: number): void => {
    runClosedLoop({
      system,
      siteCount,
      clientsPerSite,
      chooseRank,
      workload: DEFAULT_WORKLOAD,
      times: NOMINAL_TIMES,
      seed: 1,
      warmUpMs: quick ? 10 : 60,
      durationMs: quick ? 10 : siteCount === 1 ? 40 : 100,
      onExecution: (execution) => {
        const known = byKind.get(execution.kind);
        if (known === undefined) byKind.set(execution.kind, [execution]);
        else known.push(execution);
      },
    });
  };
  for (const system of SYSTEMS) {
    collect(system, 1, quick ? 8 : 64);
    if (system !== 'contrarian-one-round') collect(system, 3, 8);
  }
  return Object.fromEntries(
    [...byKind].map(([kind, executions]) => [kind, fitExecution(executions)]),
  );
}

export function dropSlowest<T extends { readonly us: number }>(
  executions: readonly T[],
): readonly T[] {
  const sorted = executions.toSorted((a, b) => a.us - b.us);
  return sorted.slice(0, Math.ceil(sorted.length * (1 - SLOWEST_SHARE)));
}

function fitExecution(executions: readonly Execution[]): Line {
  const points = dropSlowest(executions).map(({ ids, us }) => ({ x: ids, y: us }));
  const { slope, intercept } = fitLine(points);
  const baseUs = Math.max(0, intercept);
  return { baseUs, perIdUs: Math.max(0, slope) };
}
