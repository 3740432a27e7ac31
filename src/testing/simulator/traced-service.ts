/**
 * A service whose generators note what they ask of the tables. Who asks for less, run again on the same, goes by something
 * that they do not hold; what came of both runs need not say so, since sites and model run the same functions.
 */
import type { ScanOptions } from '../../server/records/key-range.ts';
import type { TableReader } from '../../server/service/readers.ts';
import type { AnyGenerator, Service } from '../../server/service/service.ts';
import type { Fields, Table } from '../../server/service/tables.ts';
import { textOf } from './oracle/execute.ts';

type Context = Parameters<AnyGenerator>[1];
type Reader = TableReader<Fields, string>;
/** A table as this run has it, seen through by what notes. */
type Look = (real: Reader) => Reader;

/** The service, and what the last run of one of its generators has asked. */
export class TracedService {
  readonly service: Service;
  #asked: string[] = [];

  constructor(service: Service) {
    const looks = Object.entries(service.tables).map(([name, table]) => [name, this.#lookAt(name, table)] as const);
    const traced = ([name, generator]: [string, AnyGenerator]): [string, AnyGenerator] => [
      name,
      (args, context) => {
        this.#asked = [];
        return generator(args, new TracedContext(context, looks) as never);
      },
    ];
    this.service = { ...service, generators: Object.fromEntries(Object.entries(service.generators).map(traced)) };
  }

  /** In its order. */
  readonly asked = (): readonly string[] => this.#asked;

  #lookAt(name: string, table: Table): Look {
    const note = (what: string, given?: unknown): void => {
      this.#asked.push(given === undefined ? `${name}.${what}` : `${name}.${what} ${textOf(given)}`);
    };
    const Row = rowOf(table, note);
    return (real) => ({
      row: (key) => new Row(real, key) as never,
      has: (key) => {
        note('has', key);
        return real.has(key);
      },
      keys: (options) => {
        note('keys', options);
        return real.keys(options);
      },
      by: Object.fromEntries(
        table.indexes.map((field) => [
          field,
          (options?: ScanOptions<never>) => {
            note(`by.${field}`, options);
            return real.by[field]?.(options);
          },
        ]),
      ) as Reader['by'],
    });
  }
}

/** As a site makes it: fields are read when they are asked for, and are none of the row's own. */
function rowOf({ fields }: Table, note: (what: string, given: unknown) => void) {
  class Row {
    readonly #real: Reader;
    readonly #key: string;
    constructor(real: Reader, key: string) {
      this.#real = real;
      this.#key = key;
    }
    static {
      for (const field of Object.keys(fields)) {
        const get = function (this: Row): unknown {
          note(field, this.#key);
          return this.#real.row(this.#key)[field];
        };
        Object.defineProperty(this.prototype, field, { enumerable: true, get });
      }
    }
  }
  return Row;
}

/** All else is as it was given. */
class TracedContext {
  readonly tables: Readonly<Record<string, Reader>>;
  readonly #given: Context;

  constructor(given: Context, looks: readonly (readonly [string, Look])[]) {
    this.#given = given;
    const real = given.tables as unknown as Readonly<Record<string, Reader>>;
    this.tables = Object.fromEntries(looks.map(([name, look]) => [name, look(real[name] as Reader)]));
  }

  get shadow(): Context['shadow'] {
    return this.#given.shadow;
  }

  get scratchpad(): Context['scratchpad'] {
    return this.#given.scratchpad;
  }

  get errors(): Context['errors'] {
    return this.#given.errors;
  }

  get now(): number {
    return this.#given.now;
  }

  get uniqueId(): () => string {
    return this.#given.uniqueId;
  }

  get random(): () => number {
    return this.#given.random;
  }
}
