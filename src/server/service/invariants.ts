/**
 * Conditions that an author declares for all sites at all times: on single rows, and on all tables
 * together.
 */
import { check } from '../../correctable/errors.ts';
import { checkRecord, isThenable } from '../../correctable/validate.ts';
import { formatThrown } from './records/failures.ts';
import type { RowReader, TablesReader } from './readers.ts';
import type { Tables } from './tables.ts';

/** Conditions on single rows, by table and name. */
export type Invariants<T extends Tables> = {
  readonly [K in keyof T]?: Readonly<Record<string, (row: RowReader<T[K]['fields']>) => boolean>>;
};

/** Conditions on all tables of one snapshot, by name. */
export type SnapshotInvariants<T extends Tables> = Readonly<
  Record<string, (tables: TablesReader<T>) => boolean>
>;

type AnyInvariant = (row: Readonly<Record<string, unknown>>) => boolean;

/** Invariants without their types. */
export interface DeclaredInvariants {
  /** Invariants of rows, by table and name. */
  readonly invariants: Readonly<Record<string, Readonly<Record<string, AnyInvariant>>>>;
  /** Invariants of all tables, by name. */
  readonly snapshotInvariants: Readonly<Record<string, (tables: TablesReader<Tables>) => boolean>>;
}

/** Why a condition does not hold. */
export interface InvariantFailure {
  /** The condition's own error, as the end of a sentence about it. */
  readonly error?: string | undefined;
}

/**
 * A promise would count as true and its result would be lost, so it is as wrong as an exception.
 */
export const RETURNED_PROMISE = 'returned a promise: it must return true or false synchronously';

/** Returns what is wrong if a condition does not hold; `undefined` if it holds. */
export function findInvariantFailure(holds: () => boolean): InvariantFailure | undefined {
  try {
    const value: unknown = holds();
    if (!isThenable(value)) return value ? undefined : {};
    Promise.resolve(value).then(ignore, ignore);
    return { error: RETURNED_PROMISE };
  } catch (error) {
    return { error: `threw: ${formatThrown(error)}` };
  }
}

function ignore(): void {}

const ROW_INVARIANT_CALL =
  "{ invariants: { accounts: { 'nothing is overdrawn': ({ balance }) => balance >= 0 } } }";
const SNAPSHOT_INVARIANT_CALL =
  "{ snapshotInvariants: { 'a doctor is on duty': ({ doctors }) => doctors.keys().length > 0 } }";

/**
 * @throws CorrectableError `INVALID_ARGUMENT` naming an invariant that is no function, or of an
 * unknown table
 */
export function checkInvariants(
  tables: Tables,
  value: {
    readonly invariants?: unknown;
    readonly snapshotInvariants?: unknown;
  },
): DeclaredInvariants {
  const { invariants = {}, snapshotInvariants = {} } = value;
  checkRecord(invariants, { call: ROW_INVARIANT_CALL, field: 'invariants' });
  for (const [table, ofTable] of Object.entries(invariants as object) as [string, unknown][]) {
    const field = `invariants.${table}`;
    check(
      Object.hasOwn(tables, table),
      field,
      `is of no table; there are ${Object.keys(tables).join(', ')}`,
    );
    checkConditions(ofTable ?? {}, { call: ROW_INVARIANT_CALL, field });
  }
  checkConditions(snapshotInvariants, {
    call: SNAPSHOT_INVARIANT_CALL,
    field: 'snapshotInvariants',
  });
  return { invariants, snapshotInvariants } as DeclaredInvariants;
}

function checkConditions(
  value: unknown,
  { call, field }: { readonly call: string; readonly field: string },
): void {
  checkRecord(value, { call, field });
  for (const [name, holds] of Object.entries(value as object) as [string, unknown][]) {
    const advice = `must be a function that returns whether it holds: write ${call}`;
    check(typeof holds === 'function', `${field}.${name}`, advice);
  }
}
