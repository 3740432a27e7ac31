/**
 * Measures a site with many connections, each with one operation in flight, as with browsers. The
 * baselines are a bare `ws` echo of the same bytes, and the simple server of
 * `bench/load/baseline-server.ts`. The measure is the server's processor time for one operation.
 * `--beside DIR` measures a site of another checkout in the same rounds.
 */
import { UsageError } from '../../engines/usage-error.ts';
import { isUndecided } from '../harness/goals.ts';
import type { Bench, Outcome, Settings } from '../harness/bench.ts';
import { checkCheckout, describeCheckout, findScript } from '../harness/checkouts.ts';
import { answer, ask, ended, startChild } from '../harness/children.ts';
import { versionsOf } from '../harness/provenance.ts';
import type { Target } from '../load/messages.ts';
import {
  checkoutOf,
  contestantOf,
  serverFlags,
  startServer,
  type Contestant,
} from '../load/processes.ts';
import { rowOf, type Samples } from '../load/rounds.ts';
import { measureStarts, QUICK, STARTS, type Extent } from '../load/restart-rounds.ts';
import { computeGoalResults, OPERATIONS, type Name, type Operation } from './goals.ts';

const FULL: Extent = { ...STARTS, rounds: 3, warmUps: 4 };
const CONNECTIONS = 200;

const OWN = {
  echo: { kind: 'echo' },
  site: { kind: 'redblue', sites: 1, durable: false },
  "a day's work": { kind: 'day', durable: false },
  'site, durable': { kind: 'redblue', sites: 1, durable: true },
  "a day's work, durable": { kind: 'day', durable: true },
} as const satisfies Partial<Record<Name, Target>>;

export const crowd: Bench = {
  name: 'crowd',
  about:
    "a site under many connections with one operation at a time each, beside a bare echo and a day's work",
  takes: ['connections', 'beside'],
  run,
};

async function run({
  quick,
  connections = CONNECTIONS,
  beside,
  progress,
}: Settings): Promise<Outcome> {
  if (!Number.isSafeInteger(connections) || connections < 1) {
    throw new UsageError(`--connections must be an integer from 1, got ${String(connections)}.`);
  }
  if (beside !== undefined) checkCheckout(beside);
  const extent = quick ? QUICK : FULL;
  const durationMs = quick ? 300 : 400;
  const other = (name: 'site' | 'site, durable'): Target => ({ ...OWN[name], checkout: beside });
  const others = { 'other site': other('site'), 'other site, durable': other('site, durable') };
  const targets: Partial<Record<Name, Target>> = beside === undefined ? OWN : { ...OWN, ...others };
  const names = Object.keys(targets) as Name[];
  const operations = Object.keys(OPERATIONS) as Operation[];
  const plans = operations.map((operation) => ({
    workload: OPERATIONS[operation],
    window: connections,
    durationMs,
    names,
  }));
  const byOperation = (measured: readonly Samples<Name>[]): ReadonlyMap<Operation, Samples<Name>> =>
    new Map(operations.map((operation, index) => [operation, measured[index] as Samples<Name>]));
  const samples = byOperation(
    await measureStarts(targets as Record<Name, Target>, plans, {
      ...extent,
      warmUp: { workload: 'deposit', window: connections, durationMs },
      isDecided: (soFar) => !computeGoalResults(byOperation(soFar)).some(isUndecided),
      startOne: (target) => startCrowd(target, connections),
      progress,
    }),
  );
  return {
    rounds: samples.get('blue')?.get('site')?.length ?? 0,
    rows: [...samples].flatMap(([operation, of]) =>
      [...of].map(([contender, list]) => ({ operation, connections, contender, ...rowOf(list) })),
    ),
    bars: computeGoalResults(samples),
    samples: Object.fromEntries(
      [...samples].map(([operation, of]) => [operation, Object.fromEntries(of)]),
    ),
    versions: { ...versionsOf('ws', 'msgpackr'), ...describeCheckout(beside) },
    flags: serverFlags(),
  };
}

/** Starts a server, and one client process with all connections. */
export async function startCrowd(target: Target, connections: number): Promise<Contestant> {
  const server = await startServer(target);
  const script = findScript('bench/crowd/client.ts', checkoutOf(target));
  const client = startChild(script, [target.kind, server.url, String(connections)]);
  await answer(client);
  return contestantOf(server, [{ ask: (order) => ask(client, order), ended: () => ended(client) }]);
}
