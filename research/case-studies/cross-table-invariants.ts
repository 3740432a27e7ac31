/**
 * What rows of several tables say of each other, seen from one row: looked at row by row at the end
 * of a run, however many there are, and of all rows at once in tests and by `correctables label`.
 */
import type { SnapshotInvariants, Tables } from 'correctables/server';

type ReadersOf<T extends Tables> = Parameters<SnapshotInvariants<T>[string]>[0];

/** By table and in words: whether it holds of the row with this key. */
export type Bonds<T extends Tables> = {
  readonly [N in keyof T]?: Readonly<
    Record<string, (key: string, tables: ReadersOf<T>) => boolean>
  >;
};

/** The same of all rows. */
export function ofAllRows<T extends Tables>(bonds: Bonds<T>): SnapshotInvariants<T> {
  const all = Object.entries(bonds as Bonds<Tables>).flatMap(([table, item]) =>
    Object.entries(item ?? {}).map(([name, holds]) => {
      const holdsOfAll = (tables: ReadersOf<Tables>): boolean =>
        tables[table]?.keys().every((key) => holds(key, tables)) ?? true;
      return [name, holdsOfAll] as const;
    }),
  );
  return Object.fromEntries(all) as unknown as SnapshotInvariants<T>;
}
