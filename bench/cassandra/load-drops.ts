/**
 * Computes how much throughput quorum reads lose by preliminary views: for the one client on which
 * the paper reports, and for all clients together. Each is compared at the peak of its own
 * throughput in the sweep.
 */
import {
  limitTime,
  estimate,
  reported,
  type GoalResult,
  type Estimate,
  type Goals,
} from '../harness/goals.ts';
import { median, pairedRatios, rounded } from '../harness/statistics.ts';
import { LOOKS } from '../harness/adaptive-rounds.ts';
import type { Workload } from '../ycsb/workload.ts';
import { REPORTED, type LoadReport, type System } from './messages.ts';

/** The measurement of one system under one load. */
export interface Sample {
  readonly workload: Workload;
  readonly system: System;
  /** Requests of each client in flight at a time. */
  readonly inFlight: number;
  readonly round: number;
  /** The throughput of the reported client. */
  readonly opsPerSec: number;
  /** The throughput of all clients. */
  readonly totalOpsPerSec: number;
  /** Processor time of the reported client. */
  readonly clientUsPerOp: number;
  /**
   * Processor time of its coordinator for each operation of all clients. The next field is that of
   * all nodes. null if unknown.
   */
  readonly coordinatorUsPerOp: number | null;
  readonly nodesUsPerOp: number | null;
  readonly preliminary: LoadReport['preliminary'];
  readonly final: LoadReport['final'];
}

export const CLIENTS = [REPORTED, 'all'] as const;
/** The clients whose throughput is compared. */
export type Clients = (typeof CLIENTS)[number];

/**
 * The goals. The headline is the throughput of the one client, as in the paper. The sum of all
 * clients is reported too.
 */
const GOALS: Readonly<Record<Clients, Goals>> = {
  ireland: { floor: 0.12, aim: 0.06 },
  all: { aim: 0.06 },
};

function opsOf(clients: Clients): (sample: Sample) => number {
  return clients === 'all' ? ({ totalOpsPerSec }) => totalOpsPerSec : ({ opsPerSec }) => opsPerSec;
}

/**
 * Returns the highest throughput of a system, by the medians of the rounds, and the number of
 * requests in flight at which it is reached.
 */
export function peakOf(
  sweep: readonly Sample[],
  system: System,
  clients: Clients,
): { readonly inFlight: number; readonly opsPerSec: number } {
  const own = sweep.filter((sample) => sample.system === system);
  const loads = [...new Set(own.map(({ inFlight }) => inFlight))];
  const peaks = loads.map((inFlight) => {
    const there = own.filter((sample) => sample.inFlight === inFlight);
    return { inFlight, opsPerSec: median(there.map(opsOf(clients))) };
  });
  const [first, ...others] = peaks;
  if (first === undefined) throw new RangeError(`${system} was not measured`);
  return others.reduce((most, item) => (item.opsPerSec > most.opsPerSec ? item : most), first);
}

/**
 * Returns the loads at which systems are compared: the peaks of both, for the one client and for
 * all clients.
 */
export function comparedAt(sweep: readonly Sample[]): number[] {
  const peaks = CLIENTS.flatMap((clients) =>
    (['C2', 'CC2'] as const).map((system) => peakOf(sweep, system, clients).inFlight),
  );
  return [...new Set(peaks)].sort((item, other) => item - other);
}

/**
 * Samples of one workload: the sweep over all loads, and systems one after the other at the loads
 * of `comparedAt`.
 */
export interface Measured {
  readonly workload: Workload;
  readonly sweep: readonly Sample[];
  readonly pairs: readonly Sample[];
}

export type Drop = ReturnType<typeof dropOf>;

