/**
 * Binding to any storage that answers each consistency level by a function of its own: a primary and its backups, a
 * cache in front of an origin (Correctables, OSDI 2016, §5.1, Listing 7; three tiers in §4.4).
 */
import type { Binding, InvocationContext, Sink } from '../../correctable/binding.ts';
import { bindMethods } from '../../correctable/binding.ts';
import { check, CorrectableError } from '../../correctable/errors.ts';
import { checkKinds, checkNamed, checkRecord, type NamesOf } from '../../correctable/given.ts';
import type { Levels } from '../../correctable/level.ts';
import type { Operation } from '../../correctable/operation.ts';
import { Run, type Mode } from './run.ts';
import type { Tier } from './tier.ts';

/** For each level, the function that answers at it. Updates go to that of the strongest level only, once. */
export type Tiers<L extends Levels> = Readonly<Record<L[number], Tier>>;

/** What `levels` can be told beside the levels and their functions. */
export interface LevelsOptions {
  /**
   * How the tiers of a read are asked. `'parallel'` (default): all at once, so that a slow or hanging backup delays
   * nothing. `'sequential'`: the next one after the weaker one has answered, as in Listing 7; spares the primary when
   * the caller leaves early.
   */
  readonly mode?: Mode;
  /** Whether the tiers can execute an operation; all of them unless given. */
  readonly supports?: (operation: Operation) => boolean;
  /** Named in messages; `'levels'` or `'primary-backup'`, as it was made by, unless given. */
  readonly name?: string;
  /** Called once by `close()`, to release pools and sockets. */
  readonly close?: () => void | PromiseLike<void>;
}

/** What `primaryBackup` is made from. */
export interface PrimaryBackupOptions<L extends Levels> extends LevelsOptions {
  /** The levels, weakest first. */
  readonly levels: L;
  readonly tiers: Tiers<L>;
}

/**
 * A binding whose levels are functions: the names of the levels, weakest first, and what answers at each of them.
 *
 * A tier that throws fails its level only, while a stronger one is pending; a tier that returns `noAnswer` is skipped.
 * Where the strongest fails, weaker ones that are still under way are heard first, for 1,000 ms at most.
 * The names are in a list of their own because the order of an object's keys says nothing to the compiler, and tools that
 * sort keys would make the cache the strongest level, which gets the updates.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` where levels and tiers do not fit together
 * @example
 * const pages = createClient(
 *   levels(['cache', 'origin'], {
 *     cache: ({ key }, { signal }) => askCache(key, signal),
 *     origin: ({ key }, { signal }) => askOrigin(key, signal),
 *   }),
 * );
 * for await (const view of pages.invoke(get('page:1'))) show(view.value, view.level);
 */
export function levels<const L extends Levels>(names: L, tiers: Tiers<L>, options: LevelsOptions = {}): Binding<L> {
  checkNamed(options, { call: LEVELS_CALL }, OPTIONS);
  const all = { ...options, name: options.name ?? 'levels', levels: names, tiers };
  checkTiers(all, LEVELS_CALL);
  return bindMethods(new PrimaryBackupBinding(all));
}

/**
 * The same by one object, called after the use that the paper makes of it (Listing 7).
 *
 * @throws CorrectableError `INVALID_ARGUMENT` where levels and tiers do not fit together
 * @example
 * const pages = primaryBackup({
 *   levels: ['weak', 'strong'],
 *   tiers: { weak: ({ key }) => queryClosestBackup(key), strong: ({ key }) => queryPrimary(key) },
 * });
 */
export function primaryBackup<const L extends Levels>(options: PrimaryBackupOptions<L>): Binding<L> {
  checkNamed(options, { call: CALL }, { levels: true, tiers: true, ...OPTIONS });
  checkTiers(options, CALL);
  return bindMethods(new PrimaryBackupBinding(options));
}

/** So few are not looked through. */
const RUNS_MIN = 64;

class PrimaryBackupBinding<L extends Levels> implements Binding<L> {
  readonly name: string;
  readonly #options: PrimaryBackupOptions<L>;
  readonly #runs = new Set<Run>();
  /** At how many runs those are let go whose tiers never settle. */
  #sweepAt = RUNS_MIN;
  #closing: Promise<void> | undefined;

  constructor(options: PrimaryBackupOptions<L>) {
    this.name = options.name ?? 'primary-backup';
    this.#options = options;
  }

  consistencyLevels(): L {
    return this.#options.levels;
  }

  supports(operation: Operation): boolean {
    return this.#options.supports?.(operation) ?? true;
  }

  /** Returns what the first tier made by `byContract` does. */
  operationHash(name: string): string | undefined {
    const tiers: readonly Pick<Binding, 'operationHash'>[] = Object.values(this.#options.tiers);
    return tiers.find(({ operationHash }) => operationHash !== undefined)?.operationHash?.(name);
  }

  submitOperation<T>(
    operation: Operation<T>,
    levels: readonly L[number][],
    sink: Sink<T, L[number]>,
    context: InvocationContext,
  ): void {
    const { levels: all, tiers, mode = 'parallel' } = this.#options;
    const run = new Run({ operation, all, requested: levels, tiers, mode, sink: sink as Sink, context });
    if (this.#closing !== undefined) {
      run.stop(this.#closed());
      return;
    }
    if (this.#runs.size >= this.#sweepAt) this.#sweep();
    this.#runs.add(run);
    void run.toEnd().finally(() => this.#runs.delete(run));
  }

  /** Not told by a signal: a tier that answers soon costs none. Each run is looked at a bounded number of times. */
  #sweep(): void {
    for (const run of this.#runs) if (run.isAbandoned) this.#runs.delete(run);
    this.#sweepAt = Math.max(RUNS_MIN, 2 * this.#runs.size);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    for (const run of this.#runs) run.stop(run.isUpdate ? this.#ended() : this.#closed());
    await this.#options.close?.();
  }

  /** For updates under way: their tier has been asked, and goes on. */
  #ended(): CorrectableError {
    const message = `the binding '${this.name}' was closed under the update, which may take effect all the same`;
    return new CorrectableError('UNKNOWN', message);
  }

  #closed(): CorrectableError {
    return new CorrectableError('UNAVAILABLE', `the binding '${this.name}' is closed: make a new client`, {
      retryable: false,
    });
  }
}

const LEVELS_CALL = "levels(['cache', 'origin'], { cache: askCache, origin: askOrigin }, { mode: 'sequential' })";
const CALL = "primaryBackup({ levels: ['weak', 'strong'], tiers: { weak: askBackup, strong: askPrimary } })";

const OPTIONS: NamesOf<LevelsOptions> = { mode: true, supports: true, name: true, close: true };

function checkTiers(options: PrimaryBackupOptions<Levels>, call: string): void {
  const { levels: names, tiers, mode = 'parallel' } = options;
  check(Array.isArray(names) && names.length > 0, 'levels', `name at least one, weakest first: write ${call}`);
  check(new Set(names).size === names.length, 'levels', `name each once, not [${names.join(', ')}]`);
  checkRecord(tiers, { call, field: 'tiers' });
  checkKinds(options, 'function', 'supports', 'close');
  for (const level of names) {
    check(typeof tiers[level] === 'function', `tiers.${level}`, `give a function for the level '${level}'`);
  }
  for (const level of Object.keys(tiers)) {
    check(names.includes(level), `tiers.${level}`, `add '${level}' to the levels, or leave its tier out`);
  }
  const isMode = mode === 'parallel' || mode === 'sequential';
  check(isMode, 'mode', `choose 'parallel' or 'sequential', not '${mode as string}'`);
}
