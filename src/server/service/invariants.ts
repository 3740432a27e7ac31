/** What an author declares to hold at every site at all times: of single rows, and of all tables together. */
import { check } from '../../correctable/errors.ts';
import { checkRecord } from '../../correctable/given.ts';
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
