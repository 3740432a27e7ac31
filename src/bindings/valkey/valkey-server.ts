/** One server, whose connection is opened at the first operation. */
import { CorrectableError } from '../../correctable/errors.ts';
import type { ServerAddress } from '../shared/server-address.ts';
import { loadDriver, type ValkeyClient } from './driver.ts';

export interface ValkeyServerOptions {
  readonly name: string;
  readonly address: ServerAddress;
  /** Options of `ioredis`, such as `password` and `tls`. */
  readonly redisOptions: object;
}

const CONNECT_TIMEOUT_MS = 5_000;
const MAX_RECONNECT_PAUSE_MS = 2_000;

export class ValkeyServer {
  readonly #options: ValkeyServerOptions;
  #client: ValkeyClient | undefined;
  #opening: Promise<ValkeyClient> | undefined;
  #isClosed = false;

  constructor(options: ValkeyServerOptions) {
    this.#options = options;
  }

  /** The connection, if there is one now. */
  get ready(): ValkeyClient | undefined {
    return this.#client?.status === 'ready' ? this.#client : undefined;
  }

  /** @throws CorrectableError `UNAVAILABLE` without a connection */
  async connect(): Promise<ValkeyClient> {
    if (this.ready !== undefined) return this.ready;
    this.#opening ??= this.#open().finally(() => (this.#opening = undefined));
    return await this.#opening;
  }

  close(): void {
    this.#isClosed = true;
    this.#client?.disconnect();
  }

  async #open(): Promise<ValkeyClient> {
    const { name, address, redisOptions } = this.#options;
    const { Redis } = await loadDriver();
    if (this.#client === undefined) {
      this.#client = new Redis({
        connectTimeout: CONNECT_TIMEOUT_MS,
        ...redisOptions,
        ...address,
        lazyConnect: true,
        // A write must not be sent after it was reported as not made, nor twice.
        enableOfflineQueue: false,
        autoResendUnfulfilledCommands: false,
        maxRetriesPerRequest: 0,
        retryStrategy: (attempt: number) =>
          Math.min(100 * attempt, MAX_RECONNECT_PAUSE_MS),
      } as never);
      this.#client.on('error', () => {}); // Commands fail with it.
      await this.#client.connect().catch(() => {});
    }
    if (this.#isClosed) this.#client.disconnect();
    if (this.ready !== undefined) return this.ready;
    const message = `valkey: ${name}: no connection to ${address.host}:${address.port}. Nothing was sent.`;
    throw new CorrectableError('UNAVAILABLE', message);
  }
}
