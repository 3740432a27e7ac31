/**
 * The two sessions of a binding, both at the same server. ZooKeeper answers each session in order, so that a read behind
 * an update of the same session waits for it: preliminary views need a session of their own.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { CorrectableError } from '../../correctable/errors.ts';
import type { Pace } from '../../correctable/pace/unseen.ts';
import { insteadOf, isZooKeeperError } from './client/errors.ts';
import { ZooKeeper } from './client/zookeeper.ts';
import { closedError, isBusy, isLost, notDoneError } from './failures.ts';
import type { ResolvedBindingOptions } from './options.ts';
import type { Paths } from './paths.ts';

const ID_BYTES = 6;
/** How often a busy server is asked before it is taken for more than busy: about three seconds in all. */
const ATTEMPTS_MAX = 8;
const BUSY_MS = 20;
const BUSY_MAX_MS = 1_000;

type Role = 'reader' | 'writer';

export class Sessions {
  /** Names this binding in claims. */
  readonly consumer: string = randomBytes(ID_BYTES).toString('base64url').replaceAll(/[-_]/g, '0');
  /**
   * Whether the writer's server gives preliminary replies (`engines/zookeeper-czk`); undefined until one has been asked for
   * at this server.
   */
  preliminaries: boolean | undefined;
  readonly #options: ResolvedBindingOptions;
  readonly #paths: Paths;
  #reader: ZooKeeper;
  #writer: ZooKeeper;
  #registered: Promise<void> | undefined;
  #writers = 0;
  /** What sessions that are over had seen. */
  #floor = 0n;
  #isClosing = false;
  #isClosed = false;

  constructor(options: ResolvedBindingOptions, paths: Paths) {
    this.#options = options;
    this.#paths = paths;
    this.#writer = this.#open('writer');
    this.#reader = this.#open('reader');
  }

  /** For preliminary views: it waits for nothing. */
  get reader(): ZooKeeper {
    return this.#reader;
  }

  /** For updates and for reads after a `sync`, in the order in which they were made. */
  get writer(): ZooKeeper {
    return this.#writer;
  }

  /** Counts the sessions that have been writers: what a session hears of, a later one has not heard. */
  get writers(): number {
    return this.#writers;
  }

  /** From now on nothing new is begun; what is under way goes on until `close`. */
  beginClosing(): void {
    this.#isClosing = true;
  }

  /** Resolves when both sessions are connected; rejects when they are not within the time of a session. */
  async connected(): Promise<void> {
    const { servers, sessionTimeoutMs } = this.#options;
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        const cause = this.#writer.obstacle ?? this.#reader.obstacle;
        const message = `no connection to ${servers} within ${sessionTimeoutMs} ms${cause ? `: ${cause.message}` : ''}`;
        reject(new CorrectableError('UNAVAILABLE', message, { cause }));
      }, sessionTimeoutMs);
    });
    try {
      await Promise.race([Promise.all([this.#reader.connected(), this.#writer.connected()]), tooLate]);
    } catch (error) {
      throw notDoneError(error);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Payload bytes of both sessions so far. */
  get bytes(): { readonly sent: number; readonly received: number } {
    const [reader, writer] = [this.#reader.bytes, this.#writer.bytes];
    return { sent: reader.sent + writer.sent, received: reader.received + writer.received };
  }

  /** Repeats what may be repeated, over other connections and sessions, until it is answered or the binding closes. */
  async persist<T>(role: Role, request: (zk: ZooKeeper) => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await request(role === 'reader' ? this.#reader : this.#writer);
      } catch (error) {
        if (!isLost(error) || this.#isClosed) throw error;
      }
    }
  }

  /**
   * `persist`, for what must not be given up lightly: what a busy server refuses is repeated too, with longer and
   * longer pauses.
   */
  async insist<T>(role: Role, request: (zk: ZooKeeper) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.persist(role, request);
      } catch (error) {
        if (!isBusy(error) || attempt === ATTEMPTS_MAX || this.#isClosed) throw error;
      }
      await pause(Math.min(BUSY_MS * 2 ** attempt, BUSY_MAX_MS) * (0.5 + Math.random() / 2));
    }
  }

  /** Registers the binding as alive, once a session: a claim whose consumer is not registered is the janitor's. */
  register(): Promise<void> {
    this.#registered ??= this.#registerNow().catch((error: unknown) => {
      this.#registered = undefined;
      throw error;
    });
    return this.#registered;
  }

  /** Resolves when the binding is connected and registered: before that no claim is to be on its way. */
  async ready(): Promise<void> {
    await this.persist('writer', (zk) => zk.connected());
    await this.register();
  }

  /** Makes a persistent node and its ancestors, unless they are there. */
  async makePath(path: string): Promise<void> {
    const names = path.slice(1).split('/');
    const paths = names.map((_, at) => `/${names.slice(0, at + 1).join('/')}`);
    await this.persist('writer', async (zk) => {
      await Promise.all(paths.map((each) => zk.create(each, null).catch(insteadOf('NODE_EXISTS', each))));
    });
  }

  /** @throws CorrectableError once closing has begun */
  requireOpen(): void {
    if (this.#isClosing) throw closedError();
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    this.#isClosed = true;
    await Promise.all([this.#reader.close(), this.#writer.close()]);
  }

  async #registerNow(): Promise<void> {
    const path = this.#paths.consumer(this.consumer);
    const { window, turnMs } = this.#options;
    const pace: Pace = { window, turnMs };
    await this.insist('writer', async (zk) => {
      for (;;) {
        try {
          return void (await zk.create(path, JSON.stringify(pace), { mode: 'ephemeral' }));
        } catch (error) {
          if (isZooKeeperError(error, 'NO_NODE')) await this.makePath(this.#paths.consumers);
          else if (!isZooKeeperError(error, 'NODE_EXISTS')) throw error;
          else if (await this.#isOurs(zk, path)) return;
        }
      }
    });
  }

  /** A node of a session of ours that has expired goes away on its own, but later: it must be replaced. */
  async #isOurs(zk: ZooKeeper, path: string): Promise<boolean> {
    const node = await zk.exists(path);
    if (node?.ephemeralOwner === zk.sessionId) return true;
    await zk.delete(path).catch(insteadOf('NO_NODE', undefined));
    return false;
  }

  #open(role: Role): ZooKeeper {
    const { servers, sessionTimeoutMs, auth, onBackgroundError } = this.#options;
    const other = (): ZooKeeper | undefined => (role === 'reader' ? this.#writer : this.#reader);
    const zk = new ZooKeeper(servers, {
      sessionTimeoutMs,
      // What one session has seen the other sees too, wherever it connects.
      zxidFloor: () => highest(other()?.lastZxid ?? 0n, this.#floor),
      onUncaught: onBackgroundError,
    });
    if (auth !== undefined) zk.addAuth(auth.scheme, auth.secret);
    zk.onSession((event) => {
      if (event.type === 'expired') this.#replace(role);
      else if (event.type === 'connected' && role === 'writer') {
        this.preliminaries = undefined;
        this.#reader?.prefer(event.server);
      }
    });
    return zk;
  }

  #replace(role: Role): void {
    if (this.#isClosed) return;
    this.#floor = highest(this.#floor, (role === 'reader' ? this.#reader : this.#writer).lastZxid);
    if (role === 'reader') this.#reader = this.#open('reader');
    else {
      this.#writers += 1;
      this.#writer = this.#open('writer');
      const wasRegistered = this.#registered !== undefined;
      this.#registered = undefined;
      if (wasRegistered) void this.register().catch(this.#options.onBackgroundError);
    }
  }
}

function highest(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
