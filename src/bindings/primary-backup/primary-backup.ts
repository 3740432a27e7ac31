/**
 * Binding to any storage that answers each consistency level by a function of its own: a primary and its backups, a
 * cache in front of an origin (Correctables, OSDI 2016, §5.1, Listing 7; three tiers in §4.4).
 */
import type { Binding, InvocationContext, Sink } from '../../correctable/binding.ts';
import { CorrectableError } from '../../correctable/errors.ts';
import { checkKinds, checkNamed, checkRecord, type NamesOf } from '../../correctable/given.ts';
import type { Levels } from '../../correctable/level.ts';
import type { Operation } from '../../correctable/operation.ts';
import { Run, type Mode } from './run.ts';
import type { Tier } from './tier.ts';

/** What `primaryBackup` is made from. */
export interface PrimaryBackupOptions<L extends Levels> {
  /** The levels, weakest first. */
  readonly levels: L;
  /** For each level, the function that answers at it. Updates go to that of the strongest level only, once. */
  readonly tiers: Readonly<Record<L[number], Tier>>;
  /**
   * How the tiers of a read are asked. `'parallel'` (default): all at once, so that a slow or hanging backup delays
   * nothing. `'sequential'`: the next one after the weaker one has answered, as in Listing 7; spares the primary when
   * the caller leaves early.
   */
  readonly mode?: Mode;
  /** Whether the tiers can execute an operation; all of them unless given. */
  readonly supports?: (operation: Operation) => boolean;
  /** Named in messages; `'primary-backup'` unless given. */
  readonly name?: string;
  /** Called once by `close()`, to release pools and sockets. */
  readonly close?: () => void | PromiseLike<void>;
}

/**
 * A binding whose levels are functions.
 *
 * A tier that throws fails its level only, while a stronger one is pending; a tier that returns `noAnswer` is skipped.
 * Throws `INVALID_ARGUMENT` where levels and tiers do not fit together.
 *
 * @example
 * const pages = createClient(
 *   primaryBackup({
 *     levels: ['weak', 'strong'],
 *     tiers: {
 *       weak: ({ key }, { signal }) => queryClosestBackup(key, signal),
 *       strong: ({ key }, { signal }) => queryPrimary(key, signal),
 *     },
 *   }),
 * );
 * for await (const view of pages.invoke(get('page:1'))) show(view.value, view.level);
 */
export function primaryBackup<const L extends Levels>(options: PrimaryBackupOptions<L>): Binding<L> {
  checkOptions(options);
  return new PrimaryBackupBinding(options);
}

class PrimaryBackupBinding<L extends Levels> implements Binding<L> {
  readonly name: string;
  readonly #options: PrimaryBackupOptions<L>;
  readonly #runs = new Set<Run>();
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
    this.#runs.add(run);
    void run.toEnd().finally(() => this.#runs.delete(run));
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

const CALL = "primaryBackup({ levels: ['weak', 'strong'], tiers: { weak: askBackup, strong: askPrimary } })";

const OPTIONS: NamesOf<PrimaryBackupOptions<Levels>> = {
  levels: true,
  tiers: true,
  mode: true,
  supports: true,
  name: true,
  close: true,
};

function checkOptions(options: PrimaryBackupOptions<Levels>): void {
  checkNamed(options, { call: CALL }, OPTIONS);
  const { levels, tiers, mode = 'parallel' } = options;
  const refuse = (field: string, message: string): never => {
    throw new CorrectableError('INVALID_ARGUMENT', `primaryBackup: ${message}`, { field });
  };
  if (!Array.isArray(levels) || levels.length === 0) refuse('levels', 'name at least one level, weakest first');
  if (new Set(levels).size !== levels.length) refuse('levels', `name each level once, not [${levels.join(', ')}]`);
  checkRecord(tiers, { call: CALL, field: 'tiers' });
  checkKinds(options, 'function', 'supports', 'close');
  for (const level of levels) {
    if (typeof tiers[level] !== 'function') refuse(`tiers.${level}`, `give a function for the level '${level}'`);
  }
  for (const level of Object.keys(tiers)) {
    if (!levels.includes(level)) refuse(`tiers.${level}`, `add '${level}' to levels, or leave its tier out`);
  }
  if (mode !== 'parallel' && mode !== 'sequential')
    refuse('mode', `choose 'parallel' or 'sequential', not '${String(mode)}'`);
}
