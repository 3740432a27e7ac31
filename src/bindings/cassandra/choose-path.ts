/** Which way reads take: one request where the coordinator gives preliminary replies, otherwise two. */
import { CorrectableError } from '../../correctable/errors.ts';
import { formatAddress, type ServerAddress } from '../../engine-client/address.ts';
import type { CassandraDriver } from './driver.ts';
import { closedError } from './failures.ts';
import type {
  CorrectableOption,
  ReadPath,
  ReadPathSettings,
  ReadRequest,
  ReadSink,
  ReadStatement,
} from './read-path.ts';

/** What there is to choose from. */
export interface Choice {
  readonly wanted: CorrectableOption;
  readonly settings: ReadPathSettings;
  /**
   * Opens a path to a coordinator that gives preliminary replies; `undefined` if the preferred coordinator is an ordinary
   * one. Rejects if it cannot be reached.
   */
  readonly open: (driver: CassandraDriver, settings: ReadPathSettings) => Promise<ReadPath | undefined>;
  /** Resolves once the cluster is connected and is what the options say. */
  readonly connected: () => Promise<{ readonly driver: CassandraDriver }>;
}

/** How long a coordinator that could not be looked at is left alone at first; after each vain look twice as long. */
const LOOK_AGAIN_FIRST_MS = 1_000;
const LOOK_AGAIN_MAX_MS = 60_000;

export class ChosenPath implements ReadPath {
  readonly #choice: Choice;
  #path: ReadPath | undefined;
  #choosing: Promise<ReadPath> | undefined;
  #vainLooks = 0;
  #lookAgainAt = 0;
  #isConnected = false;
  #isClosed = false;

  constructor(choice: Choice) {
    this.#choice = choice;
  }

  /** Whether reads take one request; `undefined` until that is known. */
  get isCorrectable(): boolean | undefined {
    return this.#path === undefined ? undefined : this.#path !== this.#choice.settings.plain;
  }

  /** While the coordinator is looked at, reads go by two requests: it may be slow to say that it is there. */
  read(statement: ReadStatement, request: ReadRequest, sink: ReadSink): void {
    if (this.#path !== undefined) return this.#path.read(statement, request, sink);
    const { wanted, settings } = this.#choice;
    const chosen = this.chosen();
    if (wanted === 'auto') chosen.catch(() => {});
    if (wanted === 'auto' && this.#isConnected) return settings.plain.read(statement, request, sink);
    const ready = wanted === 'auto' ? this.#connected().then(() => settings.plain) : chosen;
    ready.then(
      (path) => (this.#path ?? path).read(statement, request, sink),
      (error: unknown) => sink.fail(error),
    );
  }

  /** The path, chosen once. Where the cluster is away it is chosen anew at the next call. */
  chosen(): Promise<ReadPath> {
    this.#choosing ??= this.#choose().finally(() => (this.#choosing = undefined));
    return this.#choosing;
  }

  /** What is still looked at is closed once it has been found. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#path?.close();
  }

  async #connected(): Promise<CassandraDriver> {
    const { driver } = await this.#choice.connected();
    if (this.#isClosed) throw closedError();
    this.#isConnected = true;
    return driver;
  }

  async #choose(): Promise<ReadPath> {
    const { wanted, settings, open } = this.#choice;
    const driver = await this.#connected();
    if (wanted === 'never') return (this.#path = settings.plain);
    if (wanted === 'auto' && performance.now() < this.#lookAgainAt) return settings.plain;
    try {
      const path = await open(driver, settings);
      if (this.#isClosed) {
        await path?.close();
        return settings.plain;
      }
      if (path === undefined && wanted === 'require') throw noPreliminaries(settings);
      return (this.#path = path ?? settings.plain);
    } catch (error) {
      if (wanted === 'require') throw error;
      this.#lookAgainAt = performance.now() + Math.min(LOOK_AGAIN_MAX_MS, LOOK_AGAIN_FIRST_MS * 2 ** this.#vainLooks);
      this.#vainLooks += 1;
      return settings.plain;
    }
  }
}

function noPreliminaries({ contactPoints }: ReadPathSettings): CorrectableError {
  const coordinator = formatAddress(contactPoints[0] as ServerAddress);
  const message = `correctable: ${coordinator} gives no preliminary replies: install the plugin there, or choose 'auto'`;
  return new CorrectableError('UNSUPPORTED', message, { field: 'correctable' });
}
