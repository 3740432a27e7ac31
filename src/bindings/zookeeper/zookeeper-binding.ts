/**
 * Replicated queues and values on Apache ZooKeeper (Correctables, OSDI 2016, §5.2 and §6.2.2): preliminary views from the
 * nearest server, final ones after atomic broadcast. Works with an unmodified ensemble.
 */
import type { Binding, BindingSession, InvocationContext, Sink } from '../../correctable/binding.ts';
import { bindMethods } from '../../correctable/binding.ts';
import { CorrectableError } from '../../correctable/errors.ts';
import type { Operation } from '../../correctable/operation.ts';
import { dequeue } from './queue/dequeue.ts';
import { enqueue } from './queue/enqueue.ts';
import { closedError, correctableError, endedError, throwNotDone } from './failures.ts';
import { lookRegularly, recover } from './queue/janitor.ts';
import { get, put } from './key-value.ts';
import {
  requireDelivery,
  resolveBindingOptions,
  type Delivery,
  type ResolvedBindingOptions,
  type ZooKeeperBindingOptions,
} from './options.ts';
import { Paths } from './paths.ts';
import { settledWithin } from './settled-within.ts';
import { QueueAccess } from './queue/queue-access.ts';
import { QueueTable } from './queue/queue-table.ts';
import { length, peek } from './queue/queue-reads.ts';
import { LEVELS, ReadSession, type Call, type Level, type ZooKeeperLevels } from './run.ts';
import { Sellers } from './sellers.ts';
import { Sessions } from './sessions.ts';

export interface ZooKeeperBinding extends Binding<ZooKeeperLevels> {
  /** Payload bytes exchanged with the ensemble so far. */
  readonly bytes: { readonly sent: number; readonly received: number };
  /**
   * Resolves when both sessions are connected.
   *
   * @throws CorrectableError `UNAVAILABLE` when they are not within the time of a session, with why; `UNAUTHENTICATED`
   */
  connected(): Promise<void>;
  /**
   * The smallest threshold at which a preliminary view of now can be trusted, given the bindings that are alive, their
   * paces, and how long agreement has taken lately: `Infinity` until this binding has taken something, if there are
   * others, and while it has no connection. Views say theirs to `safeThreshold`.
   *
   * @throws CorrectableError `UNAVAILABLE` once the binding is closed
   */
  leastThreshold(): Promise<number>;
  /**
   * Recovers, once, what dead consumers had claimed and not cleaned up; see the option `janitor` to have it done regularly.
   *
   * @returns how many claims it has ended
   * @throws CorrectableError when some could not be recovered, after all others were
   */
  recover(delivery: Delivery): Promise<number>;
}

/**
 * A binding to a ZooKeeper ensemble, with the levels `weak` (the nearest server's state and our own operations under way)
 * and `strong` (agreed by the ensemble). Operations: `enqueue`, `dequeue`, `peek`, `length`, `get`, `put`.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` that names the option
 * @example
 * const shop = createClient(zookeeper({ servers: 'zk1:2181,zk2:2181,zk3:2181' }));
 * await shop.invoke(enqueue('tickets', { seat: 12 }));
 * const ticket = await shop.invoke(dequeue('tickets')).settle({
 *   enough: (view) => view.value !== null && remaining(view) >= safeThreshold(view),
 * });
 */
export function zookeeper(options: ZooKeeperBindingOptions): ZooKeeperBinding {
  return bindMethods(new ZooKeeperStore(resolveBindingOptions(options)));
}

const OPERATIONS: ReadonlySet<string> = new Set(['enqueue', 'dequeue', 'peek', 'length', 'get', 'put']);
const UPDATES: ReadonlySet<string> = new Set(['enqueue', 'dequeue', 'put']);
/** How long updates that are under way may take when the binding is closed. */
const CLOSE_MS = 2_000;

interface Args {
  readonly queue: string;
  readonly key: string;
  readonly item: unknown;
  readonly value: unknown;
}

/** An operation in the hands of the binding. */
interface UnderWay {
  readonly sink: Sink<unknown, Level>;
  readonly isUpdate: boolean;
  readonly end: Promise<void>;
}

