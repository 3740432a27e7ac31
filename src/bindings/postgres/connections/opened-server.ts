/** A server whose pool the binding makes at the first operation. */
import { CorrectableError } from '../../../correctable/errors.ts';
import { loadDriver, type DriverPool, type PostgresDriver } from '../driver.ts';
import { CONNECT_TIMEOUT_MS, PoolServer } from './pool-server.ts';
import type {
  CallOptions,
  LentConnection,
  Outcomes,
  PostgresServer,
  SqlStatement,
} from './server.ts';

export interface OpenedServerOptions {
  readonly name: string;
  /** Options of `pg.Pool`. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly prepare: boolean;
  readonly driver: PostgresDriver | undefined;
}

export class OpenedServer implements PostgresServer {
  onRefused: (error: CorrectableError) => void = () => {};
  readonly #options: OpenedServerOptions;
  #server: PoolServer | undefined;
  #opening: Promise<PoolServer> | undefined;
  #isClosed = false;

  constructor(options: OpenedServerOptions) {
    this.#options = options;
  }

  async run(statements: readonly SqlStatement[], options: CallOptions): Promise<Outcomes> {
    // Once it is open, nothing is awaited before a write is sent.
    const server = this.#server ?? (await this.#open());
    return await server.run(statements, options);
  }

  async lend<T>(
    options: CallOptions,
    body: (connection: LentConnection) => Promise<T>,
  ): Promise<T> {
    const server = this.#server ?? (await this.#open());
    return await server.lend(options, body);
  }

  async probe(): Promise<void> {
    const server = this.#server ?? (await this.#open());
    await server.probe();
  }

  renew(): void {
    this.#server?.renew();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#server?.close();
  }

  #open(): Promise<PoolServer> {
    this.#opening ??= this.#load().finally(() => (this.#opening = undefined));
    return this.#opening;
  }

  async #load(): Promise<PoolServer> {
    const { name, config, prepare, driver } = this.#options;
    const { Pool } = await loadDriver(driver);
    if (this.#isClosed) {
      const message = `postgres: ${name}: the binding is closed. Nothing was sent.`;
      throw new CorrectableError('UNAVAILABLE', message, { retryable: false });
    }
    const pool: DriverPool = new Pool({
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      ...config,
      pipeline: true,
    } as never);
    const server = new PoolServer({ name, pool, prepare, isOwned: true });
    server.onRefused = (error) => this.onRefused(error);
    this.#server = server;
    return server;
  }
}
