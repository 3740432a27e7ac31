/** What the operations of one queue share. */
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
import { ThrottleGate } from './throttle-gate.ts';

const REQUEUE_TIMEOUT_MS = 1_000;

/** A claim of this binding, and which queue of this name it was begun for. */
export interface OwnClaim {
  readonly claim: Claim;
  readonly incarnation: number;
}

export class QueueContext {
  readonly queue: QueueState;
  readonly appender: ItemAppender;
  readonly claims: ClaimCreator;
  readonly placeholders: Placeholders;
  readonly cleanup: ClaimCleanup;
  readonly throttleGate: ThrottleGate;
  readonly sessions: SessionPair;
  readonly consumers: ConsumerRegistry;
  readonly codec: ValueCodec;
  /**
   * Claims whose item could not be brought when it was wanted: the next
   * dequeues take them.
   */
  readonly undeliveredClaims: OwnClaim[] = [];
  readonly #onError: (error: unknown) => void;
  /** Claims in flight and not delivered yet, to be waited for. */
  readonly #pendingClaims = new Set<Promise<void>>();
  /** The session that hears of the queue's end. */
  #watchedSession: unknown;

  constructor(
    paths: QueuePaths,
    { sessions, consumers }: Pick<QueueContext, 'sessions' | 'consumers'>,
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

  /**
   * Whether no item was seen or may be in flight, put in or taken. Only valid
   * while no caller uses the queue.
   */
  get isForgettable(): boolean {
    return (
      this.queue.isUnknown &&
      this.undeliveredClaims.length === 0 &&
      this.#watchedSession === undefined &&
      this.throttleGate.isIdle
    );
  }

  /**
   * Another one once the queue may be another than before, or we may not have
   * heard that it is.
   */
  get incarnation(): number {
    return this.queue.incarnation + this.sessions.writerCount;
  }

  /**
   * Has the writer notice a deletion of the queue before any answer about a new
   * one. One request a session.
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

  /**
   * A claim begins: `settled` waits for it until the returned function is
   * called.
   */
  beginClaim(): () => void {
    let resolve: () => void = () => {};
    const claiming = new Promise<void>((done) => (resolve = done));
    this.#pendingClaims.add(claiming);
    return () => {
      this.#pendingClaims.delete(claiming);
      resolve();
    };
  }

  /**
   * Resolves when the claims in flight now have been delivered, or their items
   * are left over (`unread`).
   */
  async waitForClaims(): Promise<void> {
    await Promise.all(this.#pendingClaims);
  }

  /**
   * At the end of the binding: puts undelivered items back, and removes
   * delivered ones.
   */
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
