/**
 * YCSB's standard workloads A, B and C: endless sequences of reads of whole records and updates of
 * one field.
 */
import { UPDATE_SHARES, type Workload } from '../../demo/shared/speculation/workload.ts';
import { seeded, wholeBetween } from '../../demo/shared/random.ts';
import { chooserOf, type Distribution } from './choosers.ts';
import { FIELDS } from './rows.ts';

export { WORKLOADS, type Workload } from '../../demo/shared/speculation/workload.ts';

export interface WorkloadOptions {
  readonly workload: Workload;
  readonly distribution: Distribution;
  readonly records: number;
}

/** One operation to be carried out. */
export type Request =
  | { readonly kind: 'read'; readonly record: number }
  | { readonly kind: 'write'; readonly record: number; readonly field: number };

/** Returns the endless sequence of requests. Equal seeds lead to equal sequences. */
export function parseRequests({
  workload,
  distribution,
  records,
}: WorkloadOptions): (seed: number) => () => Request {
  const choose = chooserOf(distribution, records);
  return (seed) => {
    const random = seeded(seed);
    return () => {
      const isUpdate = random() < UPDATE_SHARES[workload];
      const record = choose(random);
      return isUpdate
        ? { kind: 'write', record, field: wholeBetween(random, 0, FIELDS - 1) }
        : { kind: 'read', record };
    };
  };
}
