/** The standard mixes of YCSB: the share of updates, and the users of the operations. */
import { scattered, seeded, zipfian } from '../random.ts';

export const WORKLOADS = ['A', 'B', 'C'] as const;
export type Workload = (typeof WORKLOADS)[number];

/** The share of updates in each mix. */
export const UPDATE_SHARES: Readonly<Record<Workload, number>> = { A: 0.5, B: 0.05, C: 0 };

/** One operation to be carried out. */
export interface Step {
  readonly kind: 'fetch' | 'change';
  readonly user: number;
}

/**
 * Returns endless sequences of operations, equal for equal seeds. Popular users occur more often.
 */
export function workloadOf(workload: Workload, users: number): (seed: number) => () => Step {
  const rank = zipfian(users);
  return (seed) => {
    const random = seeded(seed);
    return () => {
      const kind = random() < UPDATE_SHARES[workload] ? 'change' : 'fetch';
      return { kind, user: scattered(rank(random), users) };
    };
  };
}
