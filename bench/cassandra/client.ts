/** A client process of the benchmarks on Cassandra: runs one order after the other. */
import { seeded } from '../../demo/shared/random.ts';
import { cpuUsedUs } from '../load/messages.ts';
import { fieldValue, keyOf } from '../ycsb/rows.ts';
import { parseRequests, type Request } from '../ycsb/workload.ts';
import type { HistoryEvent } from './history.ts';
import type {
  ClientOrder,
  ClientSetup,
  Latency,
  LoadOrder,
  LoadReport,
  System,
  TurnsOrder,
  TurnsReport,
} from './messages.ts';
import { openRelay, type Relay } from './relay.ts';
import { objectKeyOf, OBJECTS, openSystem, type OpenSystem } from './systems.ts';
import { tagsOf } from './ycsb-table.ts';

const tell = (message: unknown): void => void process.send?.(message);

const setup = JSON.parse(process.argv[2] as string) as ClientSetup;
const relay: Relay | undefined = setup.countBytes ? await openRelay(setup.contactPoint) : undefined;
const systems = new Map<System, OpenSystem>();
let runs = 0;
tell({ ready: true });
process.on('message', (order: ClientOrder) => {
  const done = order.kind === 'load' ? load(order) : takeTurns(order);
  done.then(tell, (error: unknown) =>
    tell({ error: error instanceof Error ? error.message : String(error) }),
  );
});
process.on('disconnect', () => process.exit());

function opened(system: System): OpenSystem {
  const found =
    systems.get(system) ??
    openSystem(system, { ...setup, contactPoint: relay?.address ?? setup.contactPoint });
  systems.set(system, found);
  return found;
}

/** Milliseconds of a clock that all processes of this machine share. */
function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

interface Tally {
  operations: number;
  readonly preliminaryMs: number[];
  readonly finalMs: number[];
  readonly history: HistoryEvent[];
}

async function load(order: LoadOrder): Promise<LoadReport> {
  const system = opened(order.system);
  runs += 1;
  const before = await drive(system, order, order.warmUpMs);
  const [cpuFrom, bytesFrom, from] = [cpuUsedUs(), relay?.bytes, performance.now()];
  const stats = await drive(system, { ...order, seed: order.seed + 1_000_003 }, order.durationMs);
  return {
    operations: stats.operations,
    elapsedMs: performance.now() - from,
    reads: stats.finalMs.length,
    preliminaries: stats.preliminaryMs.length,
    preliminary: latencyOf(stats.preliminaryMs),
    final: latencyOf(stats.finalMs),
    bytes: relay === undefined || bytesFrom === undefined ? null : relay.bytes - bytesFrom,
    cpuUs: cpuUsedUs() - cpuFrom,
    // Keep the writes of the warm-up in the history, because their values are read later.
    history: [...before.history.filter(({ kind }) => kind === 'write'), ...stats.history],
  };
}

/**
 * Runs concurrent loops, each of which executes one request after the other, until the time is
 * over.
 */
async function drive(system: OpenSystem, order: LoadOrder, durationMs: number): Promise<Tally> {
  const requests = parseRequests(order);
  const stats: Tally = { operations: 0, preliminaryMs: [], finalMs: [], history: [] };
  const endsAt = performance.now() + durationMs;
  const loop = async (worker: number): Promise<void> => {
    const seed = order.seed + worker * 7919;
    const [next, random] = [requests(seed), seeded(seed + 1)];
    while (performance.now() < endsAt) {
      const request = next();
      await (request.kind === 'read'
        ? read(system, request, order, stats)
        : write(system, request, { random, order, tally: stats }));
      stats.operations += 1;
    }
  };
  await Promise.all(Array.from({ length: order.inFlight }, (_, worker) => loop(worker)));
  return stats;
}

async function read(
  system: OpenSystem,
  { record }: Request,
  order: LoadOrder,
  stats: Tally,
): Promise<void> {
  const key = keyOf(record);
  const beganMs = nowMs();
  let early: { readonly value: readonly (string | null)[]; readonly ms: number } | undefined;
  const final = await system.read(key, (value) => (early ??= { value, ms: nowMs() - beganMs }));
  const endedMs = nowMs();
  if (early !== undefined) stats.preliminaryMs.push(early.ms);
  stats.finalMs.push(endedMs - beganMs);
  if (!order.record) return;
  const preliminary = early === undefined ? {} : { preliminary: tagsOf(early.value) };
  stats.history.push({
    kind: 'read',
    client: setup.site,
    key,
    beganMs,
    endedMs,
    ...preliminary,
    final: tagsOf(final),
  });
}

interface Writing {
  readonly random: () => number;
  readonly order: LoadOrder;
  readonly tally: Tally;
}

let writes = 0;

async function write(
  system: OpenSystem,
  request: Request & { kind: 'write' },
  { random, order, tally: stats }: Writing,
): Promise<void> {
  const { record, field } = request;
  writes += 1;
  const tag = `${setup.site}-${runs}-${writes}`;
  const [key, value] = [keyOf(record), fieldValue(random, tag)];
  const beganMs = nowMs();
  await system.update(key, field, value);
  if (order.record) {
    stats.history.push({
      kind: 'write',
      client: setup.site,
      key,
      field,
      tag,
      beganMs,
      endedMs: nowMs(),
    });
  }
}

function latencyOf(values: readonly number[]): Latency | null {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => a - b);
  const avgMs = sorted.reduce((sum, ms) => sum + ms, 0) / sorted.length;
  return { avgMs, p99Ms: sorted[Math.ceil(0.99 * sorted.length) - 1] as number };
}

async function takeTurns({ systems: names, turns }: TurnsOrder): Promise<TurnsReport> {
  const report: Partial<Record<System, { preliminaryMs: number | null; finalMs: number }[]>> = {};
  for (const name of names) {
    report[name] = [];
    await opened(name).readObject(objectKeyOf(0), () => {});
  }
  for (let turn = 0; turn < turns; turn += 1) {
    for (let place = 0; place < names.length; place += 1) {
      const name = names[(place + turn) % names.length] as System;
      const from = performance.now();
      let preliminaryMs: number | null = null;
      await opened(name).readObject(
        objectKeyOf(turn % OBJECTS),
        () => (preliminaryMs ??= performance.now() - from),
      );
      report[name]?.push({ preliminaryMs, finalMs: performance.now() - from });
    }
  }
  return report;
}
