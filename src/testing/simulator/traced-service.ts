/**
 * Records what generators read from tables. If a second run reads less, the generator depends on
 * other state.
 */
import { formatThrown } from '../../server/service/records/failures.ts';
import { freezeFunctions } from '../../values/deep-freeze.ts';
import type { ScanOptions } from '../../server/service/records/read-range.ts';
import type { TableReader } from '../../server/service/readers.ts';
import { ThrownDomainError } from '../../server/service/domain-errors.ts';
import type { AnyGenerator, Service } from '../../server/service/service.ts';
import type { Fields, Table } from '../../server/service/tables.ts';

type Context = Parameters<AnyGenerator>[1];
type Reader = TableReader<Fields, string>;
type Readers = Readonly<Record<string, Reader>>;
type NoteLookup = (description: string) => void;

/** The service, and what the last run of one of its generators has requested or thrown. */
export class TracedService {
  readonly service: Service;
  #lookups = new Set<string>();
  #thrown: string | undefined;

  constructor(service: Service) {
    const note: NoteLookup = (description) => this.#lookups.add(description);
    const looks = Object.entries(service.tables).map(
      ([name, table]) => [name, traceTable(name, table, note)] as const,
    );
    const tablesOf = memoizeByTables((real: Readers): Readers =>
      Object.freeze(
        Object.fromEntries(looks.map(([name, look]) => [name, look(real[name] as Reader)])),
      ),
    );
    const run = (generator: () => unknown): unknown => {
      this.#lookups = new Set();
      this.#thrown = undefined;
      try {
        return generator();
      } catch (error) {
        if (!(error instanceof ThrownDomainError)) this.#thrown = formatThrown(error);
        throw error;
      }
    };
    const traced = ([name, generator]: [string, AnyGenerator]): [string, AnyGenerator] => [
      name,
      function (this: unknown, args, context) {
        return run(() => generator.call(this, args, createTracedContext(context, tablesOf)));
      },
    ];
    this.service = {
      ...service,
      generators: Object.fromEntries(Object.entries(service.generators).map(traced)),
    };
  }

  /** Each lookup once, because a generator that knows the result of a read need not repeat it. */
  readonly lookups = (): readonly string[] => [...this.#lookups];
  /** Returns what the last run has thrown, unless it was an error of its domain. */
  readonly thrown = (): string | undefined => this.#thrown;
}

/**
 * Returns one result for the same tables, as at a site. So a generator finds state again that it
 * keeps by the tables.
 */
function memoizeByTables(make: (real: Readers) => Readers): (real: Readers) => Readers {
  const made = new WeakMap<Readers, Readers>();
  return (real) => {
    const known = made.get(real) ?? make(real);
    made.set(real, known);
    return known;
  };
}

/** Returns a table of this run that records all reads. */
function traceTable(name: string, table: Table, tell: NoteLookup): (real: Reader) => Reader {
  const note = (description: string, options: ScanOptions = {}): void => {
    const { equals, prefix, from, before, limit, reverse } = options;
    const value = { equals, prefix, from, before, limit, reverse };
    tell(`${name}.${description} ${Object.entries(value).flatMap(formatOption).join(' ')}`.trim());
  };
  const noteField = (field: string, key: string): void =>
    tell(`${name}.${field} of ${formatKey(key)}`);
  return (real) => {
    const traced: Reader = {
      row: (key) =>
        new Proxy(real.row(key), {
          get: (row, field) => {
            if (Object.hasOwn(table.fields, field)) noteField(String(field), key);
            return Reflect.get(row, field, row);
          },
        }),
      has: (key) => {
        note(`has ${formatKey(key)}`);
        return real.has(key);
      },
      keys: (options) => {
        note('keys', options);
        return real.keys(options);
      },
      by: freezeFunctions(
        Object.fromEntries(
          table.indexes.map((field) => [
            field,
            (options?: ScanOptions<never>) => {
              note(`by.${field}`, options);
              return real.by[field]?.(options);
            },
          ]),
        ),
      ) as Reader['by'],
    };
    return freezeFunctions(traced);
  };
}

/** Never throws, for any option. */
function formatOption([name, value]: [string, unknown]): string[] {
  return value === undefined ? [] : [`${name} ${formatKey(value)}`];
}

function formatKey(value: unknown): string {
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}

/**
 * Everything else is unchanged, including what is inherited. A context has no enumerable properties
 * that could be copied.
 */
function createTracedContext(value: Context, tablesOf: (real: Readers) => Readers): Context {
  const tables = tablesOf(value.tables as unknown as Readers);
  return new Proxy(value, {
    get: (context, name) =>
      name === 'tables' ? tables : (Reflect.get(context, name, context) as unknown),
  });
}
