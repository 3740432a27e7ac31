/** What an author declares to hold at every site at all times: of single rows, and of all tables together. */
import { check } from '../../correctable/errors.ts';
import { checkRecord, isThenable } from '../../correctable/given.ts';
import { textOf } from '../records/failure.ts';
import type { RowReader, TablesReader } from './readers.ts';
import type { Tables } from './tables.ts';

/** Conditions on single rows, by table and name. */
export type Invariants<T extends Tables> = {
  readonly [K in keyof T]?: Readonly<Record<string, (row: RowReader<T[K]['fields']>) => boolean>>;
};

/** Conditions on all tables of one snapshot, by name. */
export type SnapshotInvariants<T extends Tables> = Readonly<Record<string, (tables: TablesReader<T>) => boolean>>;

type AnyInvariant = (row: Readonly<Record<string, unknown>>) => boolean;

/** Invariants whose types are not known. */
export interface DeclaredInvariants {
  /** Of rows, by table and name. */
  readonly invariants: Readonly<Record<string, Readonly<Record<string, AnyInvariant>>>>;
  /** Of all tables, by name. */
  readonly snapshotInvariants: Readonly<Record<string, (tables: TablesReader<Tables>) => boolean>>;
}

/** How a condition does not hold. */
export interface InvariantFailure {
  /** What it did instead of saying whether it holds, as the end of a sentence about it. */
  readonly error?: string;
}

/** A promise would hold always, and what it is kept or rejected with be heard by nobody: it is as wrong as what throws. */
export const GAVE_PROMISE = 'gave a promise: it must say at once, without async, whether it holds';

/** What is wrong where a condition does not hold; nothing where it does. */
export function failureOf(holds: () => boolean): InvariantFailure | undefined {
  try {
    const given: unknown = holds();
    if (!isThenable(given)) return given ? undefined : {};
    Promise.resolve(given).then(ignore, ignore);
    return { error: GAVE_PROMISE };
  } catch (error) {
    return { error: `threw: ${textOf(error)}` };
  }
}

function ignore(): void {}

const OF_ROWS = "{ invariants: { accounts: { 'nothing is overdrawn': ({ balance }) => balance >= 0 } } }";
const OF_ALL = "{ snapshotInvariants: { 'somebody is on duty': ({ doctors }) => doctors.keys().length > 0 } }";

/** @throws CorrectableError `INVALID_ARGUMENT` naming the one that is no function, or is of no table */
export function declaredInvariants(
  tables: Tables,
  given: { readonly invariants?: unknown; readonly snapshotInvariants?: unknown },
): DeclaredInvariants {
  const { invariants = {}, snapshotInvariants = {} } = given;
  checkRecord(invariants, { call: OF_ROWS, field: 'invariants' });
  for (const [table, ofTable] of Object.entries(invariants as object) as [string, unknown][]) {
    const field = `invariants.${table}`;
    check(Object.hasOwn(tables, table), field, `is of no table; there are ${Object.keys(tables).join(', ')}`);
    checkConditions(ofTable ?? {}, { call: OF_ROWS, field });
  }
  checkConditions(snapshotInvariants, { call: OF_ALL, field: 'snapshotInvariants' });
  return { invariants, snapshotInvariants } as DeclaredInvariants;
}

function checkConditions(given: unknown, { call, field }: { readonly call: string; readonly field: string }): void {
  checkRecord(given, { call, field });
  for (const [name, holds] of Object.entries(given as object) as [string, unknown][]) {
    check(
      typeof holds === 'function',
      `${field}.${name}`,
      `must be a function that says whether it holds: write ${call}`,
    );
  }
}
