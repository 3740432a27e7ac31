/** The context that a generator receives. */
import type { Principal } from '../../../correctable/binding.ts';
import type { OperationSpec } from '../../../contract/contract.ts';
import { Random } from '../collections/random.ts';
import type { GeneratorBudget } from './generator-budget.ts';
import type { DomainErrorFactory } from '../domain-errors.ts';
import type { OperationPlan } from '../operation-plan.ts';
import type { Scratchpad, TablesReader } from '../readers.ts';
import type { GeneratorContext } from '../service.ts';
import type { ShadowBuilders, ShadowOperations } from '../shadow-operation.ts';
import type { Tables } from '../tables.ts';

/** The input of a generator run. With the state, it determines the result. */
export interface GeneratorInput {
  /** Unique among the submissions with the same `RunnerContext.name`. */
  readonly serial: number;
  readonly plan: OperationPlan;
  readonly args: unknown;
  /** When the operation was submitted, in milliseconds since the epoch. */
  readonly submittedAtMs: number;
  /** The seed of `random`: an unsigned 32-bit number. */
  readonly seed: number;
  /** The principal for whom it is executed. */
  readonly principal?: Principal | undefined;
}

/** The facts that all runs on one state share. */
export interface RunnerContext {
  /** Names the place where the generators run. Unique over all sites and restarts. */
  readonly name: string;
  readonly tables: TablesReader<Tables>;
  readonly shadow: ShadowBuilders<ShadowOperations>;
  readonly scratchpad: Scratchpad;
  readonly budget: GeneratorBudget;
}

/**
 * The context of one run. Its functions can be destructured. They are created only when they are
 * read.
 */
export class RunContext implements GeneratorContext<Tables, ShadowOperations> {
  readonly #input: GeneratorInput;
  readonly #context: RunnerContext;
  #ids = 0;
  #random: Random | undefined;

  constructor(input: GeneratorInput, world: RunnerContext) {
    this.#input = input;
    this.#context = world;
  }

  static {
    Object.freeze(this.prototype);
  }

  get tables(): TablesReader<Tables> {
    return this.#context.tables;
  }

  get shadow(): ShadowBuilders<ShadowOperations> {
    return this.#context.shadow;
  }

  get scratchpad(): Scratchpad {
    return this.#context.scratchpad;
  }

  get errors(): DomainErrorFactory<OperationSpec> {
    return this.#input.plan.errors;
  }

  get principal(): Principal | undefined {
    return this.#input.principal;
  }

  get now(): number {
    return this.#input.submittedAtMs;
  }

  get uniqueId(): () => string {
    return () => {
      this.#context.budget.step();
      return `${this.#context.name}.${this.#input.serial}.${this.#ids++}`;
    };
  }

  get random(): () => number {
    const random = (this.#random ??= new Random(this.#input.seed));
    return () => {
      this.#context.budget.step();
      return random.fraction();
    };
  }
}
