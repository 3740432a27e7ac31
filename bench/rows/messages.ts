/** The messages between the benchmark of large tables and its process with a site. */

/** The process that is started. */
export interface SiteOrder {
  /** The data directory. */
  readonly dataDir: string;
  /** The built package of the checkout that is measured. */
  readonly dist: string;
}

export interface Started {
  /** From the call that starts the site to its first answer. */
  readonly startMs: number;
}

export type Workload = 'write' | 'read' | 'scan';

export type Order =
  /** Writes the rows with numbers below `rows` once. */
  | { readonly kind: 'fill'; readonly rows: number }
  /** Runs operations on random rows below `rows`. */
  | {
      readonly kind: 'run';
      readonly workload: Workload;
      readonly rows: number;
      readonly operations: number;
    }
  /** Reads rows below `rows`, the same ones each time. */
  | { readonly kind: 'sample'; readonly rows: number }
  /** Collects garbage, and counts what is left. */
  | { readonly kind: 'memory' };

export interface Ran {
  readonly usPerOperation: number;
  /** The longest time in which the process did nothing else. */
  readonly longestPauseMs: number;
}

export interface Memory {
  readonly bytes: number;
}

export interface Sample {
  readonly values: readonly (string | null)[];
}
