/** The state that the operations of one queue share. */
import { ItemAppender } from './item-appender.ts';
import { ClaimCreator, type Claim } from './claim-creator.ts';
import { ClaimCleanup } from './claim-cleanup.ts';
import { Placeholders } from './placeholders.ts';
import { requeueClaim } from './orphan-recovery.ts';
import type { ResolvedBindingOptions } from '../options.ts';
import type { QueuePaths } from '../paths.ts';
import { waitUntilSettled } from '../wait-until-settled.ts';
import { QueueState } from './queue-state.ts';
import type { ConsumerRegistry } from '../consumer-registry.ts';
import type { SessionPair } from '../session-pair.ts';
import type { ValueCodec } from '../value-codec.ts';
import { ThrottleGate } from '../../shared/throttle-gate.ts';

const REQUEUE_TIMEOUT_MS = 1_000;

/** A claim of this binding, and the incarnation of the queue for which it was begun. */
export interface OwnClaim {
  readonly claim: Claim;
  readonly incarnation: number;
}

/** What all queues of a binding share. */
export interface SharedConnections {
  readonly sessions: SessionPair;
  readonly consumers: ConsumerRegistry;
}

export class QueueContext implements SharedConnections {
  readonly queue: QueueState;
  readonly appender: ItemAppender;
  readonly claims: ClaimCreator;
  readonly placeholders: Placeholders;
  readonly cleanup: ClaimCleanup;
  readonly throttleGate: ThrottleGate;
  readonly sessions: SessionPair;
  readonly consumers: ConsumerRegistry;
  readonly codec: ValueCodec;
  /** Claims whose item could not be read when it was needed. The next dequeues take them over. */
  readonly undeliveredClaims: OwnClaim[] = [];
  readonly #onError: (error: unknown) => void;
  /** Claims that are in flight or not delivered yet. */
  readonly #pendingClaims = new Set<Promise<void>>();
  /** The session whose watch reports a deletion of the queue. */
  #watchedSession: unknown;

  constructor(
    paths: QueuePaths,
    { sessions, consumers }: SharedConnections,
    options: ResolvedBindingOptions,
  ) {
    this.sessions = sessions;
    this.consumers = consumers;
    this.codec = options.codec;
    this.#onError = options.onBackgroundError;
    this.queue = new QueueState(paths);
    this.appender = new ItemAppender(sessions, paths);
    this.claims = new ClaimCreator(sessions, paths);
    this.placeholders = new Placeholders(sessions, paths, async (bytes) => {
      const number = await this.appender.add(bytes);
      this.queue.recordPlaceholder(number);
      return number;
    });
    this.cleanup = new ClaimCleanup(sessions, paths, options.onBackgroundError);
    this.throttleGate = new ThrottleGate(
      options,
      () => consumers.commitLatency.estimateMs(performance.now()) ?? 0,
    );
  }

  /** Whether no item was seen or may be in flight. Only valid while no caller uses the queue. */
  get isForgettable(): boolean {
    return (
      this.queue.isUnknown &&
      this.undeliveredClaims.length === 0 &&
      this.#watchedSession === undefined &&
      this.throttleGate.isIdle
    );
  }

  /**
   * Changes when the queue may have been recreated, or when this binding may have missed its
   * deletion.
   */
  get incarnation(): number {
    return this.queue.incarnation + this.sessions.writerCount;
  }

  /**
   * Makes the server notify the writer of a deletion before any reply about a recreated queue.
   * Sends one request for each session.
   */
  watchDeletion(): void {
    const { writer } = this.sessions;
    if (this.#watchedSession === writer) return;
    this.#watchedSession = writer;
    const watchAgain = (): void => {
      if (this.#watchedSession === writer) this.#watchedSession = undefined;
    };
    const { queue } = this;
    writer
      .exists(queue.paths.items, {
        watch({ type }) {
          watchAgain();
          if (type === 'deleted') queue.handleItemsDeleted();
          else queue.reset();
        },
      })
      .then(
        (items) => queue.recordItems(items),
        () => {
          watchAgain();
          queue.reset();
        },
      );
  }

  /** Notes a new claim. `settled` waits for it until the returned function is called. */
  beginClaim(): () => void {
    let resolve: () => void = () => {};
    const claiming = new Promise<void>((done) => (resolve = done));
    this.#pendingClaims.add(claiming);
    return () => {
      this.#pendingClaims.delete(claiming);
      resolve();
    };
  }

  /** Resolves when the claims in flight now have been delivered, or their items are left over. */
  async waitForClaims(): Promise<void> {
    await Promise.all(this.#pendingClaims);
  }

  /** Called when the binding closes. Puts undelivered items back, and removes delivered ones. */
  async close(): Promise<void> {
    const unread = this.undeliveredClaims.splice(0);
    const work = unread.map(({ claim }) =>
      requeueClaim(this.sessions.writer, this.queue.paths, claim),
    );
    for (const item of work) item.catch(this.#onError);
    await waitUntilSettled(REQUEUE_TIMEOUT_MS, work);
    await this.cleanup.flush();
  }
}
