/**
 * A binding with one function for each level (Correctables, OSDI 2016, §5.1, Listing 7; three tiers
 * in §4.4).
 */
import type {
  Binding,
  BindingSession,
  InvocationContext,
  Sink,
} from '../../correctable/binding.ts';
import { bindMethods } from '../../correctable/binding.ts';
import { check, CorrectableError } from '../../correctable/errors.ts';
import {
  anyValue,
  callback,
  objectWith,
  oneOf,
  optional,
  readOptions,
  type OptionsOf,
  type ResolvedOptions,
} from '../../correctable/options.ts';
import { checkRecord } from '../../correctable/validate.ts';
import type { Levels } from '../../correctable/level-types.ts';
import type { Operation } from '../../correctable/operation.ts';
import type { VersionSessions } from './sessions/version-sessions.ts';
import { TieredRun, type TierErrorHandler, type TierMode, type TierView } from './tiered-run.ts';
import type { Tier } from './tier.ts';

/**
 * The function that answers at each level. A write calls only that of the strongest level, once.
 */
export type Tiers<L extends Levels> = Readonly<Record<L[number], Tier>>;

/** Options of `tiered`. */
export interface TieredOptions {
  /**
   * How a read calls its tiers. `'parallel'` calls all at once, so that a slow or hanging tier
   * delays no other. `'sequential'` calls the next tier after the weaker one has answered, as in
   * Listing 7, and spares the strongest tier when the caller cancels early. Default: `parallel`, or
   * `sequential` with `freshEnough`.
   */
  readonly mode?: TierMode | undefined;
  /**
   * Returns whether a view of a weaker tier is enough for a read. Then it is the final view, at its
   * own level, and stronger tiers are not called. A read of the strongest level alone, as by
   * `invokeStrong`, is not affected. Default: only the strongest tier is enough
   */
  readonly freshEnough?: ((view: TierView, operation: Operation) => boolean) | undefined;
  /**
   * Sessions by the versions that tiers return, made by `versionSessions`. Default: the binding has
   * no sessions
   */
  readonly sessions?: VersionSessions | undefined;
  /** Returns whether the tiers can execute an operation. Default: they can execute all of them. */
  readonly supports?: ((operation: Operation) => boolean) | undefined;
  /** The name in error messages. Default: `tiered`. */
  readonly name?: string | undefined;
  /** Called once by `close()`, to release pools and sockets. */
  readonly close?: (() => void | PromiseLike<void>) | undefined;
  /**
   * Called with each error that a tier throws, unless its caller has left. Default:
   * `console.error`, except for refusals: `INVALID_ARGUMENT`, `UNAUTHENTICATED`, `FORBIDDEN`,
   * `CONFLICT` and `DOMAIN`.
   */
  readonly onError?: TierErrorHandler | undefined;
}

interface TieredSetup<L extends Levels> extends ResolvedOptions<
  TieredOptions,
  typeof TIERED_OPTIONS
> {
  readonly levels: L;
  readonly tiers: Tiers<L>;
}

/**
 * Creates a binding whose levels are functions, such as a cache and its origin, or a backup and its
 * primary (Correctables, OSDI 2016, Listing 7). `levels` names the levels, weakest first; `tiers`
 * has one function for each.
 *
 * If a tier throws, only its level fails while a stronger tier is pending. If a tier returns
 * `skipLevel`, its level is left out. If the strongest tier fails, the binding waits up to 1 000 ms
 * for weaker tiers that are pending. Writes go to the strongest tier only.
 *
 * The names are an array because object keys have no order for the compiler. A tool that sorts keys
 * would make the cache the strongest level.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if levels and tiers do not match
 * @example
 * const pages = createClient(
 *   tiered(['cache', 'origin'], {
 *     cache: ({ key }, { signal }) => readCache(key, signal),
 *     origin: ({ key }, { signal }) => fetchOrigin(key, signal),
 *   }),
 * );
 * for await (const view of pages.invoke(get('page:1'))) show(view.value, view.level);
 */
export function tiered<const L extends Levels>(
  levels: L,
  tiers: Tiers<L>,
  options: TieredOptions = {},
): Binding<L> {
  const resolved = readOptions(options, { call: CALL }, TIERED_OPTIONS);
  const setup = { ...resolved, levels, tiers };
  checkTiers(setup, CALL);
  return bindMethods(new TieredBinding(setup));
}

/** With fewer runs than this, there is no sweep. */
const MIN_RUNS_BEFORE_SWEEP = 64;

