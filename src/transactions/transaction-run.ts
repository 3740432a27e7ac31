/**
 * One run of the function of a transaction, with the values that it has read and the writes that it
 * has buffered. Nothing is written before the commit.
 */
import type { AnyClient, Session } from '../correctable/client/client.ts';
import type { Correctable } from '../correctable/correctable.ts';
import { check, CorrectableError, isCorrectableError } from '../correctable/errors.ts';
import type { Levels } from '../correctable/level-types.ts';
import type { Operation } from '../correctable/operation.ts';
import { isThenable } from '../correctable/validate.ts';
import { checkName } from '../operations/check-name.ts';
import {
  commit,
  MAX_TRANSACTION_KEYS,
  readVersions,
  type CommitResult,
  type Version,
  type VersionedValue,
} from '../operations/versioned.ts';
import type { RefusedVersions } from './refused-versions.ts';

/** Reads and writes for the function of a transaction. */
export interface Transaction {
  /**
   * Reads the value of `key`; `undefined` if it has none. If this run has written to the key,
   * returns that value. All values of one run are from one state of the store: if what was read
   * before has changed meanwhile, this rejects, and the function starts again.
   *
   * @throws CorrectableError `INVALID_ARGUMENT` if the key is empty, or the transaction has more
   * than 1,000 keys
   */
  get<T = unknown>(this: void, key: string): Promise<T | undefined>;
  /** Reads the values of `keys` in one request, in their order. Works like `get`. */
  getMany<T = unknown>(this: void, keys: readonly string[]): Promise<(T | undefined)[]>;
  /**
   * Writes `value` to `key` when the transaction commits.
   *
   * @throws CorrectableError `INVALID_ARGUMENT` if the key is empty, the value is `undefined` or a
   * promise, or the transaction has more than 1,000 keys
   */
  put(this: void, key: string, value: unknown): void;
  /** Counts the runs of the function, from 1. */
  readonly attempt: number;
  /** Aborts when no caller waits for the transaction any more. Pass it to slow work. */
  readonly signal: AbortSignal;
}

/** The function of a transaction. It may run several times, so it must have no other effects. */
export type TransactionFunction<T> = (tx: Transaction) => T | PromiseLike<T>;

/** The facts that all operations of one transaction share. */
export interface TransactionContext {
  readonly client: AnyClient;
  readonly session: Session | undefined;
  readonly refusedVersions: RefusedVersions;
  readonly getSignal: () => AbortSignal;
  /** Called before each operation. Returns the time that is left of the transaction. */
  readonly getTimeoutMs: () => number;
  /** Throws the error of the transaction if it has failed. */
  readonly checkNotFailed: () => void;
  /** Throws if another user is signed in than at the first operation of the transaction. */
  readonly checkPrincipal: () => void;
  /** Called with the Correctable of each operation that was submitted. */
  readonly onSubmit: (inner: Correctable<unknown, Levels, string>) => void;
}

type InvokeMethod = 'invoke' | 'invokeWeak' | 'invokeStrong';

export class TransactionRun implements Transaction {
  readonly attempt: number;
  readonly #context: TransactionContext;
  readonly #reads = new Map<string, VersionedValue>();
  readonly #writes = new Map<string, unknown>();
  /** The keys of the next request. */
  readonly #wanted = new Set<string>();
  #reading: Promise<void> | undefined;
  #isOver = false;
  /** The error of a read that failed. The transaction fails with it, even if it was caught. */
  readError: unknown;
  /** The keys that other clients have written since this run read them. */
  changed: readonly string[] | undefined;
  /** The level of the latest read. */
  level: string;

  constructor(attempt: number, context: TransactionContext) {
    this.attempt = attempt;
    this.level = context.client.levels[0];
    this.#context = context;
  }

  get signal(): AbortSignal {
    return this.#context.getSignal();
  }

