/** A binding to a store with a primary and replicas that follow it. */
import type {
  Binding,
  BindingSession,
  InvocationContext,
  Sink,
} from '../../correctable/binding.ts';
import { bindMethods, isOlder } from '../../correctable/binding.ts';
import { systemClock, type Clock } from '../../correctable/clock.ts';
import { check, CorrectableError } from '../../correctable/errors.ts';
import type { Operation } from '../../correctable/operation.ts';
import {
  checkOptionNames,
  checkOptionTypes,
  hasMethods,
  isRecord,
  isThenable,
  type OptionNamesOf,
} from '../../correctable/validate.ts';
import { limitTime } from '../shared/connections/time-limit.ts';
import { ServerSelection } from '../shared/server-selection.ts';
import { SessionPositions, type SessionState } from '../shared/session-positions.ts';
import {
  checkTokenKey,
  createSessionTokens,
  type SessionTokens,
} from '../shared/session-tokens.ts';
import type { BindingParts, Level } from './operation-run.ts';
import { PrimaryHistory } from './primary-history.ts';
import { ReadRun } from './read-run.ts';
import { createReplicaStats, type ReplicaStats } from './replica-stats.ts';
import { REPLICA_LEVELS, type ReplicaLevels, type ReplicaStore } from './replica-store.ts';
import type { ReplicasAlarm } from './replicas-alarm.ts';
import { WriteRun } from './write-run.ts';

/** Options of `replicas`. */
export interface ReplicasOptions {
  /**
   * Signs session tokens: a secret of 16 bytes or more, the same in all processes. Without it, a
   * session cannot go on in another process, nor after a restart. Default: a random key
   */
  readonly tokenKey?: string | Uint8Array | undefined;
  /** Receives each alarm once. Default: a warning of the process */
  readonly onAlarm?: ((alarm: ReplicasAlarm) => unknown) | undefined;
}

/** A binding to a store with replicas. */
export interface ReplicasBinding extends Binding<ReplicaLevels> {
  /** Counts over the life of the binding. */
  readonly stats: ReplicaStats;
}

/**
 * Creates a binding to a store with replicas. Level `replica` reads the nearest replica, which may
 * be behind. Level `primary` reads the primary. Updates run at the primary.
 *
 * In a session, no view is older than what the session has written or seen: a replica that is
 * behind gives no view. `view.meta.lagMs` bounds how far a replica is behind, see `getLagMs`.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` naming the option
 * @example
 * const store = createClient(replicas(createMyStore()));
 * for await (const { level, value } of store.invoke(get('user:7')))
 *   console.log(level, value); // replica …, primary …
 */
export function replicas<Position>(
  store: ReplicaStore<Position>,
  options: ReplicasOptions = {},
): ReplicasBinding {
  return openReplicas(store, options, systemClock);
}

const CALL = 'replicas(store, { tokenKey })';

const OPTIONS: OptionNamesOf<ReplicasOptions> = {
  tokenKey: true,
  onAlarm: true,
};

/** Creates the binding with a clock, which tests control. */
export function openReplicas<Position>(
  store: ReplicaStore<Position>,
  options: ReplicasOptions,
  clock: Clock,
): ReplicasBinding {
  checkOptionNames(options, { call: CALL }, OPTIONS);
  checkTokenKey(options.tokenKey);
  checkOptionTypes(options, 'function', 'onAlarm');
  const isStore =
    hasMethods(store, 'supports', 'read', 'write', 'reached', 'close') &&
    Array.isArray(store.replicas);
  check(isStore, 'store', 'must have name, replicas, supports, read, write, reached and close');
  return bindMethods(new ReplicatedStore(store as ReplicaStore, options, clock));
}

/** What a session of a client has seen. It can go on in another process. */
class ClientSession implements BindingSession {
  readonly positions: SessionPositions<unknown>;
  readonly #tokens: SessionTokens<SessionState<unknown>>;
  readonly #onTokens: () => void;

  constructor(
    positions: SessionPositions<unknown>,
    tokens: SessionTokens<SessionState<unknown>>,
    onTokens: () => void,
  ) {
    this.positions = positions;
    this.#tokens = tokens;
    this.#onTokens = onTokens;
  }

  get tokens(): readonly string[] {
    this.#onTokens();
    return [this.#tokens.seal(this.positions.state)];
  }
}

/** Reads of replicas alone ask for the primary's position this often. */
const PROBE_INTERVAL_MS = 250;
const POSITION_TIMEOUT_MS = 5_000;

class ReplicatedStore implements ReplicasBinding {
  readonly name: string;
  readonly hasIdempotencyKeys: boolean;
  readonly #store: ReplicaStore;
  readonly #onAlarm: NonNullable<ReplicasOptions['onAlarm']>;
  readonly #tokens: SessionTokens<SessionState<unknown>>;
  readonly #hasTokenKey: boolean;
  readonly #parts: BindingParts;
  readonly #runs = new Set<ReadRun | WriteRun>();
  /** What was reported, by code or cause. */
  readonly #reported = new Set<string>();
  #isProbing = false;
  #closing: Promise<void> | undefined;

