/** What a checker sees of a run, and how it says that something is wrong. */
import type { BlueOperation, RedOperation } from '../../../server/redblue/records.ts';
import type { SiteState } from '../../../server/redblue/site-state.ts';
import type { History } from '../history.ts';

/** An operation at a site, blue or red. */
export type AnyOperation = BlueOperation | RedOperation;

/** Whether the operation stands in the red order. */
export function isRed(operation: AnyOperation): operation is RedOperation {
  return 'attempt' in operation;
}

/** The end of a run, after all faults have healed. */
export interface FinalState {
  readonly sites: readonly SiteState[];
  readonly history: History;
}

/** One property of a run. A checker throws a `Fault` when it does not hold. */
export interface Checker {
  readonly name: string;
  /** A site starts: empty, or with the state of the moment at which `save` gave `saved`. */
  started?(site: number, saved?: unknown): void;
  /** What was noted of a site, apart from what is noted later. */
  save?(site: number): unknown;
  /** A generator run at `site` became an operation. */
  created?(site: number, operation: AnyOperation): void;
  /** An operation became visible at `site`. */
  applied?(site: number, operation: AnyOperation, state: SiteState): void;
  finished?(final: FinalState): void;
}

/** A property did not hold. */
export class Fault extends Error {
  override readonly name = 'Fault';
}

/** Throws unless `condition` holds. */
export function require(condition: boolean, message: () => string): asserts condition {
  if (!condition) throw new Fault(message());
}
