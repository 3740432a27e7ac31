/**
 * Queues and values on Apache ZooKeeper (Correctables, OSDI 2016, §5.2, §6.2.2): the nearest server
 * answers first.
 */
import type {
  Binding,
  BindingSession,
  InvocationContext,
  Sink,
} from '../../correctable/binding.ts';
import { bindMethods } from '../../correctable/binding.ts';
import { check, CorrectableError } from '../../correctable/errors.ts';
import type { Operation } from '../../correctable/operation.ts';
import { describeTimeToLive, hasTimeToLive, refuseTimeToLive } from '../../values/time-to-live.ts';
import { isRecord } from '../../correctable/validate.ts';
import type { CommitArgs, ReadVersionsArgs } from '../../operations/versioned.ts';
import { executeDequeue } from './queue/dequeue.ts';
import { executeEnqueue } from './queue/enqueue.ts';
import {
  createClosedError,
  toCorrectableError,
  createInterruptedError,
  throwNotApplied,
} from './errors.ts';
import { runPeriodically, recoverOrphans } from './queue/orphan-recovery.ts';
import { executeGet, executePut } from './key-value.ts';
import {
  checkDelivery,
  resolveBindingOptions,
  type DeliveryGuarantee,
  type ResolvedBindingOptions,
  type ZooKeeperBindingOptions,
} from './options.ts';
import { Paths } from './paths.ts';
import { waitUntilSettled } from './wait-until-settled.ts';
import { QueueContext } from './queue/queue-context.ts';
import { QueueTable } from './queue/queue-table.ts';
import { executeCommit } from './transactions/commit.ts';
import { executeReadVersions } from './transactions/read-versions.ts';
import { executeLength, executePeek } from './queue/queue-reads.ts';
import {
  LEVELS,
  SessionGuarantees,
  type OperationCall,
  type Level,
  type ZooKeeperLevels,
} from './operation-call.ts';
import { ConsumerRegistry } from './consumer-registry.ts';
import { SessionPair } from './session-pair.ts';

export interface ZooKeeperBinding extends Binding<ZooKeeperLevels> {
  /** Payload bytes exchanged with the ensemble so far. */
  readonly bytes: { readonly sent: number; readonly received: number };
  /**
   * Resolves when both sessions are connected.
   *
   * @throws CorrectableError `UNAVAILABLE` with the cause after a session timeout,
   * `UNAUTHENTICATED` if `auth` fails
   */
  whenConnected(): Promise<void>;
  /**
   * Returns the smallest threshold at which you can trust a preliminary view now. It depends on the
   * live bindings, their rates and recent agreement times. It is `Infinity` while there is no
   * connection. If there are other bindings, it is `Infinity` until this one has taken something.
   * Views pass their threshold to `getSafeThreshold`.
   *
   * @throws CorrectableError `UNAVAILABLE` if the binding is closed
   */
  getMinThreshold(): Promise<number>;
  /**
   * Recovers, once, what crashed consumers had claimed and not cleaned up. Option `orphanRecovery`
   * does it regularly.
   *
   * @returns the number of claims that it has ended
   * @throws CorrectableError if some could not be recovered, after all others were
   */
  recoverOrphans(delivery: DeliveryGuarantee): Promise<number>;
}

/**
 * Creates a binding to a ZooKeeper ensemble. Level `weak` is the nearest server's state with own
 * operations in flight. Level `strong` is agreed by the ensemble. Operations: `enqueue`, `dequeue`,
 * `peek`, `length`, `get`, `put`, `readVersions`, `commit`.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` naming the option
 * @example
 * const shop = createClient(zookeeper({ servers: 'zk1:2181,zk2:2181,zk3:2181' }));
 * await shop.invoke(enqueue('tickets', { seat: 12 }));
 * const ticket = await shop.invoke(dequeue('tickets')).settle({
 *   enough: (view) => view.value !== null && getRemaining(view) >= getSafeThreshold(view),
 * });
 */
export function zookeeper(options: ZooKeeperBindingOptions): ZooKeeperBinding {
  return bindMethods(new ZooKeeperStore(resolveBindingOptions(options)));
}

const OPERATIONS: ReadonlySet<string> = new Set([
  'enqueue',
  'dequeue',
  'peek',
  'length',
  'get',
  'put',
  'readVersions',
  'commit',
]);
const WRITES: ReadonlySet<string> = new Set(['enqueue', 'dequeue', 'put', 'commit']);
/** How long updates in flight may take when the binding is closed. */
const CLOSE_TIMEOUT_MS = 2_000;

interface OperationArgs {
  readonly queue: string;
  readonly key: string;
  readonly item: unknown;
  readonly value: unknown;
}

interface InFlightOperation {
  readonly sink: Sink<unknown, Level>;
  readonly isWrite: boolean;
  readonly end: Promise<void>;
}

