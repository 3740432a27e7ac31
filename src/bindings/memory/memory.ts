/**
 * A primary-backup store in this process (OSDI 2016, Listing 7). The backup, which lags, answers at
 * weaker levels.
 */
import {
  bindMethods,
  SIGNAL_CHECK_DELAY_MS,
  type Binding,
  type BindingSession,
  type InvocationContext,
  type Sink,
} from '../../correctable/binding.ts';
import { systemClock, type Clock } from '../../correctable/clock.ts';
import { CorrectableError, check } from '../../correctable/errors.ts';
import {
  amount,
  anyValue,
  matches,
  optional,
  readOptions,
  type OptionsOf,
  type ResolvedOptions,
  timeSource,
} from '../../correctable/options.ts';
import { isRecord } from '../../correctable/validate.ts';
import { checkDuration } from '../shared/check-number.ts';
import { createLevelOrder } from '../../correctable/level-order.ts';
import type { Levels } from '../../correctable/level-types.ts';
import type { Operation } from '../../correctable/operation.ts';
import { describeTimeToLive } from '../../values/time-to-live.ts';
import type { CommitResult } from '../../operations/index.ts';
import { validateOperation, isSupported } from './validate-operation.ts';
import { DelayQueue } from './delay-queue.ts';
import { dependsOnEarlier, Replica, type ReplicaReply } from './replica.ts';
import {
  getWrittenObjects,
  InFlightWrites,
  Primary,
  type MemoryStore,
  type PendingWrite,
} from './memory-store.ts';

class MemorySession implements BindingSession {
  #seenVersion = 0;