class TieredBinding<L extends Levels> implements Binding<L> {
  readonly name: string;
  readonly #options: TieredSetup<L>;
  readonly #runs = new Set<TieredRun>();
  /** The number of runs at which the next sweep drops those whose tiers never settle. */
  #sweepAt = MIN_RUNS_BEFORE_SWEEP;
  #closing: Promise<void> | undefined;
  readonly openSession?: (tokens?: readonly string[]) => BindingSession;
  readonly isOlder?: (version: unknown, than: unknown) => boolean;

  constructor(options: TieredSetup<L>) {
    const { name, sessions } = options;
    this.name = name;
    this.#options = options;
    if (sessions === undefined) return;
    this.openSession = (tokens = []) => sessions.open(name, tokens);
    this.isOlder = (version, than) => sessions.isOlder(version, than);
  }

  consistencyLevels(): L {
    return this.#options.levels;
  }

  supports(operation: Operation): boolean {
    return this.#options.supports?.(operation) ?? true;
  }

  /** Returns the hash of the first tier that was made by `createHandler`. */
  operationHash(name: string): string | undefined {
    const tiers: readonly Binding[] = Object.values(this.#options.tiers);
    return tiers.find(({ operationHash }) => operationHash !== undefined)?.operationHash?.(name);
  }

  submitOperation<T>(
    operation: Operation<T>,
    levels: readonly L[number][],
    sink: Sink<T, L[number]>,
    context: InvocationContext,
  ): void {
    const { levels: all, sessions, freshEnough, onError } = this.#options;
    const { mode = freshEnough ? 'sequential' : 'parallel' } = this.#options;
    const { session } = context;
    const tiers =
      session && sessions
        ? sessions.guard(operation, session, all, this.#options.tiers)
        : this.#options.tiers;
    const run = new TieredRun({
      operation,
      levels: all,
      requestedLevels: levels,
      tiers,
      mode,
      freshEnough,
      sink: sink as Sink,
      context,
      name: this.name,
      onError,
    });
    if (this.#closing !== undefined) {
      run.stop(this.#closed());
      return;
    }
    if (this.#runs.size >= this.#sweepAt) this.#sweep();
    this.#runs.add(run);
    void run.runToEnd().finally(() => this.#runs.delete(run));
  }

  /** Checks each run a bounded number of times. A tier that answers soon should cost no signal. */
  #sweep(): void {
    for (const run of this.#runs) if (run.isAbandoned) this.#runs.delete(run);
    this.#sweepAt = Math.max(MIN_RUNS_BEFORE_SWEEP, 2 * this.#runs.size);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    for (const run of this.#runs) run.stop(run.isWrite ? this.#ended() : this.#closed());
    await this.#options.close?.();
  }

  /** Creates the error of writes in flight. Their tier has been called and continues. */
  #ended(): CorrectableError {
    const message = `the binding '${this.name}' was closed under the write, which may take effect all the same`;
    return new CorrectableError('UNKNOWN', message);
  }

  #closed(): CorrectableError {
    return new CorrectableError(
      'UNAVAILABLE',
      `the binding '${this.name}' is closed: make a new client`,
      {
        retryable: false,
      },
    );
  }
}

const CALL =
  "tiered(['cache', 'origin'], { cache: readCache, origin: fetchOrigin }, { mode: 'sequential' })";

export const TIERED_OPTIONS = {
  mode: optional(oneOf('parallel', 'sequential')),
  freshEnough: optional(callback),
  sessions: optional(objectWith(['open', 'guard'], 'versionSessions()')),
  supports: optional(callback),
  name: optional(anyValue, 'tiered'),
  close: optional(callback),
  onError: optional(callback),
} satisfies OptionsOf<TieredOptions>;

function checkTiers(options: TieredSetup<Levels>, call: string): void {
  const { levels: names, tiers } = options;
  check(
    Array.isArray(names) && names.length > 0,
    'levels',
    `name at least one, weakest first: write ${call}`,
  );
  check(
    new Set(names).size === names.length,
    'levels',
    `name each once, not [${names.join(', ')}]`,
  );
  checkRecord(tiers, { call, field: 'tiers' });
  for (const level of names) {
    const isTier =
      typeof tiers[level] === 'function' && tiers[level] !== Object.prototype[level as never];
    check(isTier, `tiers.${level}`, `give a function for the level '${level}'`);
  }
  for (const level of Object.keys(tiers)) {
    check(
      names.includes(level),
      `tiers.${level}`,
      `add '${level}' to the levels, or leave its tier out`,
    );
  }
}
