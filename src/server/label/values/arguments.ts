/** Arguments of operations: by what the author draws, or by the contract's schema; always such as the contract takes. */
import { CorrectableError, check } from '../../../correctable/errors.ts';
import { inputSchemaOf, type JsonSchema } from '../../../protocol/contract/json-schema.ts';
import { parseBy } from '../../../protocol/contract/parse-args.ts';
import { parseNow } from '../../../protocol/contract/parse-now.ts';
import type { ContractInfo } from '../../../protocol/contract/contract.ts';
import { textOf } from '../../records/failure.ts';
import { copied } from '../../../values/copy.ts';
import { drawValue, type ValueSource } from './schema-values.ts';
import type { Random } from '../../collections/random.ts';

/** What an operation is drawn by: all from the seed of the run, so that a run can be repeated. */
export interface Draw {
  /** One of the choices. */
  readonly pick: <const C extends readonly [unknown, ...unknown[]]>(choices: C) => C[number];
  /** A whole number from `min` to `max`. */
  readonly between: (min: number, max: number) => number;
  /** True that often, from 0 to 1. */
  readonly chance: (probability: number) => boolean;
  /** A text that no other operation of the run gets. */
  readonly own: string;
}

/** A draw for one operation. */
export function drawFrom(random: Random, own: string): Draw {
  return {
    pick: <const C extends readonly [unknown, ...unknown[]]>(choices: C): C[number] => random.pick(choices),
    between: (min, max) => random.between(min, max),
    chance: (probability) => random.chance(probability),
    own,
  };
}

/** How arguments of operations are drawn, where their schemas alone would not do. */
export type Arbitraries = Readonly<Record<string, (draw: Draw) => unknown>>;

/** Times that arguments are drawn anew where the contract refuses them. */
const REFUSED_MAX = 20;

/** What is needed of a contract. */
type Described = Pick<ContractInfo, 'name' | 'operations'>;

/** What was drawn. */
export interface DrawnArgs {
  /** As a client gives them. */
  readonly args: unknown;
  /** What the contract made of them when it was asked: for one run of the generator, which may change it. */
  readonly parsed: unknown;
}

/** Draws arguments of one contract. */
export class Arguments {
  readonly #contract: Described;
  readonly #arbitraries: Arbitraries;
  readonly #schemas = new Map<string, JsonSchema>();

  /** @throws CorrectableError `INVALID_ARGUMENT` naming the arbitrary that belongs to no operation, or is no function */
  constructor(contract: Described, arbitraries: Arbitraries = {}) {
    for (const [name, draw] of Object.entries(arbitraries)) {
      const field = `arbitraries.${name}`;
      check(Object.hasOwn(contract.operations, name), field, `is of no operation of '${contract.name}'`);
      check(typeof draw === 'function', field, 'must be a function, as ({ pick }) => ({ account: pick([…]) })');
    }
    this.#contract = contract;
    this.#arbitraries = arbitraries;
  }

  /**
   * What a client may give; nothing where none of so many fit.
   *
   * @throws CorrectableError `INVALID_ARGUMENT` where what the author wrote threw
   */
  draw(operation: string, own: string, source: ValueSource): DrawnArgs | undefined {
    const given = Object.hasOwn(this.#arbitraries, operation) ? this.#arbitraries[operation] : undefined;
    for (let times = 0; times < REFUSED_MAX; times += 1) {
      const args =
        given === undefined
          ? drawValue(this.#schemaOf(operation), operation, source)
          : authored(operation, () => given(drawFrom(source.random, own)));
      const taken = this.#taken(operation, args);
      // What an author draws may be one object that he changes each time.
      if (taken !== undefined) return { args: copied(args), parsed: taken.parsed };
    }
    return undefined;
  }

  /** Whether the contract takes these arguments. */
  takes(operation: string, args: unknown): boolean {
    return this.#taken(operation, args) !== undefined;
  }

  /** What the contract makes of these arguments, if it takes them: why it does not, nobody asks, and it takes long to say. */
  #taken(operation: string, args: unknown): { readonly parsed: unknown } | undefined {
    const spec = this.#contract.operations[operation];
    if (spec === undefined) return undefined;
    try {
      const result = parseNow(spec.args, copied(args));
      return result.success ? { parsed: result.data } : undefined;
    } catch {
      // The schema threw, or answers later.
      return undefined;
    }
  }

  /** What a generator gets: each time another object. @throws CorrectableError as `parseBy` */
  parsed(operation: string, args: unknown): unknown {
    const spec = this.#contract.operations[operation];
    if (spec === undefined) throw new CorrectableError('UNSUPPORTED', `No operation '${operation}'.`);
    return parseBy(spec.args, copied(args), operation);
  }

  #schemaOf(operation: string): JsonSchema {
    let schema = this.#schemas.get(operation);
    if (schema === undefined) {
      const spec = this.#contract.operations[operation];
      schema = spec === undefined ? {} : inputSchemaOf(spec.args);
      this.#schemas.set(operation, schema);
    }
    return schema;
  }
}

function authored(operation: string, draw: () => unknown): unknown {
  try {
    return draw();
  } catch (cause) {
    const field = `arbitraries.${operation}`;
    throw new CorrectableError('INVALID_ARGUMENT', `${field} threw: ${textOf(cause)}`, { field, cause });
  }
}