  constructor(store: ReplicaStore, options: ReplicasOptions, clock: Clock) {
    this.name = store.name;
    this.hasIdempotencyKeys = store.hasIdempotencyKeys ?? false;
    this.#store = store;
    this.#onAlarm = options.onAlarm ?? emitWarning;
    this.#hasTokenKey = options.tokenKey !== undefined;
    this.#tokens = createSessionTokens({
      caller: store.name,
      tokenKey: options.tokenKey,
      scope: ['replicas', store.name],
      site: 0,
    });
    this.#parts = {
      store,
      clock,
      selection: new ServerSelection({
        names: store.replicas,
        clock,
        probe: store.probe && ((server) => store.probe!(server)),
      }),
      history: new PrimaryHistory((have, need) => store.reached(have, need)),
      stats: createReplicaStats(),
      probePrimary: () => void this.#probePrimary(),
      onUnknownPosition: (server) => this.#reportUnknownPosition(server),
      onLoss: () => this.#reportLoss(),
    };
    store.reportTo?.(({ code, message }) => this.#report(code, message, message));
  }

  get stats(): ReplicaStats {
    return { ...this.#parts.stats };
  }

  consistencyLevels(): ReplicaLevels {
    return REPLICA_LEVELS;
  }

  supports(operation: Operation): boolean {
    return this.#store.supports(operation);
  }

  describeUnsupported(operation: Operation): string | undefined {
    return this.#store.describeUnsupported?.(operation);
  }

  openSession(tokens: readonly string[] = []): BindingSession {
    const store = this.#store;
    const positions = new SessionPositions<unknown>(
      (have, need) => store.reached(have, need),
      store.hasLost && ((have, need) => store.hasLost!(have, need)),
    );
    for (const token of tokens) positions.continueFrom(this.#tokens.open(token));
    return new ClientSession(positions, this.#tokens, () => this.#reportMissingKey());
  }

  /** Positions are compared by the store, everything else as usual. */
  isOlder(version: unknown, than: unknown): boolean {
    if (!isRecord(version) || !isRecord(than)) return isOlder(version, than);
    const { store } = this.#parts;
    return store.reached(than, version) && !store.reached(version, than);
  }

  submitOperation<T>(
    operation: Operation<T>,
    levels: readonly Level[],
    sink: Sink<T, Level>,
    context: InvocationContext,
  ): void {
    if (this.#closing !== undefined) throw this.#createClosedError();
    if (!this.#store.supports(operation)) throw this.#createUnsupportedError(operation);
    const { session } = context;
    const options = {
      ...this.#parts,
      operation,
      levels,
      sink: sink as Sink<unknown, Level>,
      context,
      session: session instanceof ClientSession ? session.positions : undefined,
      onEnded: () => this.#runs.delete(run),
    };
    const run: ReadRun | WriteRun =
      operation.access === 'write' ? new WriteRun(options) : new ReadRun(options);
    this.#runs.add(run);
    run.start();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    for (const run of this.#runs) run.close(this.#createClosedError());
    await this.#store.close();
  }

  /** Finds out where the primary is, unless that was found out just now. */
  async #probePrimary(): Promise<void> {
    const { history, clock, store } = this.#parts;
    const sentAtMs = clock.now();
    const isRecent = sentAtMs - history.newestAtMs < PROBE_INTERVAL_MS;
    if (this.#isProbing || isRecent || store.readPosition === undefined) return;
    this.#isProbing = true;
    try {
      const reading = store.readPosition();
      history.note(sentAtMs, await this.#limitPositionRead(reading));
    } catch {
      // The lag of replicas grows as long as the primary does not answer.
    } finally {
      this.#isProbing = false;
    }
  }

  /** Without an answer, the next read asks again. */
  #limitPositionRead<T>(reading: Promise<T>): Promise<T> {
    const createError = (): Error => new Error('the primary gives no answer');
    const { clock } = this.#parts;
    return limitTime(reading, POSITION_TIMEOUT_MS, createError, clock);
  }

  #reportUnknownPosition(server: string): void {
    this.#report(
      'no-position',
      `the position of the replica "${server}" is unknown. Sessions read at the primary only.`,
    );
  }

  #reportLoss(): void {
    this.#report(
      'lost-writes',
      'the primary lacks something that a session has seen, or cannot show that it has it: a failover, a crash or a restored backup may have lost it. Views of this session have regressed: true. Open a new session to go on without them.',
    );
  }

  /** A client that holds such a token cannot go on without it by itself. */
  #reportMissingKey(): void {
    if (this.#hasTokenKey) return;
    this.#report(
      'no-token-key',
      'session tokens leave this process, and no other process accepts them. Requests with them fail with UNAUTHENTICATED after a restart. Pass the option tokenKey: a secret of 16 bytes or more, the same in all processes.',
    );
  }

  #report(code: ReplicasAlarm['code'], text: string, cause: string = code): void {
    if (this.#reported.has(cause)) return;
    this.#reported.add(cause);
    const alarm: ReplicasAlarm = { code, message: `${this.name}: ${text}` };
    try {
      const value = this.#onAlarm(alarm);
      if (isThenable(value)) value.then(undefined, () => emitWarning(alarm));
    } catch {
      emitWarning(alarm);
    }
  }

  #createUnsupportedError(operation: Operation): CorrectableError {
    const reason = this.describeUnsupported(operation);
    const message = `${this.name} has no operation '${operation.name}'${reason === undefined ? '' : `: ${reason}`}`;
    return new CorrectableError('UNSUPPORTED', message);
  }

  #createClosedError(): CorrectableError {
    const message = `${this.name}: the binding is closed. The operation was not executed. Create another.`;
    return new CorrectableError('UNAVAILABLE', message, { retryable: false });
  }
}

function emitWarning({ message, code }: ReplicasAlarm): void {
  process.emitWarning(message, { code });
}
