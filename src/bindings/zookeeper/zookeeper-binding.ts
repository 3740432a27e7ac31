/**
 * Replicated queues and values on Apache ZooKeeper (Correctables, OSDI 2016, §5.2 and §6.2.2): preliminary views from the
 * nearest server, final ones after atomic broadcast. Works with an unmodified ensemble.
 */
import type { Binding, BindingSession, InvocationContext, Sink } from '../../correctable/binding.ts';
import { CorrectableError } from '../../correctable/errors.ts';
import type { Operation } from '../../correctable/operation.ts';
import { dequeue } from './dequeue.ts';
import { enqueue } from './enqueue.ts';
import { closedError, correctableError } from './failures.ts';
import { Janitor, recover } from './janitor.ts';
import { get, put } from './key-value.ts';
import {
  resolveBindingOptions,
  type Delivery,
  type ResolvedBindingOptions,
  type ZooKeeperBindingOptions,
} from './options.ts';
import { Paths } from './paths.ts';
import { QueueAccess } from './queue-access.ts';
import { length, peek } from './queue-reads.ts';
import { LEVELS, type Call, type Level, type ZooKeeperLevels } from './run.ts';
import { Sellers } from './sellers.ts';
import { ReadSession } from './session.ts';
import { Sessions } from './sessions.ts';

export interface ZooKeeperBinding extends Binding<ZooKeeperLevels> {
  /** Payload bytes exchanged with the ensemble so far. */
  readonly bytes: { readonly sent: number; readonly received: number };
  /** Resolves when both sessions are connected; rejects when they cannot be. */
  connected(): Promise<void>;
  /**
   * The smallest threshold at which a preliminary view of now can be trusted, given the bindings that are alive, their
   * paces, and how long agreement has taken lately: `Infinity` until this binding has taken something, if there are
   * others. Views say theirs to `safeThreshold`.
   */
  leastThreshold(): Promise<number>;
  /**
   * Recovers, once, what dead consumers had taken and not cleaned up; see the option `janitor` to have it done regularly.
   *
   * @returns how many items
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
 *   when: (view) => view.value !== null && Number(view.meta?.['remaining']) >= safeThreshold(view),
 * });
 */
export function zookeeper(options: ZooKeeperBindingOptions): ZooKeeperBinding {
  return new ZooKeeperStore(resolveBindingOptions(options));
}

const OPERATIONS: ReadonlySet<string> = new Set(['enqueue', 'dequeue', 'peek', 'length', 'get', 'put']);

interface Args {
  readonly queue: string;
  readonly key: string;
  readonly item: unknown;
  readonly value: unknown;
}

class ZooKeeperStore implements ZooKeeperBinding {
  readonly name = 'zookeeper';
  readonly #options: ResolvedBindingOptions;
  readonly #paths: Paths;
  readonly #sessions: Sessions;
  readonly #sellers: Sellers;
  readonly #queues = new Map<string, QueueAccess>();
  readonly #underWay = new Set<Sink<unknown, Level>>();
  readonly #janitor: Janitor | undefined;
  #isClosed = false;

  constructor(options: ResolvedBindingOptions) {
    this.#options = options;
    this.#paths = new Paths(options.root);
    this.#sessions = new Sessions(options, this.#paths);
    this.#sellers = new Sellers(this.#sessions, this.#paths);
    const { janitor } = options;
    this.#janitor = janitor && new Janitor(() => this.recover(janitor.delivery), janitor.everyMs, options);
  }

  get bytes(): { readonly sent: number; readonly received: number } {
    return this.#sessions.bytes;
  }

  async connected(): Promise<void> {
    await Promise.all([this.#sessions.reader.connected(), this.#sessions.writer.connected()]);
  }

  leastThreshold(): Promise<number> {
    return this.#sellers.leastThreshold();
  }

  recover(delivery: Delivery): Promise<number> {
    return recover(this.#sessions, this.#paths, delivery);
  }

  consistencyLevels(): ZooKeeperLevels {
    return LEVELS;
  }

  supports({ name }: Operation): boolean {
    return OPERATIONS.has(name);
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
    if (this.#isClosed) throw closedError();
    if (!this.supports(operation)) {
      throw new CorrectableError('UNSUPPORTED', `The ZooKeeper binding has no operation "${operation.name}"`);
    }
    const session = context.session instanceof ReadSession ? context.session : undefined;
    const anySink = sink as Sink<unknown, Level>;
    this.#underWay.add(anySink);
    this.#execute(operation, { levels, sink: anySink, session, context })
      .catch((error: unknown) => anySink.fail(correctableError(error)))
      .finally(() => this.#underWay.delete(anySink));
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#janitor?.stop();
    for (const sink of this.#underWay) sink.fail(closedError());
    await Promise.all([...this.#queues.values()].map(({ cleaner }) => cleaner.flush()));
    await this.#sessions.close();
  }

  async #execute({ name, args }: Operation, call: Call): Promise<void> {
    const { queue, key, item, value } = args as Args;
    const { codec } = this.#options;
    switch (name) {
      case 'enqueue':
        return enqueue(this.#queue(queue), item, call);
      case 'dequeue':
        return dequeue(this.#queue(queue), call);
      case 'peek':
        return peek(this.#queue(queue), call);
      case 'length':
        return length(this.#queue(queue), call);
      case 'get':
        return get(this.#sessions, this.#paths.key(key), { call, codec });
      default:
        return put(this.#sessions, this.#paths.key(key), { call, bytes: codec.encode(value) });
    }
  }

  #queue(name: string): QueueAccess {
    const known = this.#queues.get(name);
    if (known !== undefined) return known;
    const access = new QueueAccess(
      this.#paths.queue(name),
      { sessions: this.#sessions, sellers: this.#sellers },
      this.#options,
    );
    this.#queues.set(name, access);
    return access;
  }
}
