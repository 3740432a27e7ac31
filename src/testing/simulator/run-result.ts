/** What one simulated run has shown. */
import type { ClientOperation } from './history.ts';
import type { SimulationOptions } from './options.ts';

export interface RunResult {
  readonly seed: number;
  readonly options: SimulationOptions;
  /** The first property that did not hold. */
  readonly violation?: { readonly checker: string; readonly message: string };
  /** The number of events of the run by name. A run without events proves nothing. */
  readonly coverage: Readonly<Record<string, number>>;
  /** The operations of the clients with their replies, for checkers outside. */
  readonly history: readonly ClientOperation[];
}
