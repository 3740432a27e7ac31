/** What a run has shown of a shadow operation that must not be, or not be blue. */
import type { Meeting } from './step.ts';
import type { Broken, ShownRow } from './validity.ts';

/** A row that is not the same at two sites which have seen the same. */
export interface Difference {
  /** At the first site, which applied its own operation first. */
  readonly here: ShownRow;
  readonly there: ShownRow;
}

/** What all have: the shadow operation, and the shortest run that shows it as far as known. */
interface Shown {
  readonly shadow: string;
  /** The operation that chose it, `here` of the meeting. */
  readonly operation: string;
  readonly meeting: Meeting;
}

/** What two sites have to do with. */
interface Together {
  /** Whether they take by rights to bounded fields. */
  readonly takes: boolean;
}

/** It makes a valid state invalid at the very site that chose it; its meeting has nobody else. */
export type AloneBreach = Shown & { readonly kind: 'alone'; readonly broken: Broken };

/**
 * `beside`: it does so at a site that has gone on, which its own site could not know: it is not invariant-safe (RedBlue,
 * OSDI 2012, Definition 8).
 * `differs`: it does not commute with what the other site has done.
 */
export type Breach =
  | AloneBreach
  | (Shown & Together & { readonly kind: 'beside'; readonly broken: Broken })
  | (Shown & Together & { readonly kind: 'differs'; readonly difference: Difference });

/** The same of breaches that say the same: one of each is enough. */
export function nameOf({ kind, shadow, operation }: Breach): string {
  return JSON.stringify([kind, shadow, operation]);
}

/** Whether a simpler run still shows what the first one did. */
export function isSameBreach(a: Breach, b: Breach | undefined): boolean {
  if (b === undefined || nameOf(a) !== nameOf(b)) return false;
  if (a.kind === 'differs' || b.kind === 'differs') return a.kind === b.kind;
  const tableOf = ({ isOfRow, rows }: Broken): string | undefined => (isOfRow ? rows[0]?.table : undefined);
  return a.broken.invariant === b.broken.invariant && tableOf(a.broken) === tableOf(b.broken);
}