  readonly get = <T>(key: string): Promise<T | undefined> =>
    ignoreUnobserved(this.#getMany<T>([key]).then(([value]) => value));

  readonly getMany = <T>(keys: readonly string[]): Promise<(T | undefined)[]> =>
    ignoreUnobserved(this.#getMany<T>(keys));

  readonly put = (key: string, value: unknown): void => {
    this.#checkOpen();
    checkName(key, 'key');
    check(value !== undefined, 'value', `give a value for "${key}", or null for none`);
    check(!isThenable(value), 'value', `await the promise for "${key}" first`);
    this.#checkKeyCount([key]);
    this.#writes.set(key, value);
  };

  /** Ends the run. Its function has returned, and later calls have no effect. */
  close(): void {
    this.#isOver = true;
  }

  checkPrincipal(): void {
    this.#context.checkPrincipal();
  }

  get hasReads(): boolean {
    return this.#reads.size > 0;
  }

  get hasWrites(): boolean {
    return this.#writes.size > 0;
  }

  /** Submits the commit of the reads and writes of this run. */
  submitCommit(): Correctable<CommitResult, Levels, string> {
    const reads = [...this.#reads].map(([key, { version }]) => ({
      key,
      version,
    }));
    const writes = [...this.#writes].map(([key, value]) => ({ key, value }));
    return this.#submit(commit(reads, writes), 'invoke');
  }

  /**
   * Reads at the strongest level which keys have changed since this run read them, and returns
   * these.
   */
  async findChanged(): Promise<readonly string[]> {
    const keys = [...this.#reads.keys()];
    return this.#getChanged(keys, await this.#readAt(keys, 'invokeStrong'));
  }

  /**
   * Notes the versions for which this run was refused, so that the next run does not begin with
   * them. If they are unknown, notes everything that it read.
   */
  rememberRefused(changed: readonly string[]): void {
    for (const key of changed.length > 0 ? changed : this.#reads.keys()) {
      const read = this.#reads.get(key);
      if (read !== undefined) this.#context.refusedVersions.add(key, read.version);
    }
  }

  async #getMany<T>(keys: readonly string[]): Promise<(T | undefined)[]> {
    this.#checkOpen();
    check(Array.isArray(keys), 'keys', 'give a list of keys');
    keys.forEach((key, at) => checkName(key, `keys[${at}]`));

    const own = new Map(
      keys.filter((key) => this.#writes.has(key)).map((key) => [key, this.#writes.get(key)]),
    );
    const read = [...new Set(keys)].filter((key) => !own.has(key));
    this.#checkKeyCount(read);
    await this.#readAll(read);
    return keys.map((key) => (own.has(key) ? own.get(key) : this.#reads.get(key)?.value) as T);
  }

  async #readAll(keys: readonly string[]): Promise<void> {
    let missing = keys;
    for (;;) {
      missing = missing.filter((key) => !this.#reads.has(key));
      if (missing.length === 0) return;
      for (const key of missing) this.#wanted.add(key);
      await this.#readWanted();
      this.#checkOpen();
    }
  }

  /**
   * Sends one request at a time, for all keys that were requested meanwhile. Two concurrent
   * requests could return two different states.
   */
  #readWanted(): Promise<void> {
    this.#reading ??= Promise.resolve()
      .then(() => this.#request())
      .finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  /**
   * Reads the wanted keys, and again all keys that were read before. The store has no old versions,
   * so a single read of all keys is the only way to never show the function a mix of two states.
   */
  async #request(): Promise<void> {
    const before = [...this.#reads.keys()];
    const keys = [...before, ...this.#wanted];
    this.#wanted.clear();
    try {
      const values = await this.#read(keys);
      const changed = this.#getChanged(before, values);
      if (changed.length > 0) this.changed = changed;
      values.slice(before.length).forEach((value, at) => {
        this.#reads.set(keys[before.length + at]!, value);
      });
    } catch (error) {
      // The store fails with `CONFLICT` if the keys change too often to read all of them from one
      // state.
      if (isCorrectableError(error, 'CONFLICT')) this.changed = keys;
      else this.readError = error;
      throw error;
    }
  }

  async #read(keys: readonly string[]): Promise<readonly VersionedValue[]> {
    const near = await this.#readAt(keys, 'invokeWeak');
    const isStale = this.#context.refusedVersions.hasAny(keys, near);
    return isStale ? this.#readAt(keys, 'invokeStrong') : near;
  }

  async #readAt(keys: readonly string[], method: InvokeMethod): Promise<readonly VersionedValue[]> {
    const reading = this.#submit(readVersions(keys, this.#getVersions()), method);
    const values = await reading;
    checkVersions(values, keys.length);
    this.level = reading.latest?.level ?? this.level;
    return values;
  }

  #submit<T>(operation: Operation<T>, method: InvokeMethod): Correctable<T, Levels, string> {
    const { client, session, getTimeoutMs, checkPrincipal, onSubmit } = this.#context;
    checkPrincipal();
    const inner = client[method](operation, {
      session,
      timeoutMs: getTimeoutMs(),
      // A read that began earlier may return a state from before this transaction.
      dedupeReads: false,
    });
    onSubmit(inner);
    return inner;
  }

  #getVersions(): Map<string, Version> {
    return new Map([...this.#reads].map(([key, { version }]) => [key, version]));
  }

  #getChanged(keys: readonly string[], present: readonly VersionedValue[]): string[] {
    return keys.filter((key, at) => this.#reads.get(key)?.version !== present[at]?.version);
  }

  #checkOpen(): void {
    this.#context.checkNotFailed();
    if (this.changed !== undefined) throw createChangedError(this.changed);
    check(!this.#isOver, 'tx', 'the function has returned. Await every call before it returns');
  }

  #checkKeyCount(keys: readonly string[]): void {
    // Few transactions come near the limit, so most need not count distinct keys.
    const atMost = this.#reads.size + this.#writes.size + this.#wanted.size + keys.length;
    if (atMost <= MAX_TRANSACTION_KEYS) return;

    const all = new Set([...this.#reads.keys(), ...this.#writes.keys(), ...this.#wanted, ...keys]);
    check(
      all.size <= MAX_TRANSACTION_KEYS,
      'keys',
      `a transaction reads and writes at most ${MAX_TRANSACTION_KEYS} keys. Split it`,
    );
  }
}

/** A store that runs any operation, as `tiered` does, may return anything. */
function checkVersions(values: readonly VersionedValue[], count: number): void {
  const isValid = (item: VersionedValue): boolean => /string|number/.test(typeof item?.version);
  if (Array.isArray(values) && values.length === count && values.every(isValid)) return;
  const message = 'readVersions: the store must return one { version, value } for each key.';
  throw new CorrectableError('PROTOCOL', message);
}

/** Handles each rejection. A call that the function does not await must not end the process. */
function ignoreUnobserved<T>(reading: Promise<T>): Promise<T> {
  reading.catch(() => undefined);
  return reading;
}

/**
 * Creates the error that rejects calls of a run that is out of date. Catching it does not prevent
 * the next run.
 */
function createChangedError(keys: readonly string[]): CorrectableError {
  return new CorrectableError(
    'CONFLICT',
    `transaction: ${formatKeys(keys)} changed; it runs again`,
    {
      key: keys[0],
    },
  );
}

/** The maximum number of keys in a message. */
const MAX_SHOWN_KEYS = 5;

export function formatKeys(keys: readonly string[]): string {
  const shown = keys.slice(0, MAX_SHOWN_KEYS).map((key) => `"${key}"`);
  const hidden = keys.length - shown.length;
  return shown.join(', ') + (hidden > 0 ? ` and ${hidden} more` : '');
}