  canShow(version: number): boolean {
    if (version < this.#seenVersion) return false;
    this.#seenVersion = version;
    return true;
  }

  advanceTo(version: number): void {
    if (version > this.#seenVersion) this.#seenVersion = version;
  }

  close(): void {
    this.#seenVersion = 0;
  }
}

/** The default levels of a memory binding. */
export type MemoryLevels = readonly ['weak', 'strong'];

export interface MemoryOptions<L extends Levels = MemoryLevels> {
  /** Names of the levels, weakest first. Default: `['weak', 'strong']`. */
  readonly levels?: L | undefined;
  /**
   * When each level answers, in milliseconds after the call. Default: evenly spaced from 0
   * (weakest) to 20.
   */
  readonly delaysMs?: { readonly [level in L[number]]?: number } | undefined;
  /**
   * How long a write takes from the primary to the backup, in milliseconds. Default: half the
   * strongest delay.
   */
  readonly lagMs?: number | undefined;
  /** The primary, which other bindings can share. Default: a new primary for this binding. */
  readonly store?: MemoryStore | undefined;
  /** The clock, for tests. Default: the clock of the process */
  readonly clock?: Clock | undefined;
}

export interface MemoryBinding<L extends Levels> extends Binding<L> {
  /**
   * How many preliminary views were skipped because they were older than their session had seen.
   */
  readonly skippedForSession: number;
}

/**
 * Creates a binding to a store in this process. Values are shared by reference: treat them as
 * immutable.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` naming the option that does not fit
 * @example
 * const store = createClient(memory({ delaysMs: { weak: 5, strong: 80 } }));
 * await store.invoke(enqueue('tickets', { seat: 12 }));
 */
export function memory<const L extends Levels = MemoryLevels>(
  options: MemoryOptions<L> = {},
): MemoryBinding<L> {
  return bindMethods(new InMemoryBinding(readMemoryOptions(options)));
}

const LEVELS: MemoryLevels = ['weak', 'strong'];
const CALL = 'memory({ delaysMs: { weak: 5, strong: 80 } })';

export const MEMORY_OPTIONS = {
  levels: optional(anyValue),
  delaysMs: optional(matches(isRecord, `write ${CALL}`)),
  lagMs: optional(amount({})),
  store: optional(matches((value) => value instanceof Primary, 'give one made by memoryStore()')),
  clock: optional<Clock>(timeSource, systemClock),
} satisfies OptionsOf<MemoryOptions>;

type ResolvedMemoryOptions<L extends Levels> = ResolvedOptions<
  MemoryOptions<L>,
  typeof MEMORY_OPTIONS
>;

function readMemoryOptions<L extends Levels>(options: MemoryOptions<L>): ResolvedMemoryOptions<L> {
  const resolved = readOptions(options, { call: CALL }, MEMORY_OPTIONS);
  const { all } = createLevelOrder(options.levels ?? LEVELS);
  for (const level of Object.keys(options.delaysMs ?? {})) {
    check(all.includes(level), `delaysMs.${level}`, `is none of the levels ${all.join(', ')}`);
  }
  return resolved;
}

const STRONGEST_DELAY_MS = 20;
const NO_OBJECTS: readonly string[] = [];
const NO_OPERATIONS: readonly Operation[] = [];

interface MemoryCall extends PendingWrite {
  readonly levels: readonly string[];
  readonly sink: Sink;
  readonly session: MemorySession | undefined;
  readonly context: InvocationContext;
  readonly strongest: string;
  /**
   * The rank of the strongest view so far; -1 before the first. A weaker view that is slower is
   * dropped.
   */
  deliveredRank: number;
}

type LevelDelays = { readonly [level: string]: number | undefined } | undefined;

class InMemoryBinding<L extends Levels> implements MemoryBinding<L> {
  readonly name = 'memory';
  readonly hasIdempotencyKeys = true;
  skippedForSession = 0;
  readonly #levels: L;
  readonly #strongest: string;
  readonly #primary: Primary;
  readonly #backup = new Replica();
  readonly #inFlight = new InFlightWrites();
  readonly #delayQueues = new Map<string, DelayQueue<MemoryCall>>();
  readonly #replication: DelayQueue<PendingWrite>;
  readonly #stopFollowing: () => void;
  #isClosed = false;

  constructor(options: ResolvedMemoryOptions<L>) {
    const levels: Levels = options.levels ?? LEVELS;
    const { clock } = options;
    this.#levels = levels as L;
    this.#strongest = levels.at(-1)!;
    levels.forEach((level, rank) => {
      const delayMs = getDelayMs(options.delaysMs, level, rank, levels.length);
      const arrive = (call: MemoryCall): void => {
        if (delayMs > SIGNAL_CHECK_DELAY_MS && isCallAbandoned(call)) return;
        if (level === this.#strongest) this.#replyFromPrimary(call, rank);
        else if (rank > call.deliveredRank) this.#replyFromBackup(call, level, rank);
      };
      this.#delayQueues.set(level, new DelayQueue(clock, delayMs, arrive));
    });
    const strongestMs = getDelayMs(
      options.delaysMs,
      this.#strongest,
      levels.length - 1,
      levels.length,
    );
    const lagMs = options.lagMs ?? strongestMs / 2;
    this.#replication = new DelayQueue(clock, lagMs, (update) => this.#applyToBackup(update));
    this.#primary = (options.store as Primary | undefined) ?? new Primary();
    this.#stopFollowing = this.#primary.replicateTo(this.#backup, (update) =>
      this.#replication.send(update),
    );
  }

  consistencyLevels(): L {
    return this.#levels;
  }

  supports(operation: Operation): boolean {
    return isSupported(operation);
  }

  describeUnsupported(operation: Operation): string | undefined {
    return describeTimeToLive(operation);
  }

  openSession(): BindingSession {
    return new MemorySession();
  }

  submitOperation<T>(
    operation: Operation<T>,
    levels: readonly L[number][],
    sink: Sink<T, L[number]>,
    context: InvocationContext,
  ): void {
    if (this.#isClosed) throw createClosedError();
    const session = context.session instanceof MemorySession ? context.session : undefined;
    const validated = validateOperation(operation);
    const call: MemoryCall = {
      operation: validated,
      writes: operation.access === 'write' ? getWrittenObjects(validated) : NO_OBJECTS,
      idempotencyKey: context.idempotencyKey,
      levels,
      sink: sink as Sink,
      session,
      context,
      strongest: levels[levels.length - 1]!,
      deliveredRank: -1,
    };
    for (const level of levels) this.#delayQueues.get(level)!.send(call);
    if (operation.access !== 'write') return;
    this.#inFlight.add(call);
    // Levels select views, never effects. So an update goes to the primary even if only weaker
    // levels were requested.
    if (call.strongest !== this.#strongest) this.#delayQueues.get(this.#strongest)!.send(call);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const calls = new Set<MemoryCall>();
    for (const [level, line] of this.#delayQueues) {
      for (const call of line.drain()) {
        calls.add(call);
        if (level === this.#strongest && call.operation.access === 'write') this.#execute(call);
      }
    }
    this.#stopFollowing();
    this.#replication.drain();
    for (const call of calls)
      call.sink.fail(
        call.operation.access === 'write' ? createInterruptedError() : createClosedError(),
      );
  }

  #replyFromBackup(call: MemoryCall, level: string, rank: number): void {
    const { operation, sink, session } = call;
    if (operation.access === 'write') {
      // The primary already has the outcome of a repeated update and returns it, so there is no
      // preliminary view.
      if (this.#primary.hasOutcomeOf(call)) return;
      const earlier = dependsOnEarlier(operation) ? this.#inFlight.getEarlier(call) : NO_OPERATIONS;
      const { value, meta } = this.#backup.simulate(operation, earlier);
      call.deliveredRank = rank;
      sink.view(value, level, meta && { meta });
      return;
    }
    const reply = this.#backup.read(operation);
    if (session === undefined || session.canShow(reply.version)) {
      call.deliveredRank = rank;
      sink.view(reply.value, level, reply);
      return;
    }
    this.skippedForSession++;
    // This was the strongest requested level, and it has no answer. So the primary answers instead.
    if (level === call.strongest) this.#delayQueues.get(this.#strongest)!.send(call);
  }

  #replyFromPrimary(call: MemoryCall, rank: number): void {
    const reply = this.#execute(call);
    if (reply === undefined) return;
    call.session?.advanceTo(reply.version);
    // Every update reaches the primary. Its view is delivered if the strongest level was requested,
    // or if the strongest requested level has not answered.
    const isWanted =
      call.strongest === this.#strongest ||
      call.deliveredRank < this.#levels.indexOf(call.strongest);
    call.deliveredRank = rank;
    if (isWanted) call.sink.view(reply.value, this.#strongest, reply);
  }

  /** Executes the call. Returns nothing if it has failed. */
  #execute(call: MemoryCall): ReplicaReply | undefined {
    // The backup gets only the first submission. It must not wait for a repeated one.
    if (this.#primary.hasOutcomeOf(call)) this.#inFlight.remove(call);
    try {
      const reply = this.#primary.execute(call);
      if (isRefusedCommit(call.operation, reply.value)) this.#inFlight.remove(call);
      return reply;
    } catch (error) {
      call.sink.fail(error);
      return undefined;
    }
  }

  #applyToBackup(update: PendingWrite): void {
    this.#backup.apply(update.operation);
    this.#inFlight.remove(update);
  }
}

function isCallAbandoned({ operation, context }: MemoryCall): boolean {
  return operation.access === 'read' && context.signal.aborted;
}

/** A refused commit changes nothing, so the backup copy need not wait for it. */
function isRefusedCommit({ name }: Operation, result: unknown): boolean {
  return name === 'commit' && !(result as CommitResult).committed;
}

function createClosedError(): CorrectableError {
  return new CorrectableError('UNAVAILABLE', 'The memory binding is closed; create another', {
    retryable: false,
  });
}

/** Creates the error of updates in flight. Closing the binding does not revoke them. */
function createInterruptedError(): CorrectableError {
  return new CorrectableError(
    'UNKNOWN',
    'The memory binding was closed under the write, which takes effect all the same',
  );
}

function getDelayMs(delaysMs: LevelDelays, level: string, rank: number, count: number): number {
  const even = count === 1 ? STRONGEST_DELAY_MS : (STRONGEST_DELAY_MS * rank) / (count - 1);
  return checkDuration(`delaysMs.${level}`, delaysMs?.[level] ?? even);
}
