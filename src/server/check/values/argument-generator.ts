/**
 * Draws arguments of operations by an author's function, or by the contract's schema. The contract
 * accepts all of them.
 */
import { CorrectableError, check } from '../../../correctable/errors.ts';
import { toInputJsonSchema, type JsonSchema } from '../../../contract/json-schema.ts';
import { parseArgsWith } from '../../../contract/operation-registry.ts';
import { parseSync } from '../../../contract/parse-sync.ts';
import type { ContractInfo } from '../../../contract/contract.ts';
import { formatThrown } from '../../service/records/failures.ts';
import { deepCopy } from '../../../values/deep-copy.ts';
import { drawValue, type ValueSource } from './value-generator.ts';
import { Random } from '../../service/collections/random.ts';

/**
 * Random choices for an operation. All come from the seed of the run, so that a run can be
 * repeated.
 */
export interface DrawContext {
  /** Returns one of the choices. */
  readonly pick: <const C extends readonly [unknown, ...unknown[]]>(choices: C) => C[number];
  /** Returns an integer from `min` to `max`. */
  readonly between: (min: number, max: number) => number;
  /** Returns `true` with this probability, from 0 to 1. */
  readonly chance: (probability: number) => boolean;
  /** Returns a string that no other operation of the run gets. */
  readonly unique: string;
}

export function createDrawContext(random: Random, unique: string): DrawContext {
  return {
    pick: <const C extends readonly [unknown, ...unknown[]]>(choices: C): C[number] =>
      random.pick(choices),
    between: (min, max) => random.between(min, max),
    chance: (probability) => random.chance(probability),
    unique,
  };
}

/** Functions that draw arguments of operations, by name, if their schemas alone are not enough. */
export type Arbitraries = Readonly<Record<string, (draw: DrawContext) => unknown>>;

/** How often arguments are drawn again if the contract rejects them. */
const MAX_ARG_RETRIES = 20;

type ContractOperations = ContractInfo;

export interface GeneratedArgs {
  /** The arguments, as a client sends them. */
  readonly args: unknown;
  /** The parsed arguments, for one run of the generator, which may change them. */
  readonly parsed: unknown;
}

export class ArgumentGenerator {
  readonly #contract: ContractOperations;
  readonly #arbitraries: Arbitraries;
  readonly #schemas = new Map<string, JsonSchema>();
  /**
   * The explanation for each operation for which no arguments were found. Kept, because each run
   * needs one.
   */
  readonly #missing = new Map<string, string>();

  /**
   * @throws CorrectableError `INVALID_ARGUMENT` naming an arbitrary of an unknown operation, or one
   * that is not a function
   */
  constructor(contract: ContractOperations, arbitraries: Arbitraries = {}) {
    for (const [name, draw] of Object.entries(arbitraries)) {
      const field = `arbitraries.${name}`;
      check(
        Object.hasOwn(contract.operations, name),
        field,
        `is of no operation of '${contract.name}'`,
      );
      check(
        typeof draw === 'function',
        field,
        'must be a function, as ({ pick }) => ({ account: pick([…]) })',
      );
    }
    this.#contract = contract;
    this.#arbitraries = arbitraries;
  }

  /**
   * Returns arguments that a client may send, if any are found. @throws CorrectableError
   * `INVALID_ARGUMENT` if the author's code threw
   */
  draw(operation: string, own: string, source: ValueSource): GeneratedArgs | undefined {
    const value = Object.hasOwn(this.#arbitraries, operation)
      ? this.#arbitraries[operation]
      : undefined;
    for (let times = 0; times < MAX_ARG_RETRIES; times += 1) {
      const args =
        value === undefined
          ? drawValue(this.#getSchema(operation), operation, source)
          : drawByAuthor(operation, () => value(createDrawContext(source.random, own)));
      const taken = this.#tryParse(operation, args);
      // Copy the arguments: the author's function may change and return the same object each time.
      if (taken !== undefined) return { args: deepCopy(args), parsed: taken.parsed };
    }
    return undefined;
  }

  /**
   * Describes an operation for which no arguments were found, and what its author can do: export
   * functions that draw them.
   */
  describeMissing(operation: string): string {
    let problem = this.#missing.get(operation);
    if (problem === undefined) this.#missing.set(operation, (problem = this.#explain(operation)));
    return problem;
  }

  #explain(operation: string): string {
    if (Object.hasOwn(this.#arbitraries, operation))
      return `its contract refuses all that arbitraries.${operation} draws: ${this.#describeRefusal(operation)}`;
    const { properties = {} } = this.#getSchema(operation) as {
      properties?: object;
    };
    const names = Object.keys(properties);
    const fields = names.map((name) => `${name}: pick([…])`).join(', ');
    const drawn = names.length === 0 ? 'pick([…])' : `({ ${fields} })`;
    return (
      'no arguments were drawn that its contract takes. Give arbitraries that draw them: ' +
      `export const arbitraries = { ${operation}: ({ pick }) => ${drawn} }`
    );
  }

  #describeRefusal(operation: string): string {
    try {
      const draw = this.#arbitraries[operation] as Arbitraries[string];
      this.parse(operation, draw(createDrawContext(new Random(0), 'n1')));
      return 'draw others';
    } catch (error) {
      return formatThrown(error);
    }
  }

  /** Returns whether the contract accepts these arguments. */
  accepts(operation: string, args: unknown): boolean {
    return this.#tryParse(operation, args) !== undefined;
  }

  /**
   * Parses arguments by the contract. Returns `undefined` without a reason, which takes long to
   * format.
   */
  #tryParse(operation: string, args: unknown): { readonly parsed: unknown } | undefined {
    const spec = this.#contract.operations[operation];
    if (spec === undefined) return undefined;
    try {
      const result = parseSync(spec.args, deepCopy(args));
      return result.success ? { parsed: result.data } : undefined;
    } catch {
      // The schema threw, or is asynchronous.
      return undefined;
    }
  }

  /**
   * Parses arguments for a generator, into a new object each time. @throws CorrectableError as
   * `parseArgsWith`
   */
  parse(operation: string, args: unknown): unknown {
    const spec = this.#contract.operations[operation];
    if (spec === undefined)
      throw new CorrectableError('UNSUPPORTED', `No operation '${operation}'.`);
    return parseArgsWith(spec.args, deepCopy(args), operation);
  }

  #getSchema(operation: string): JsonSchema {
    let schema = this.#schemas.get(operation);
    if (schema === undefined) {
      const spec = this.#contract.operations[operation];
      schema = spec === undefined ? {} : toInputJsonSchema(spec.args);
      this.#schemas.set(operation, schema);
    }
    return schema;
  }
}

function drawByAuthor(operation: string, draw: () => unknown): unknown {
  try {
    return draw();
  } catch (cause) {
    const field = `arbitraries.${operation}`;
    throw new CorrectableError('INVALID_ARGUMENT', `${field} threw: ${formatThrown(cause)}`, {
      field,
      cause,
    });
  }
}
