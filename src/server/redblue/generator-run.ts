/**
 * Running a generator on a state, noting what it reads (RedBlue, OSDI 2012, §5.1: a generator has no side effects and
 * works on a snapshot).
 */
import { CorrectableError, isCorrectableError } from '../../correctable/errors.ts';
import { fieldName, rowName, tableName } from './read-set.ts';
import { Chosen, replyOf } from './reply.ts';
import type { Choice, Reply } from './reply.ts';
import type { GeneratorContext, Service } from './service.ts';
import type { ShadowOperations } from './shadow-operation.ts';
import type { StateReader } from './store.ts';
import { isRedOnly } from './tables.ts';
import type { Fields, Tables, TablesReader } from './tables.ts';

/** What a generator run is a function of, beside the state. */
export interface GeneratorInput {
  readonly operation: string;
  readonly args: unknown;
  /** When the operation was submitted, in milliseconds since the epoch. */
  readonly now: number;
  /** Unique to the operation over all sites and restarts. */
  readonly uniqueId: string;
  /** Seeds `random`. */
  readonly seed: number;
}

/** What came of it. */
export interface GeneratorOutcome {
  readonly reads: ReadonlySet<string>;
  /** The chosen shadow operation; none for a path that changes nothing. */
  readonly choice: Choice | undefined;
  /** The reply, unless the chosen shadow operation makes it. */
  readonly reply: Reply;
}

/**
 * Runs generators of one service on one state.
 *
 * Readers are made once and kept: a run costs no more than what it reads.
 */
export class GeneratorRunner {
  readonly #service: Service;
  readonly #tables: TablesReader<Tables>;
  #reads = new Set<string>();

  constructor(service: Service, state: StateReader) {
    this.#service = service;
    const note = (name: string): void => void this.#reads.add(name);
    this.#tables = tablesReader(service.tables, state, note);
  }

  /**
   * Runs the generator of an operation.
   *
   * @throws CorrectableError what the generator threw, as `FINAL_FAILED` unless it is one already.
   */
  run(input: GeneratorInput): GeneratorOutcome {
    this.#reads = new Set();
    const returned = this.#call(input);
    if (!(returned instanceof Chosen)) return { reads: this.#reads, choice: undefined, reply: replyOf(returned) };
    const { choice } = returned;
    if (choice.colour === 'blue') this.#checkBlue(choice);
    return { reads: this.#reads, choice, reply: replyOf(choice.reply) };
  }

  #call(input: GeneratorInput): unknown {
    const generator = this.#service.generators[input.operation];
    if (generator === undefined) throw new CorrectableError('UNSUPPORTED', `No operation '${input.operation}' here.`);
    try {
      return generator(input.args, this.#contextOf(input));
    } catch (error) {
      if (isCorrectableError(error)) throw error;
      const message = `The generator of '${input.operation}' threw: ${String(error)}. Nothing was changed.`;
      throw new CorrectableError('FINAL_FAILED', message, { cause: error });
    }
  }

  #contextOf(input: GeneratorInput): GeneratorContext<Tables, ShadowOperations> {
    let ids = 0;
    let state = input.seed;
    return {
      tables: this.#tables,
      shadow: this.#service.shadowBuilders,
      now: input.now,
      uniqueId: () => `${input.uniqueId}.${ids++}`,
      random: () => mixed((state = (state + 0x6d2b79f5) >>> 0)) / 2 ** 32,
    };
  }

  #checkBlue({ shadow, effects }: Choice): void {
    const offender = effects.find((effect) => isRedOnly(this.#service.tables, effect));
    if (offender === undefined) return;
    const field = `${offender.table}.${offender.field}`;
    const message = `'${shadow}' is blue but changes ${field}, which only red ones may. Make it red().`;
    throw new CorrectableError('INVALID_ARGUMENT', message, { field });
  }
}

/** The output function of the Mulberry generator: an unsigned 32-bit number. */
function mixed(state: number): number {
  let bits = Math.imul(state ^ (state >>> 15), state | 1);
  bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
  return (bits ^ (bits >>> 14)) >>> 0;
}

/** Typed readers of all tables; `note` gets the name of everything that is read. */
export function tablesReader(tables: Tables, state: StateReader, note: (name: string) => void): TablesReader<Tables> {
  const readers: Record<string, TablesReader<Tables>[string]> = {};
  for (const [table, { fields }] of Object.entries(tables)) {
    const rowOf = rowReader(table, fields, state, note);
    readers[table] = {
      row: rowOf,
      has: (key) => {
        note(rowName(table, key));
        return state.has(table, key);
      },
      keys: ({ prefix = '', limit = Infinity } = {}) => {
        note(tableName(table));
        return [...state.keys(table)]
          .filter((key) => key.startsWith(prefix))
          .toSorted()
          .slice(0, limit);
      },
    };
  }
  return readers;
}

type RowFactory = (key: string) => Readonly<Record<string, unknown>>;

function rowReader(table: string, fields: Fields, state: StateReader, note: (name: string) => void): RowFactory {
  class Row {
    readonly #key: string;
    constructor(key: string) {
      this.#key = key;
    }
    static {
      for (const field of Object.keys(fields)) {
        const get = function (this: Row): unknown {
          note(fieldName(table, this.#key, field));
          return state.read(table, this.#key, field);
        };
        Object.defineProperty(this.prototype, field, { enumerable: true, get });
      }
    }
  }
  return (key) => new Row(key) as unknown as Readonly<Record<string, unknown>>;
}
