/** What the operations of one queue share. */
import { Appends } from './appends.ts';
import { Claims, type Claim } from './claims.ts';
import { Cleaner } from './cleaner.ts';
import { Fillers } from './fillers.ts';
import { putBack } from './janitor.ts';
import type { ResolvedBindingOptions } from '../options.ts';
import type { QueuePaths } from '../paths.ts';
import { settledWithin } from '../settled-within.ts';
import { QueueState } from './queue.ts';
import type { Sellers } from '../sellers.ts';
import type { Sessions } from '../sessions.ts';
import type { ValueCodec } from '../values.ts';
import { Window } from './window.ts';

/** How long putting back may take at the end of the binding. */
const PUT_BACK_MS = 1_000;

/** A claim of this binding, and which queue of this name it was begun for. */
export interface OwnClaim {
  readonly claim: Claim;
  readonly incarnation: number;
}

export class QueueAccess {
  readonly queue: QueueState;
  readonly appends: Appends;
  readonly claims: Claims;
  readonly fillers: Fillers;
  readonly cleaner: Cleaner;
  readonly window: Window;
  readonly sessions: Sessions;
  readonly sellers: Sellers;
  readonly codec: ValueCodec;
  /** Claims whose item could not be brought when it was wanted: the next dequeues take them. */
  readonly unread: OwnClaim[] = [];
  readonly #onError: (error: unknown) => void;
  /** Claims under way and not delivered yet, to be waited for. */
  readonly #claiming = new Set<Promise<void>>();
  /** The session that hears of the queue's end. */
  #watching: unknown;

  constructor(
    paths: QueuePaths,
    { sessions, sellers }: Pick<QueueAccess, 'sessions' | 'sellers'>,
    options: ResolvedBindingOptions,
  ) {
    this.sessions = sessions;
    this.sellers = sellers;
    this.codec = options.codec;
    this.#onError = options.onBackgroundError;
    this.queue = new QueueState(paths);
    this.appends = new Appends(sessions, paths);
    this.claims = new Claims(sessions, paths);
    this.fillers = new Fillers(sessions, paths, async (bytes) => {
      const number = await this.appends.add(bytes);
      this.queue.sawFiller(number);
      return number;
    });
    this.cleaner = new Cleaner(sessions, paths, options.onBackgroundError);
    this.window = new Window(options, () => sellers.agreement.withinMs(performance.now()) ?? 0);
  }

  /** Whether nothing was ever put in or taken, as far as was seen, nor may be under way. To be asked while nobody uses it. */
  get isForgettable(): boolean {
    return this.queue.isUnknown && this.unread.length === 0 && this.#watching === undefined && this.window.isRested;
  }

  /** Another one once the queue may be another than before, or we may not have heard that it is. */
  get incarnation(): number {
    return this.queue.incarnation + this.sessions.writers;
  }

  /**
   * Sees to it that the writer hears when the queue is deleted: before any answer about one made anew. To be called before
   * a claim is sent; costs one question a session.
   */
  watchEnd(): void {
    const { writer } = this.sessions;
    if (this.#watching === writer) return;
    this.#watching = writer;
    const watchAnew = (): void => {
      if (this.#watching === writer) this.#watching = undefined;
    };
    const { queue } = this;
    writer
      .exists(queue.paths.items, {
        watch({ type }) {
          watchAnew();
          if (type === 'deleted') queue.itemsGone();
          else queue.renew();
        },
      })
      .then(
        (items) => queue.sawItems(items),
        () => {
          watchAnew();
          queue.renew();
        },
      );
  }

  /** A claim begins: `settled` waits for it until the returned function is called. */
  beginClaim(): () => void {
    let resolve: () => void = () => {};
    const claiming = new Promise<void>((done) => (resolve = done));
    this.#claiming.add(claiming);
    return () => {
      this.#claiming.delete(claiming);
      resolve();
    };
  }

  /** Resolves when the claims under way now have been delivered, or their items are left over (`unread`). */
  async settled(): Promise<void> {
    await Promise.all(this.#claiming);
  }

  /** At the end of the binding: puts back what nobody got, and removes what was delivered. */
  async finish(): Promise<void> {
    const unread = this.unread.splice(0);
    const work = unread.map(({ claim }) => putBack(this.sessions.writer, this.queue.paths, claim));
    for (const each of work) each.catch(this.#onError);
    await settledWithin(PUT_BACK_MS, work);
    await this.cleaner.flush();
  }
}
