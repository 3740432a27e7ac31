/** A store with replicas in memory: a log that replicas apply as far as a test lets them. */
import { CorrectableError } from '../../src/correctable/errors.ts';
import type { Operation } from '../../src/correctable/operation.ts';
import type {
  ReplicaCall,
  ReplicaRead,
  ReplicaStore,
  ReplicaWrite,
} from '../../src/bindings/replicas/index.ts';

/** Logs of different epochs are not comparable, as after a failover that lost writes. */
export interface LogPosition {
  readonly epoch: number;
  readonly at: number;
}

interface Entry {
  readonly key: string;
  readonly value: unknown;
}

export interface Fault {
  /** Called with each request. If it throws, the error is the reply. */
  (operation: Operation, server: string): void | Promise<void>;
}

export class ReplicatedMemory implements ReplicaStore<LogPosition> {
  readonly name = 'replicated-memory';
  readonly replicas: readonly string[];
  #log: readonly Entry[] = [];
  #epoch = 1;
  /** How far each replica is, and in which log. */
  readonly #applied = new Map<string, { position: LogPosition; log: readonly Entry[] }>();
  /** Whether replicas apply each write at once. */
  isFollowing = true;
  /** Whether replicas report their position. */
  hasPositions = true;
  /** Whether writes are sent at once. Otherwise they wait for a connection. */
  isConnected = true;
  before: Fault = () => {};
  /** Called after a write is applied and before its reply. */
  beforeAnswer: Fault = () => {};
  /** The requests so far, each as `server name`. */
  readonly requests: string[] = [];
  closed = 0;

  constructor(replicas: readonly string[] = ['near', 'far']) {
    this.replicas = replicas;
    for (const name of replicas) this.catchUp(name);
  }

  get position(): LogPosition {
    return { epoch: this.#epoch, at: this.#log.length };
  }

  /** Lets a replica apply the log, or all replicas. */
  catchUp(...names: readonly string[]): void {
    for (const name of names.length === 0 ? this.replicas : names)
      this.#applied.set(name, { position: this.position, log: this.#log });
  }

  /** A replica is promoted: the log continues from its state, and later writes are lost. */
  promote(name: string): void {
    this.#log = this.#applied.get(name)!.log;
    this.#epoch += 1;
  }

  /** Writes a value as another client does. */
  append(key: string, value: unknown): void {
    this.#log = [...this.#log, { key, value }];
    if (this.isFollowing) this.catchUp();
  }

  supports({ name, access }: Operation): boolean {
    return (name === 'get' && access === 'read') || (name === 'put' && access === 'write');
  }

  async read(
    operation: Operation,
    server: string,
    _call: ReplicaCall,
  ): Promise<ReplicaRead<LogPosition>> {
    this.requests.push(`${server} ${operation.name}`);
    await this.before(operation, server);
    const isPrimary = server === 'primary';
    // Delay the reply, since the primary is farther away than the replicas.
    if (isPrimary) await new Promise((resolve) => setImmediate(resolve));
    const { log, position } = isPrimary
      ? { log: this.#log, position: this.position }
      : this.#applied.get(server)!;
    const { key } = operation.args as { key: string };
    const value = log.findLast((entry) => entry.key === key)?.value;
    return { value, position: this.hasPositions || isPrimary ? position : undefined };
  }

  async write(operation: Operation, call: ReplicaCall): Promise<ReplicaWrite<LogPosition>> {
    this.requests.push(`primary ${operation.name}`);
    const { key, value } = operation.args as { key?: unknown; value: unknown };
    if (typeof key !== 'string')
      throw new CorrectableError('INVALID_ARGUMENT', 'put: args.key: give a string');
    if (this.isConnected) call.markSent();
    await this.before(operation, 'primary');
    if (!this.isConnected) call.markSent();
    this.append(key, value);
    await this.beforeAnswer(operation, 'primary');
    return { value: undefined, position: this.position };
  }

  async readPosition(): Promise<LogPosition> {
    this.requests.push('primary position');
    return this.position;
  }

  reached(have: LogPosition, need: LogPosition): boolean {
    return have.epoch === need.epoch && have.at >= need.at;
  }

  async close(): Promise<void> {
    this.closed += 1;
  }
}
