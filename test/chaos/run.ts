/**
 * A run: one deployment, and round after round on it until the time is over or something was found.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Counter } from '../histories/counter.ts';
import { checkRound } from './check-round.ts';
import { porcupineFaults } from './checks/porcupine.ts';
import { startCluster, startClusterOnEtcd } from './cluster-deployment.ts';
import { startEmbedded } from './embedded-deployment.ts';
import type { Build, ChaosDeployment } from './deployment.ts';
import { toEvidence, type RecordedCall } from './evidence.ts';
import { createPlan, type FaultKind, type Plan } from './faults/plan.ts';
import { Recorder, type HistoryEvent } from './history.ts';
import type { Options, RoundKind } from './options.ts';
import { playRound } from './round.ts';
import { SERVICES, type ServiceName } from './services.ts';
import type { ServerProcess } from './server-process.ts';
import { serviceOf, type WorkloadName } from './workload.ts';

const BUILD: Build = {
  cli: fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url)),
  service: fileURLToPath(new URL('service.ts', import.meta.url)),
};
const MINUTE_MS = 60_000;
const ROUND_MS = 30_000;
const ROUND_MIN_MS = 5_000;

export interface Report {
  readonly seed: number;
  readonly rounds: number;
  /** Rounds of the bank among them. */
  readonly bankRounds: number;
  /** Transfers of the bank by outcome. */
  readonly transfers: Readonly<Record<string, number>>;
  readonly seconds: number;
  readonly operations: Readonly<Record<string, number>>;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly injected: Readonly<Record<string, number>>;
  readonly alarms: Readonly<Record<string, number>>;
  readonly faults: readonly string[];
}

/** What provokes one fault. */
export interface Scenario {
  readonly workload: WorkloadName;
  readonly plan: Plan;
}

type RunOptions = Pick<
  Options,
  | 'minutes'
  | 'seed'
  | 'history'
  | 'logs'
  | 'isEmbedded'
  | 'engine'
  | 'partitions'
  | 'faults'
  | 'rounds'
> & {
  readonly scenario?: Scenario;
};

/** @param build default: that of this checkout */
export async function run(
  options: RunOptions,
  progress: (line: string) => void,
  build: Build = BUILD,
): Promise<Report> {
  const fromMs = performance.now();
  const untilMs = fromMs + options.minutes * MINUTE_MS;
  const folder = await mkdtemp(join(tmpdir(), 'correctables-chaos-'));
  const counts = {
    operations: new Counter(),
    outcomes: new Counter(),
    transfers: new Counter(),
    injected: new Counter(),
    alarms: new Counter(),
  };
  let bankRounds = 0;
  const faults: string[] = [];
  let seed = options.seed;
  using recorder = new Recorder(options.history);
  try {
    await using deployments = new Deployments(
      options,
      folder,
      { ...build, logs: options.logs },
      progress,
    );
    for (; ; seed += 1) {
      const workload = options.scenario?.workload ?? chooseRound(seed, options.rounds);
      const service = serviceOf(workload);
      const deployment = await deployments.get(service);
      if (service === 'bank') bankRounds += 1;
      progress(`round ${seed}, ${workload}`);
      const lastsMs = Math.max(ROUND_MIN_MS, Math.min(untilMs - performance.now(), ROUND_MS));
      const plan =
        options.scenario?.plan ?? drawPlan(deployment, { seed, lastsMs, faults: options.faults });
      const { partitions } = options;
      await playRound({
        deployment,
        recorder,
        seed,
        lastsMs,
        plan,
        workload,
        partitions,
        progress,
      });
      const events = recorder.take();
      count(events, counts);
      for (const { complaints } of deployment.processes) faults.push(...complaints.splice(0));
      const evidence = toEvidence(events);
      for (const call of evidence.calls)
        if (call.kind === 'transfer') counts.transfers.add(describeTransfer(call));
      const found = [...checkRound(evidence), ...(await porcupineFaults(evidence))];
      faults.push(...found.map((fault) => `round ${seed}: ${fault}`));
      if (faults.length > 0 || untilMs - performance.now() < ROUND_MIN_MS) break;
    }
    for (const { alarms } of deployments.processes) counts.alarms.addAll(alarms);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return {
    seed: options.seed,
    rounds: seed - options.seed + 1,
    bankRounds,
    seconds: Math.round((performance.now() - fromMs) / 1000),
    operations: counts.operations.counts,
    outcomes: counts.outcomes.counts,
    transfers: counts.transfers.counts,
    injected: counts.injected.counts,
    alarms: counts.alarms.counts,
    faults,
  };
}

/** Starts the sites of a service when a round needs them first. They live until the run ends. */
class Deployments implements AsyncDisposable {
  readonly #start: (service: ServiceName) => Promise<ChaosDeployment>;
  readonly #running = new Map<ServiceName, ChaosDeployment>();

  constructor(options: RunOptions, folder: string, build: Build, progress: (line: string) => void) {
    this.#start = async (name) => {
      const own = join(folder, name);
      await mkdir(own);
      const service = join(dirname(build.service), SERVICES[name].module);
      return start(options, own, { ...build, service }, progress);
    };
  }

  async get(service: ServiceName): Promise<ChaosDeployment> {
    const deployment = this.#running.get(service) ?? (await this.#start(service));
    this.#running.set(service, deployment);
    return deployment;
  }

  get processes(): readonly ServerProcess[] {
    return [...this.#running.values()].flatMap(({ processes }) => processes);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(
      [...this.#running.values()].map((deployment) => deployment[Symbol.asyncDispose]()),
    );
  }
}

/**
 * Every third round is one of the bank, by its seed: so a round that is played again is of the same
 * kind.
 */
const BANK_EVERY = 3;

function chooseRound(seed: number, kinds: ReadonlySet<RoundKind>): RoundKind {
  const isBank = kinds.has('bank') && (seed % BANK_EVERY === 0 || !kinds.has('mixed'));
  return isBank ? 'bank' : 'mixed';
}

function drawPlan(
  { sites, leaders, kinds }: ChaosDeployment,
  {
    seed,
    lastsMs,
    faults,
  }: { readonly seed: number; readonly lastsMs: number; readonly faults: Options['faults'] },
): Plan {
  const possible = new Set([...faults].filter((kind: FaultKind) => kinds.has(kind)));
  return createPlan({ seed, lastsMs, sites, leaders, kinds: possible });
}

function describeTransfer({ outcome = 'none', output }: RecordedCall): string {
  return outcome === 'success' && output === false ? 'refused' : outcome;
}

function start(
  { isEmbedded, engine, partitions }: RunOptions,
  folder: string,
  build: Build,
  progress: (line: string) => void,
): Promise<ChaosDeployment> {
  if (isEmbedded) return startEmbedded(folder, build);
  return engine === 'etcd'
    ? startClusterOnEtcd(folder, build, progress, { partitions })
    : startCluster(folder, build, { partitions });
}

function count(
  events: readonly HistoryEvent[],
  {
    operations,
    outcomes,
    injected,
  }: Readonly<Record<'operations' | 'outcomes' | 'injected', Counter>>,
): void {
  for (const event of events) {
    if (event.kind === 'begun') operations.add(event.operation);
    else if (event.kind === 'ended') outcomes.add(event.outcome);
    else if (event.kind === 'fault' && event.phase === 'begun') injected.add(event.fault);
  }
}
