/** What a generator is given. */
import type { OperationSpec } from '../../protocol/contract/contract.ts';
import type { GeneratorBudget } from './generator-budget.ts';
import type { RefusalBuilders, Refusals } from '../service/refusal.ts';
import type { Scratchpad, TablesReader } from '../service/readers.ts';
import type { GeneratorContext } from '../service/service.ts';
import type { ShadowBuilders, ShadowOperations } from '../service/shadow-operation.ts';
import type { Tables } from '../service/tables.ts';

/** What a generator run is a function of, beside the state. */
export interface GeneratorInput {
  /** Unique to the submission among those with the same `GeneratorWorld.name`. */
  readonly serial: number;
  readonly operation: string;
  readonly args: unknown;
  /** In milliseconds since the epoch. */
  readonly submittedAtMs: number;
  /** Seeds `random`: an unsigned 32-bit number. */
  readonly seed: number;
}

/** What all runs on one state have in common. */
export interface GeneratorWorld {
  /** Where the generators run: unique over all sites and restarts. */
  readonly name: string;
  readonly tables: TablesReader<Tables>;
  readonly shadow: ShadowBuilders<ShadowOperations>;
  readonly scratchpad: Scratchpad;
  readonly budget: GeneratorBudget;
  readonly refusals: Refusals;
}

/** The context of one run. Its functions can be taken out of it, and are made only where they are. */
export class RunContext implements GeneratorContext<Tables, ShadowOperations> {
  readonly #input: GeneratorInput;
  readonly #world: GeneratorWorld;
  #ids = 0;
  #state: number;

  constructor(input: GeneratorInput, world: GeneratorWorld) {
    this.#input = input;
    this.#world = world;
    this.#state = input.seed;
  }

  static {
    Object.freeze(this.prototype);
  }

  get tables(): TablesReader<Tables> {
    return this.#world.tables;
  }

  get shadow(): ShadowBuilders<ShadowOperations> {
    return this.#world.shadow;
  }

  get scratchpad(): Scratchpad {
    return this.#world.scratchpad;
  }

  get errors(): RefusalBuilders<OperationSpec> {
    return this.#world.refusals.of(this.#input.operation);
  }

  get now(): number {
    return this.#input.submittedAtMs;
  }

  get uniqueId(): () => string {
    return () => {
      this.#world.budget.step();
      return `${this.#world.name}.${this.#input.serial}.${this.#ids++}`;
    };
  }

  get random(): () => number {
    return () => {
      this.#world.budget.step();
      this.#state = (this.#state + 0x6d2b79f5) >>> 0;
      return mixed(this.#state) / 2 ** 32;
    };
  }
}

/** The output function of the Mulberry generator: an unsigned 32-bit number. */
function mixed(state: number): number {
  let bits = Math.imul(state ^ (state >>> 15), state | 1);
  bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
  return (bits ^ (bits >>> 14)) >>> 0;
}