class ZooKeeperStore implements ZooKeeperBinding {
  readonly name = 'zookeeper';
  readonly #options: ResolvedBindingOptions;
  readonly #paths: Paths;
  readonly #sessions: Sessions;
  readonly #sellers: Sellers;
  readonly #queues: QueueTable<QueueAccess>;
  readonly #underWay = new Set<UnderWay>();
  readonly #stopJanitor: (() => void) | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: ResolvedBindingOptions) {
    this.#options = options;
    this.#paths = new Paths(options.root);
    this.#sessions = new Sessions(options, this.#paths);
    this.#sellers = new Sellers(this.#sessions, this.#paths);
    const shared = { sessions: this.#sessions, sellers: this.#sellers };
    this.#queues = new QueueTable((name) => new QueueAccess(this.#paths.queue(name), shared, options));
    const { janitor } = options;
    this.#stopJanitor = janitor && lookRegularly(() => this.#recover(janitor.delivery), janitor.everyMs, options);
  }

  get bytes(): { readonly sent: number; readonly received: number } {
    return this.#sessions.bytes;
  }

  connected(): Promise<void> {
    return this.#sessions.connected();
  }

  leastThreshold(): Promise<number> {
    return this.#sellers.leastThreshold().catch(throwNotDone);
  }

  async recover(delivery: Delivery): Promise<number> {
    requireDelivery(delivery, 'delivery');
    try {
      return await this.#recover(delivery);
    } catch (error) {
      throw correctableError(error);
    }
  }

  consistencyLevels(): ZooKeeperLevels {
    return LEVELS;
  }

  supports({ name, effect }: Operation): boolean {
    return OPERATIONS.has(name) && (effect === 'update') === UPDATES.has(name);
  }

  openSession(): BindingSession {
    return new ReadSession();
  }

  submitOperation<T>(
    operation: Operation<T>,
    levels: readonly Level[],
    sink: Sink<T, Level>,
    context: InvocationContext,
  ): void {
    if (this.#closing !== undefined) throw closedError();
    if (!this.supports(operation)) {
      throw new CorrectableError('UNSUPPORTED', `The ZooKeeper binding has no operation "${operation.name}"`);
    }
    const session = context.session instanceof ReadSession ? context.session : undefined;
    const anySink = sink as Sink<unknown, Level>;
    const end = this.#execute(operation, { levels, sink: anySink, session, context })
      .catch((error: unknown) => anySink.fail(correctableError(error)))
      .finally(() => this.#underWay.delete(underWay));
    const underWay: UnderWay = { sink: anySink, isUpdate: UPDATES.has(operation.name), end };
    this.#underWay.add(underWay);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Nothing new is sent. What was sent has its time to be answered; then it is told what is not known. */
  async #close(): Promise<void> {
    this.#stopJanitor?.();
    this.#sessions.beginClosing();
    const queues = this.#queues.all;
    for (const { window } of queues) window.close(closedError());
    for (const { sink, isUpdate } of this.#underWay) if (!isUpdate) sink.fail(closedError());
    await this.#updatesWithin(CLOSE_MS);
    await Promise.all(queues.map((queue) => queue.finish()));
    await this.#sessions.close();
    // By now each request has failed, as sent or as not sent; what pauses between two of them has sent one.
    await this.#updatesWithin(0);
    for (const { sink, isUpdate } of this.#underWay) if (isUpdate) sink.fail(endedError());
  }

  #updatesWithin(ms: number): Promise<void> {
    const updates = [...this.#underWay].filter(({ isUpdate }) => isUpdate);
    return settledWithin(
      ms,
      updates.map(({ end }) => end),
    );
  }

  #recover(delivery: Delivery): Promise<number> {
    return recover(this.#sessions, this.#paths, delivery);
  }

  async #execute({ name, args }: Operation, call: Call): Promise<void> {
    const { queue, key, item, value } = args as Args;
    const { codec } = this.#options;
    switch (name) {
      case 'enqueue':
        return this.#queues.use(queue, (access) => enqueue(access, item, call));
      case 'dequeue':
        return this.#queues.use(queue, (access) => dequeue(access, call));
      case 'peek':
        return this.#queues.use(queue, (access) => peek(access, call));
      case 'length':
        return this.#queues.use(queue, (access) => length(access, call));
      case 'get':
        return get(this.#sessions, this.#paths.key(key), { call, codec });
      default:
        return put(this.#sessions, this.#paths.key(key), { call, bytes: codec.encode(value) });
    }
  }
}
