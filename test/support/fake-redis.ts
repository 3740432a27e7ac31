/** A driver whose servers answer as a test says, in place of ioredis. */
import type {
  RedisArgument,
  RedisClient,
  RedisDriver,
} from '../../src/bindings/shared/redis/redis-driver.ts';

export type Answer = (command: string, ...args: readonly RedisArgument[]) => unknown;

/** Never settles, as a server that accepts connections and does not answer. */
export const SILENCE = new Promise<never>(() => {});

/** An error as the server replies it. */
export function createReply(message: string): Error {
  return Object.assign(new Error(message), { name: 'ReplyError' });
}

export class FakeRedis implements RedisDriver {
  /** What each server answers, by its port. A port that is missing refuses connections. */
  readonly servers = new Map<number, Answer>();
  /** The error with which a server ends the handshake, by its port. */
  readonly refusals = new Map<number, Error>();
  /** Each connection that was opened, with the options. */
  readonly opened: (FakeClient & { readonly options: FakeOptions })[] = [];
  readonly Redis: RedisDriver['Redis'];

  constructor() {
    const open = (options: FakeOptions): FakeClient => {
      const client = new FakeClient(this, options);
      this.opened.push(client);
      return client;
    };
    this.Redis = function Redis(options: FakeOptions) {
      return open(options);
    } as unknown as RedisDriver['Redis'];
  }

  readonly load = (): Promise<RedisDriver> => Promise.resolve(this);
}

export interface FakeOptions {
  readonly host: string;
  readonly port: number;
  readonly password?: string;
}

class FakeClient implements RedisClient {
  status = 'wait';
  readonly options: FakeOptions;
  readonly stream = { bytesRead: 0, writableLength: 0 };
  readonly #driver: FakeRedis;
  readonly #pending = new Set<(error: Error) => void>();
  #onError: (error: unknown) => void = () => {};

  constructor(driver: FakeRedis, options: FakeOptions) {
    this.#driver = driver;
    this.options = options;
  }

  async connect(): Promise<void> {
    const { port } = this.options;
    const problem = this.#driver.refusals.get(port);
    if (problem === undefined && this.#driver.servers.has(port))
      return void (this.status = 'ready');
    this.#onError(problem ?? new Error(`connect ECONNREFUSED :${port}`));
    throw new Error('Connection is closed.');
  }

  call(command: string, ...args: RedisArgument[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#pending.add(reject);
      const answer = (): unknown => this.#driver.servers.get(this.options.port)?.(command, ...args);
      void Promise.resolve()
        .then(answer)
        .then(resolve, reject)
        .finally(() => this.#pending.delete(reject));
    });
  }

  callBuffer(command: string, ...args: RedisArgument[]): Promise<unknown> {
    return this.call(command, ...args);
  }

  multi(): never {
    throw new Error('not used');
  }

  pipeline(): never {
    throw new Error('not used');
  }

  on(_event: 'error', listener: (error: unknown) => void): void {
    this.#onError = listener;
  }

  disconnect(): void {
    this.status = 'end';
    for (const reject of this.#pending) reject(new Error('Connection is closed.'));
  }
}