class ZooKeeperStore implements ZooKeeperBinding {
  readonly name = 'zookeeper';
  readonly #options: ResolvedBindingOptions;
  readonly #paths: Paths;
  readonly #sessions: SessionPair;
  readonly #consumers: ConsumerRegistry;
  readonly #queues: QueueTable<QueueContext>;
  readonly #inFlight = new Set<InFlightOperation>();
  readonly #stopOrphanRecovery: (() => void) | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: ResolvedBindingOptions) {
    this.#options = options;
    this.#paths = new Paths(options.root);
    this.#sessions = new SessionPair(options, this.#paths, () => {
      for (const { queue } of this.#queues.all) queue.handleRestored();
    });
    this.#consumers = new ConsumerRegistry(this.#sessions, this.#paths);
    const shared = { sessions: this.#sessions, consumers: this.#consumers };
    this.#queues = new QueueTable(
      (name) => new QueueContext(this.#paths.queue(name), shared, options),
    );
    const { orphanRecovery } = options;
    this.#stopOrphanRecovery =
      orphanRecovery &&
      runPeriodically(
        () => this.#runOrphanRecovery(orphanRecovery.delivery),
        orphanRecovery.intervalMs,
        options,
      );
  }

  get bytes(): { readonly sent: number; readonly received: number } {
    return this.#sessions.bytes;
  }

  whenConnected(): Promise<void> {
    return this.#sessions.whenConnected();
  }

  getMinThreshold(): Promise<number> {
    return this.#consumers.getMinThreshold().catch(throwNotApplied);
  }

  async recoverOrphans(delivery: DeliveryGuarantee): Promise<number> {
    checkDelivery(delivery, 'delivery');
    try {
      return await this.#runOrphanRecovery(delivery);
    } catch (error) {
      throw toCorrectableError(error);
    }
  }

  consistencyLevels(): ZooKeeperLevels {
    return LEVELS;
  }

  supports(operation: Operation): boolean {
    const { name, access } = operation;
    const isKnown = OPERATIONS.has(name) && (access === 'write') === WRITES.has(name);
    return isKnown && !hasTimeToLive(operation);
  }

  describeUnsupported(operation: Operation): string | undefined {
    return describeTimeToLive(operation);
  }

  openSession(): BindingSession {
    return new SessionGuarantees();
  }

  submitOperation<T>(
    operation: Operation<T>,
    levels: readonly Level[],
    sink: Sink<T, Level>,
    context: InvocationContext,
  ): void {
    if (this.#closing !== undefined) throw createClosedError();
    refuseTimeToLive(operation, 'ZooKeeper');
    if (!this.supports(operation)) {
      throw new CorrectableError(
        'UNSUPPORTED',
        `The ZooKeeper binding has no operation "${operation.name}"`,
      );
    }
    check(isRecord(operation.args), 'args', 'give an object');
    const session = context.session instanceof SessionGuarantees ? context.session : undefined;
    const anySink = sink as Sink<unknown, Level>;
    const end = this.#execute(operation, {
      levels,
      sink: anySink,
      session,
      context,
    })
      .catch((error: unknown) => anySink.fail(toCorrectableError(error)))
      .finally(() => this.#inFlight.delete(inFlight));
    const inFlight: InFlightOperation = {
      sink: anySink,
      isWrite: WRITES.has(operation.name),
      end,
    };
    this.#inFlight.add(inFlight);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /**
   * Sends nothing new. Requests in flight have some time to be answered. Then they fail with an
   * unknown outcome.
   */
  async #close(): Promise<void> {
    this.#stopOrphanRecovery?.();
    this.#sessions.beginClosing();
    const queues = this.#queues.all;
    for (const { throttleGate } of queues) throttleGate.close(createClosedError());
    for (const { sink, isWrite } of this.#inFlight) if (!isWrite) sink.fail(createClosedError());
    await this.#waitForWrites(CLOSE_TIMEOUT_MS);
    await Promise.all(queues.map((queue) => queue.close()));
    await this.#sessions.close();
    // By now each request has failed. Its error shows whether it was sent. Updates that pause
    // between two requests have sent one, so wait for them too.
    await this.#waitForWrites(0);
    for (const { sink, isWrite: isUpdate } of this.#inFlight)
      if (isUpdate) sink.fail(createInterruptedError());
  }

  #waitForWrites(ms: number): Promise<void> {
    const updates = [...this.#inFlight].filter(({ isWrite }) => isWrite);
    return waitUntilSettled(
      ms,
      updates.map(({ end }) => end),
    );
  }

  #runOrphanRecovery(delivery: DeliveryGuarantee): Promise<number> {
    return recoverOrphans(this.#sessions, this.#paths, delivery);
  }

  async #execute({ name, args }: Operation, call: OperationCall): Promise<void> {
    const { queue, key, item, value } = args as OperationArgs;
    const { codec } = this.#options;
    const shared = { call, paths: this.#paths, codec };
    switch (name) {
      case 'enqueue':
        return this.#queues.use(queue, (access) => executeEnqueue(access, item, call));
      case 'dequeue':
        return this.#queues.use(queue, (access) => executeDequeue(access, call));
      case 'peek':
        return this.#queues.use(queue, (access) => executePeek(access, call));
      case 'length':
        return this.#queues.use(queue, (access) => executeLength(access, call));
      case 'get':
        return executeGet(this.#sessions, this.#paths.key(key), {
          key,
          call,
          codec,
        });
      case 'readVersions':
        return executeReadVersions(this.#sessions, args as ReadVersionsArgs, shared);
      case 'commit':
        return executeCommit(this.#sessions, args as CommitArgs, shared);
      default:
        return executePut(this.#sessions, this.#paths.key(key), {
          call,
          bytes: codec.encode(value),
        });
    }
  }
}
