/** Computes the goals of reads, transactions and sessions on PostgreSQL. */
import { LOOKS } from '../harness/adaptive-rounds.ts';
import {
  atLeast,
  estimate,
  largest,
  limitTime,
  reported,
  type Estimate,
  type GoalResult,
} from '../harness/goals.ts';
import { rounded } from '../harness/statistics.ts';

/** Medians of one round, in milliseconds. */
export interface ReadTimes {
  readonly plainReplicaMs: number;
  readonly plainPrimaryMs: number;
  readonly preliminaryMs: number;
  readonly finalMs: number;
  readonly preliminaryViews: number;
}

export interface TransactionTimes {
  readonly transactionMs: number;
  /** `BEGIN`, a read with locks, two writes and `COMMIT`, each in a trip of its own. */
  readonly beginCommitMs: number;
  /**
   * The same statements in two trips: `BEGIN` is sent with the read, and `COMMIT` with the writes.
   */
  readonly pipelinedMs: number;
}

export const THROUGHPUT_WAYS = ['both views', 'two plain reads', 'one plain read'] as const;
export type ThroughputWay = (typeof THROUGHPUT_WAYS)[number];

export interface Round {
  /** The times for each nearest replica, in the order of the replicas. */
  readonly reads: readonly ReadTimes[];
  readonly transactions: TransactionTimes;
  /** Reads a second. */
  readonly throughput: Readonly<Record<ThroughputWay, number>>;
}

/** A view may take this much longer than a plain read, beside the 5 % of the aim. */
const ALLOWANCE_MS = 1;
const AIM = 1.05;

function preliminaryVsReplica({ preliminaryMs, plainReplicaMs }: ReadTimes): number {
  return (preliminaryMs - ALLOWANCE_MS) / plainReplicaMs;
}

function finalVsPrimary({ finalMs, plainPrimaryMs }: ReadTimes): number {
  return (finalMs - ALLOWANCE_MS) / plainPrimaryMs;
}

/**
 * Computes the goals of reads and transactions. Over the nearest replicas, the worst value counts.
 */
export function computeLatencyGoals(rounds: readonly Round[]): readonly GoalResult[] {
  const over = (of: (round: Round) => number): Estimate => estimate(rounds.map(of), LOOKS);
  const worst = (of: (times: ReadTimes) => number): Estimate =>
    largest(
      (rounds[0]?.reads ?? []).map((_, at) => over(({ reads }) => of(reads[at] as ReadTimes))),
    );
  const drop = (way: ThroughputWay): Estimate =>
    over(({ throughput }) => 1 - throughput['both views'] / throughput[way]);
  const transaction = (of: keyof TransactionTimes): Estimate =>
    over(({ transactions }) => transactions.transactionMs / transactions[of]);
  return [
    limitTime('prelim-vs-replica-read', worst(preliminaryVsReplica), { aim: AIM }),
    limitTime('final-vs-primary-read', worst(finalVsPrimary), { aim: AIM }),
    reported('throughput-drop-vs-two-reads', drop('two plain reads'), 'fraction'),
    reported('throughput-drop-vs-one-read', drop('one plain read'), 'fraction'),
    reported('transaction-vs-begin-commit', transaction('beginCommitMs')),
    reported('transaction-vs-pipelined-begin-commit', transaction('pipelinedMs')),
  ];
}

/** The result of one history of reads. */
export interface SessionSample {
  readonly seed: number;
  readonly hasSessions: boolean;
  readonly reads: number;
  readonly early: number;
  readonly violations: readonly string[];
}

export function sumSessions(hasSessions: boolean, samples: readonly SessionSample[]) {
  const own = samples.filter((sample) => sample.hasSessions === hasSessions);
  const sum = (of: (sample: SessionSample) => number): number =>
    own.reduce((total, sample) => total + of(sample), 0);
  const reads = sum((sample) => sample.reads);
  return {
    sessions: hasSessions ? 'on' : 'off',
    reads,
    violations: sum(({ violations }) => violations.length),
    earlyShare: rounded(sum(({ early }) => early) / reads),
  };
}

export function computeSessionGoals(samples: readonly SessionSample[]): readonly GoalResult[] {
  const [on, off] = [sumSessions(true, samples), sumSessions(false, samples)];
  return [
    limitTime('session-violations', on.violations, { floor: 0 }, 'views'),
    // Without violations here, the checker or the pauses would prove nothing.
    atLeast('violations-without-sessions', off.violations, { floor: 1 }, 'views'),
    reported('session-reads', on.reads, 'reads'),
    reported('early-share-in-sessions', on.earlyShare, 'fraction'),
    reported('early-share-without-sessions', off.earlyShare, 'fraction'),
  ];
}