/** Returns the share of the throughput of C2 that CC2 loses. */
export function dropOf({ workload, sweep, pairs }: Measured, clients: Clients) {
  const [c2, cc2] = [peakOf(sweep, 'C2', clients), peakOf(sweep, 'CC2', clients)];
  const there = pairs.filter(({ inFlight }) => inFlight === c2.inFlight);
  const of = (system: System, valueOf: (sample: Sample) => number): number[] =>
    there.filter((sample) => sample.system === system).map(valueOf);
  const against = (baseline: System): number[] => {
    const ops = of(baseline, opsOf(clients));
    return of('CC2', opsOf(clients)).map((mine, pair) => 1 - mine / (ops[pair] as number));
  };
  const drops = against('C2');
  const { value, low, high, samples } = estimate(drops, LOOKS);
  const vsDriver = estimate(against('driver C2'), LOOKS);
  const atOwnPeak = (system: System, inFlight: number): number[] =>
    pairs
      .filter((sample) => sample.system === system && sample.inFlight === inFlight)
      .map(opsOf(clients));
  const plain = atOwnPeak('C2', c2.inFlight);
  const ofPeaks = atOwnPeak('CC2', cc2.inFlight).map(
    (mine, pair) => 1 - mine / (plain[pair] as number),
  );
  const usPerOp = (system: System, which: 'coordinatorUsPerOp' | 'nodesUsPerOp'): number | null => {
    const known = there
      .filter((sample) => sample.system === system)
      .flatMap((sample) => sample[which] ?? []);
    return known.length === 0 ? null : rounded(median(known));
  };
  return {
    workload,
    system: 'CC2 against C2',
    clients,
    inFlight: c2.inFlight,
    pairs: samples,
    drop: value,
    dropLow: low,
    dropHigh: high,
    dropVsDriver: vsDriver.value,
    dropVsDriverLow: vsDriver.low,
    dropVsDriverHigh: vsDriver.high,
    peakC2: rounded(c2.opsPerSec),
    peakCC2: rounded(cc2.opsPerSec),
    inFlightCC2: cc2.inFlight,
    dropOfPeaks: estimate(ofPeaks, LOOKS),
    coordinatorTime: coordinatorTimeOf(there),
    coordinatorUsPerOpC2: usPerOp('C2', 'coordinatorUsPerOp'),
    coordinatorUsPerOpCC2: usPerOp('CC2', 'coordinatorUsPerOp'),
    nodesUsPerOpC2: usPerOp('C2', 'nodesUsPerOp'),
    nodesUsPerOpCC2: usPerOp('CC2', 'nodesUsPerOp'),
    clientUsPerOp: rounded(median(of('CC2', ({ clientUsPerOp }) => clientUsPerOp))),
    clientUsPerOpC2: rounded(median(of('C2', ({ clientUsPerOp }) => clientUsPerOp))),
    driverUsPerOp: rounded(median(of('driver C2', ({ clientUsPerOp }) => clientUsPerOp))),
  };
}

/**
 * Returns how much more processor time the coordinator needs for an operation, pair by pair; null
 * if unknown.
 */
function coordinatorTimeOf(pairs: readonly Sample[]): Estimate | null {
  const times = (system: System): number[] =>
    pairs
      .filter((sample) => sample.system === system)
      .map(({ coordinatorUsPerOp }) => coordinatorUsPerOp ?? NaN);
  const more = pairedRatios(times('CC2'), times('C2')).map((ratio) => ratio - 1);
  return more.some(Number.isNaN) ? null : estimate(more, LOOKS);
}

export function computeGoalResults(measured: Drop): GoalResult[] {
  const { workload, clients, pairs: samples, dropOfPeaks, coordinatorTime } = measured;
  const taken = { samples, looks: LOOKS };
  const drop = { value: measured.drop, low: measured.dropLow, high: measured.dropHigh, ...taken };
  const vsDriver = {
    value: measured.dropVsDriver,
    low: measured.dropVsDriverLow,
    high: measured.dropVsDriverHigh,
    ...taken,
  };
  const name = `throughput-drop-${workload}-${clients}`;
  return [
    limitTime(name, drop, GOALS[clients], 'fraction'),
    reported(`${name}-of-peaks`, dropOfPeaks, 'fraction'),
    ...(coordinatorTime === null
      ? []
      : [reported(`coordinator-time-${workload}-${clients}`, coordinatorTime, 'fraction')]),
    reported(`${name}-vs-driver`, vsDriver, 'fraction'),
  ];
}
