/** Arguments of operations: by what the author draws, or by the contract's schema; always such as the contract takes. */
import { check, CorrectableError, isCorrectableError } from '../../../correctable/errors.ts';
import { inputSchemaOf } from '../../../protocol/contract/json-schema.ts';
import type { JsonSchema } from '../../../protocol/contract/json-schema.ts';
import { parseBy } from '../../../protocol/contract/parse-args.ts';
import type { ContractInfo } from '../../../protocol/contract/contract.ts';
import { copied } from './copied.ts';
import { drawFrom } from './draw.ts';
import type { Arbitraries } from './draw.ts';
import { drawValue } from './schema-values.ts';
import type { ValueSource } from './schema-values.ts';

/** Times that arguments are drawn anew where the contract refuses them. */
const REFUSED_MAX = 20;

/** What is needed of a contract. */
type Described = Pick<ContractInfo, 'name' | 'operations'>;

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
   * What a client may give, boxed; nothing where none of so many fit.
   *
   * @throws CorrectableError `INVALID_ARGUMENT` where what the author wrote threw
   */
  draw(operation: string, own: string, source: ValueSource): { readonly args: unknown } | undefined {
    const given = Object.hasOwn(this.#arbitraries, operation) ? this.#arbitraries[operation] : undefined;
    for (let times = 0; times < REFUSED_MAX; times += 1) {
      const args =
        given === undefined
          ? drawValue(this.#schemaOf(operation), operation, source)
          : authored(operation, () => given(drawFrom(source.random, own)));
      // What an author draws may be one object that he changes each time.
      if (this.takes(operation, args)) return { args: copied(args) };
    }
    return undefined;
  }

  /** Whether the contract takes these arguments. */
  takes(operation: string, args: unknown): boolean {
    try {
      this.parsed(operation, args);
      return true;
    } catch (error) {
      if (isCorrectableError(error)) return false;
      throw error;
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
    throw new CorrectableError('INVALID_ARGUMENT', `${field} threw; see cause`, { field, cause });
  }
}
