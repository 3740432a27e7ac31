/** A run: one deployment, and round after round on it until the time is over or something was found. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Counter } from '../histories/counter.ts';
import { checkRound } from './check-round.ts';
import { porcupineFaults } from './checks/porcupine.ts';
import { startCluster, startClusterOnEtcd } from './cluster-deployment.ts';
import { startEmbedded } from './embedded-deployment.ts';
import type { Build, ChaosDeployment } from './deployment.ts';
import { toEvidence } from './evidence.ts';
import { createPlan, type FaultKind, type Plan } from './faults/plan.ts';
import { Recorder, type HistoryEvent } from './history.ts';
import type { Options } from './options.ts';
import { playRound } from './round.ts';
import type { WorkloadName } from './workload.ts';

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

type RunOptions = Pick<Options, 'minutes' | 'seed' | 'history' | 'logs' | 'isEmbedded' | 'engine' | 'faults'> & {
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
  const counts = { operations: new Counter(), outcomes: new Counter(), injected: new Counter(), alarms: new Counter() };
  const faults: string[] = [];
  let seed = options.seed;
  using recorder = new Recorder(options.history);
  try {
    await using deployment = await start(options, folder, { ...build, logs: options.logs }, progress);
    const kinds = new Set([...options.faults].filter((kind: FaultKind) => deployment.kinds.has(kind)));
    for (; ; seed += 1) {
      progress(`round ${seed}`);
      const lastsMs = Math.max(ROUND_MIN_MS, Math.min(untilMs - performance.now(), ROUND_MS));
      const { workload, plan } = options.scenario ?? {
        workload: 'mixed',
        plan: createPlan({ seed, lastsMs, sites: deployment.sites, leader: deployment.leader, kinds }),
      };
      await playRound({ deployment, recorder, seed, lastsMs, plan, workload, progress });
      const events = recorder.take();
      count(events, counts);
      for (const { complaints } of deployment.processes) faults.push(...complaints.splice(0));
      const evidence = toEvidence(events);
      const found = [...checkRound(evidence), ...(await porcupineFaults(evidence))];
      faults.push(...found.map((fault) => `round ${seed}: ${fault}`));
      if (faults.length > 0 || untilMs - performance.now() < ROUND_MIN_MS) break;
    }
    for (const { alarms } of deployment.processes) counts.alarms.addAll(alarms);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return {
    seed: options.seed,
    rounds: seed - options.seed + 1,
    seconds: Math.round((performance.now() - fromMs) / 1000),
    operations: counts.operations.counts,
    outcomes: counts.outcomes.counts,
    injected: counts.injected.counts,
    alarms: counts.alarms.counts,
    faults,
  };
}

function start(
  { isEmbedded, engine }: RunOptions,
  folder: string,
  build: Build,
  progress: (line: string) => void,
): Promise<ChaosDeployment> {
  if (isEmbedded) return startEmbedded(folder, build);
  return engine === 'etcd' ? startClusterOnEtcd(folder, build, progress) : startCluster(folder, build);
}

function count(
  events: readonly HistoryEvent[],
  { operations, outcomes, injected }: Readonly<Record<'operations' | 'outcomes' | 'injected', Counter>>,
): void {
  for (const event of events) {
    if (event.kind === 'begun') operations.add(event.operation);
    else if (event.kind === 'ended') outcomes.add(event.outcome);
    else if (event.kind === 'fault' && event.phase === 'begun') injected.add(event.fault);
  }
}
