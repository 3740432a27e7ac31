/**
 * Two sessions: ZooKeeper answers each in order, so a preliminary read must not
 * wait behind an update.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { CorrectableError } from '../../correctable/errors.ts';
import type { Throttle } from '../../correctable/throttle/concurrent-writes.ts';
import { replaceErrorWith, isZooKeeperError } from './client/errors.ts';
import { ZooKeeper } from './client/zookeeper.ts';
import {
  createClosedError,
  isBusy,
  isConnectionLost,
  toNotAppliedError,
} from './errors.ts';
import type { ResolvedBindingOptions } from './options.ts';
import { parseSequenceNumber, type Paths } from './paths.ts';

const ID_BYTES = 6;
/**
 * How often a busy server is asked before it is taken for more than busy: about
 * three seconds in all.
 */
const MAX_ATTEMPTS = 8;
const INITIAL_BUSY_DELAY_MS = 20;
const MAX_BUSY_DELAY_MS = 1_000;

type SessionRole = 'reader' | 'writer';

export class SessionPair {
  /** Names this binding in claims. */
  readonly consumerId: string = randomBytes(ID_BYTES)
    .toString('base64url')
    .replaceAll(/[-_]/g, '0');
  /**
   * Whether the writer's server gives preliminary replies
   * (`engines/zookeeper-czk`); undefined until one was tried.
   */
  hasPreliminaryReplies: boolean | undefined;
  readonly #options: ResolvedBindingOptions;
  readonly #paths: Paths;
  /** For preliminary views: it waits for nothing. */
  reader: ZooKeeper;
  /**
   * For updates and for reads after a `sync`, in the order in which they were
   * made.
   */
  writer: ZooKeeper;
  /**
   * Counts the sessions that have been writers: what a session hears of, a
   * later one has not heard.
   */
  writerCount = 0;
  #registered: Promise<void> | undefined;
  /** What sessions that are over had seen. */
  #minZxid = 0n;
  #isClosing = false;
  #isClosed = false;

  constructor(options: ResolvedBindingOptions, paths: Paths) {
    this.#options = options;
    this.#paths = paths;
    this.writer = this.#open('writer');
    this.reader = this.#open('reader');
  }

  /**
   * From now on nothing new is begun; what is in flight goes on until `close`.
   */
  beginClosing(): void {
    this.#isClosing = true;
  }

