/**
 * Reads all rows of one site, page by page. A case study has this read beside its transactions: an
 * audit sees what any client can see, and no internal state of the site.
 */
import { createHash } from 'node:crypto';
import type { Operation } from 'correctables';
import { operation } from 'correctables/contract';
import type { Service, Tables } from 'correctables/server';
import * as z from 'zod';
import type { Audit, Store } from './case-study.ts';

/**
 * Rows of one page: so few that reading them stays far below what a generator may take, on a
 * machine that is busy too.
 */
const PAGE_ROWS = 100;
/** How many broken rules are reported. */
const REPORTED_MAX = 20;

/** The operation, for the contract of a study. */
export const auditOperation = operation({
  access: 'read',
  args: z.object({ table: z.string(), after: z.string().nullable() }),
  result: z.object({
    rows: z.int(),
    broken: z.array(z.string()),
    digest: z.string(),
    /** The key to go on after; none at the end of the table. */
    next: z.string().nullable(),
  }),
});

type Place = z.infer<typeof auditOperation.args>;
type Page = z.infer<typeof auditOperation.result>;

/** What a service declares: the tables by name, and what has to hold of their rows. */
interface Declared {
  readonly tables: Tables;
  readonly invariants: Readonly<Record<string, Readonly<Record<string, (row: never) => boolean>>>>;
  readonly bonds?: Readonly<
    Record<string, Readonly<Record<string, (key: string, tables: never) => boolean>>>
  >;
}

/** What is needed of the tables that a generator gets. */
type Readers = Readonly<Record<string, Reader>>;
interface Reader {
  row(key: string): Readonly<Record<string, unknown>>;
  keys(options: { readonly from?: string; readonly limit: number }): readonly string[];
}

/** The generator of the operation, for the service that declares these. */
export function auditPages({
  tables,
  invariants,
  bonds = {},
}: Declared): (place: Place, has: { tables: unknown }) => Page {
  return ({ table, after }, has) => {
    const reader = (has.tables as Readers)[table];
    if (reader === undefined) return { rows: 0, broken: [], digest: '', next: null };
    const found = reader.keys({ limit: PAGE_ROWS + 1, ...(after !== null && { from: after }) });
    const keys = found.filter((key) => key !== after).slice(0, PAGE_ROWS);
    const fields = Object.keys(tables[table]?.fields ?? {});
    const hash = createHash('sha256');
    const broken: string[] = [];
    for (const key of keys) {
      const row = reader.row(key);
      hash.update(JSON.stringify([key, ...fields.map((field) => plain(row[field]))]));
      for (const [name, holds] of Object.entries(invariants[table] ?? {})) {
        if (!holds(row as never)) broken.push(`${table} '${key}' breaks '${name}'`);
      }
      for (const [name, holds] of Object.entries(bonds[table] ?? {})) {
        if (!holds(key, has.tables as never)) broken.push(`${table} '${key}' breaks '${name}'`);
      }
    }
    const next = found.length > PAGE_ROWS ? (keys.at(-1) ?? null) : null;
    return {
      rows: keys.length,
      broken: broken.slice(0, REPORTED_MAX),
      digest: hash.digest('hex'),
      next,
    };
  };
}

/** The `audit` of a study whose service has the operation above, made by `page`. */
export async function auditAll(
  { tables }: Pick<Service, 'tables'>,
  page: (place: Place) => Operation<Page>,
  store: Store,
): Promise<Audit> {
  const hash = createHash('sha256');
  const broken: string[] = [];
  let rows = 0;
  for (const table of Object.keys(tables)) {
    for (let after: string | null | undefined; after !== null;) {
      const found = await store.ask(page({ table, after: after ?? null }));
      rows += found.rows;
      broken.push(...found.broken);
      hash.update(found.digest);
      after = found.next;
    }
  }
  return { rows, broken: broken.slice(0, REPORTED_MAX), digest: hash.digest('hex') };
}

/** A field's value as JSON has it: a set as a list, in the order that all sites have. */
function plain(value: unknown): unknown {
  return value instanceof Set ? [...(value as Set<unknown>)] : (value ?? null);
}
