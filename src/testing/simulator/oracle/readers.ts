/** How generators read the model: the same questions as at a site, answered by looking through everything. */
import { handedOut } from '../../../values/frozen.ts';
import type { ScanOptions } from '../../../server/records/key-range.ts';
import type { Table, Tables } from '../../../server/service/tables.ts';
import { compare } from './changes.ts';
import { isLedger, ledgerViewAt } from './ledger.ts';
import type { ModelEntry, ModelView } from './model.ts';

type Scan = (options?: ScanOptions) => readonly string[];

/** What generators get as `tables`: of the view that is the present one whenever they read; at a site, unless there is none. */
export function modelReaders(tables: Tables, view: () => ModelView, site?: number): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(tables).map(([name, table]) => [name, tableReader(name, table, view, site)]),
  );
}

function tableReader(name: string, table: Table, view: () => ModelView, site: number | undefined): unknown {
  const by: Record<string, Scan> = {};
  for (const field of table.indexes) by[field] = (options) => scan(view().entries(name, field), options);
  return {
    row: (key: string) => rowReader(table, (field) => shown(view().read(name, key, field), site)),
    has: (key: string) => view().has(name, key),
    keys: (options?: ScanOptions) => scan(keyEntries(name, view()), options),
    by,
  };
}

/** As at a site it has its fields from what it inherits from. */
function rowReader({ fields }: Table, read: (field: string) => unknown): object {
  const getters = {};
  for (const field of Object.keys(fields)) {
    Object.defineProperty(getters, field, { enumerable: true, get: () => read(field) });
  }
  return Object.create(Object.freeze(getters)) as object;
}

function shown(value: unknown, site: number | undefined): unknown {
  return isLedger(value) && 'held' in value ? ledgerViewAt(value, site) : handedOut(value);
}

const keyEntries = (table: string, view: ModelView): readonly ModelEntry[] =>
  view.keys(table).map((key) => ({ value: key, key }));

function scan(entries: readonly ModelEntry[], options: ScanOptions = {}): readonly string[] {
  const { equals, prefix, from, before, limit = Infinity, reverse = false } = options;
  if (limit !== Infinity && !(Number.isInteger(limit) && limit >= 0)) throw new Error(`no limit: ${limit}`);
  const found = entries.filter(
    ({ value }) =>
      (equals === undefined || value === equals) &&
      (prefix === undefined || (typeof value === 'string' && value.startsWith(prefix))) &&
      (from === undefined || compare(value, from) >= 0) &&
      (before === undefined || compare(value, before) < 0),
  );
  const keys = (reverse ? found.toReversed() : found).map(({ key }) => key);
  return [...new Set(keys)].slice(0, limit);
}