  /**
   * Resolves when both sessions are connected; rejects when they are not within
   * the time of a session.
   */
  async whenConnected(): Promise<void> {
    const { servers, sessionTimeoutMs } = this.#options;
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        const cause = this.writer.blockedBy ?? this.reader.blockedBy;
        const message = `no connection to ${servers} within ${sessionTimeoutMs} ms${cause ? `: ${cause.message}` : ''}`;
        reject(new CorrectableError('UNAVAILABLE', message, { cause }));
      }, sessionTimeoutMs);
    });
    try {
      await Promise.race([
        Promise.all([this.reader.whenConnected(), this.writer.whenConnected()]),
        tooLate,
      ]);
    } catch (error) {
      throw toNotAppliedError(error);
    } finally {
      clearTimeout(timer);
    }
  }

  get bytes(): { readonly sent: number; readonly received: number } {
    const [reader, writer] = [this.reader.bytes, this.writer.bytes];
    return {
      sent: reader.sent + writer.sent,
      received: reader.received + writer.received,
    };
  }

  /**
   * Repeats what may be repeated, over other connections and sessions, until it
   * is answered or the binding closes.
   */
  async retryLost<T>(
    role: SessionRole,
    request: (zk: ZooKeeper) => Promise<T>,
  ): Promise<T> {
    for (;;) {
      try {
        return await request(role === 'reader' ? this.reader : this.writer);
      } catch (error) {
        if (!isConnectionLost(error) || this.#isClosed) throw error;
      }
    }
  }

  /**
   * Like `retryLost`, and also retries what a busy server refuses, with growing
   * pauses.
   */
  async retryBusy<T>(
    role: SessionRole,
    request: (zk: ZooKeeper) => Promise<T>,
  ): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.retryLost(role, request);
      } catch (error) {
        if (!isBusy(error) || attempt === MAX_ATTEMPTS || this.#isClosed)
          throw error;
      }
      await pause(
        Math.min(INITIAL_BUSY_DELAY_MS * 2 ** attempt, MAX_BUSY_DELAY_MS) *
          (0.5 + Math.random() / 2),
      );
    }
  }

  /**
   * Registers the binding as alive, once a session: a claim whose consumer is
   * not registered is the janitor's.
   */
  register(): Promise<void> {
    this.#registered ??= this.#registerNow().catch((error: unknown) => {
      this.#registered = undefined;
      throw error;
    });
    return this.#registered;
  }

  /**
   * Resolves when the binding is connected and registered: before that no claim
   * is to be on its way.
   */
  async whenRegistered(): Promise<void> {
    await this.retryLost('writer', (zk) => zk.whenConnected());
    await this.register();
  }

  /** Makes a persistent node and its ancestors, unless they are there. */
  async createPath(path: string): Promise<void> {
    const names = path.slice(1).split('/');
    const paths = names.map((_, at) => `/${names.slice(0, at + 1).join('/')}`);
    await this.retryLost('writer', async (zk) => {
      await Promise.all(
        paths.map((item) =>
          zk.create(item, null).catch(replaceErrorWith('NODE_EXISTS', item)),
        ),
      );
    });
  }

  /**
   * Creates a sequential node. `onPreliminary` hears of the number that it
   * should get, from a server that says so: whether a server does is learnt
   * from the first create.
   */
  async createSequential(
    path: string,
    data: Uint8Array | null,
    onPreliminary: ((number: number) => void) | undefined,
  ): Promise<string> {
    const { writer } = this;
    const mode = 'persistent-sequential';
    if (onPreliminary === undefined || this.hasPreliminaryReplies === false)
      return writer.create(path, data, { mode });
    const { server } = writer;
    let isGiven = false;
    const created = await writer.create(path, data, {
      mode,
      onPreliminary(name) {
        isGiven = true;
        onPreliminary(parseSequenceNumber(name));
      },
    });
    if (server !== undefined && writer.server === server)
      this.hasPreliminaryReplies = isGiven;
    return created;
  }

  /** @throws CorrectableError once closing has begun */
  checkOpen(): void {
    if (this.#isClosing) throw createClosedError();
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    this.#isClosed = true;
    await Promise.all([this.reader.close(), this.writer.close()]);
  }

  async #registerNow(): Promise<void> {
    const path = this.#paths.consumer(this.consumerId);
    const { maxInFlight, minSlotIntervalMs } = this.#options;
    const pace: Throttle = { maxInFlight, minSlotIntervalMs };
    await this.retryBusy('writer', async (zk) => {
      for (;;) {
        try {
          return void (await zk.create(path, JSON.stringify(pace), {
            mode: 'ephemeral',
          }));
        } catch (error) {
          if (isZooKeeperError(error, 'NO_NODE'))
            await this.createPath(this.#paths.consumers);
          else if (!isZooKeeperError(error, 'NODE_EXISTS')) throw error;
          else if (await this.#isOwnNode(zk, path)) return;
        }
      }
    });
  }

  /**
   * A node of a session of ours that has expired goes away on its own, but
   * later: it must be replaced.
   */
  async #isOwnNode(zk: ZooKeeper, path: string): Promise<boolean> {
    const node = await zk.exists(path);
    if (node?.ephemeralOwner === zk.sessionId) return true;
    await zk.delete(path).catch(replaceErrorWith('NO_NODE', undefined));
    return false;
  }

  #open(role: SessionRole): ZooKeeper {
    const { servers, sessionTimeoutMs, auth, onBackgroundError } =
      this.#options;
    const other = (): ZooKeeper | undefined =>
      role === 'reader' ? this.writer : this.reader;
    const zk = new ZooKeeper(servers, {
      sessionTimeoutMs,
      // What one session has seen the other sees too, wherever it connects.
      getMinZxid: () => getHigher(other()?.lastZxid ?? 0n, this.#minZxid),
      onUncaught: onBackgroundError,
    });
    if (auth !== undefined) zk.addAuth(auth.scheme, auth.secret);
    zk.onSession((event) => {
      if (event.type === 'expired') this.#replace(role);
      else if (event.type === 'connected' && role === 'writer') {
        this.hasPreliminaryReplies = undefined;
        this.reader?.preferServer(event.server);
      }
    });
    return zk;
  }

  #replace(role: SessionRole): void {
    if (this.#isClosed) return;
    this.#minZxid = getHigher(
      this.#minZxid,
      (role === 'reader' ? this.reader : this.writer).lastZxid,
    );
    if (role === 'reader') this.reader = this.#open('reader');
    else {
      this.writerCount += 1;
      this.writer = this.#open('writer');
      const wasRegistered = this.#registered !== undefined;
      this.#registered = undefined;
      if (wasRegistered)
        void this.register().catch(this.#options.onBackgroundError);
    }
  }
}

function getHigher(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
