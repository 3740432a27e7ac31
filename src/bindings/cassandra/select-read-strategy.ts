/** Selects how reads run: one request if the coordinator has preliminary replies, otherwise two. */
import { CorrectableError } from '../../correctable/errors.ts';
import { formatAddress, type ServerAddress } from '../shared/server-address.ts';
import type { CassandraDriver } from './driver.ts';
import { createClosedError } from './errors.ts';
import type {
  PreliminaryReplies,
  ReadStrategy,
  ReadStrategyOptions,
  ReadRequest,
  ReadSink,
  ReadStatement,
} from './read-strategy.ts';

export interface ReadStrategySelection {
  /** `undefined`: each read with two views takes two requests. */
  readonly preliminaryReplies: PreliminaryReplies | undefined;
  readonly options: ReadStrategyOptions;
  /** Resolves once the cluster is connected and matches the options. */
  readonly connect: () => Promise<{ readonly driver: CassandraDriver }>;
}

/**
 * The first interval before a coordinator that could not be probed is probed again. It doubles
 * after each failure.
 */
const FIRST_PROBE_INTERVAL_MS = 1_000;
const MAX_PROBE_INTERVAL_MS = 60_000;

export class SelectedReadStrategy implements ReadStrategy {
  readonly #selection: ReadStrategySelection;
  #strategy: ReadStrategy | undefined;
  #selecting: Promise<ReadStrategy> | undefined;
  #failedProbeCount = 0;
  #nextProbeAt = 0;
  #isConnected = false;
  #isClosed = false;

  constructor(choice: ReadStrategySelection) {
    this.#selection = choice;
  }

  /** Whether reads take one request; `undefined` until that is known. */
  get hasPreliminaryReplies(): boolean | undefined {
    return this.#strategy === undefined
      ? undefined
      : this.#strategy !== this.#selection.options.driverReads;
  }

  /** While the coordinator is probed, reads use two requests, because it may be slow to respond. */
  read(statement: ReadStatement, request: ReadRequest, sink: ReadSink): void {
    if (this.#strategy !== undefined) return this.#strategy.read(statement, request, sink);
    const { preliminaryReplies, options } = this.#selection;
    const isOptional = preliminaryReplies?.isRequired === false;
    const chosen = this.selectStrategy();
    if (isOptional) chosen.catch(() => {});
    if (isOptional && this.#isConnected) return options.driverReads.read(statement, request, sink);
    const ready = isOptional ? this.#connect().then(() => options.driverReads) : chosen;
    ready.then(
      (path) => (this.#strategy ?? path).read(statement, request, sink),
      (error: unknown) => sink.fail(error),
    );
  }

  /**
   * Returns the strategy, which is selected once. If the cluster is unreachable, the next call
   * selects again.
   */
  selectStrategy(): Promise<ReadStrategy> {
    this.#selecting ??= this.#probeAndSelect().finally(() => (this.#selecting = undefined));
    return this.#selecting;
  }

  /** A strategy that is still being opened is closed once it is open. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#strategy?.close();
  }

  async #connect(): Promise<CassandraDriver> {
    const { driver } = await this.#selection.connect();
    if (this.#isClosed) throw createClosedError();
    this.#isConnected = true;
    return driver;
  }

  async #probeAndSelect(): Promise<ReadStrategy> {
    const { preliminaryReplies, options } = this.#selection;
    const driver = await this.#connect();
    if (preliminaryReplies === undefined) return (this.#strategy = options.driverReads);
    const { isRequired } = preliminaryReplies;
    if (!isRequired && performance.now() < this.#nextProbeAt) return options.driverReads;
    try {
      const path = await preliminaryReplies.open(driver, options);
      if (this.#isClosed) {
        await path?.close();
        return options.driverReads;
      }
      if (path === undefined && isRequired) throw createNoPreliminariesError(options);
      return (this.#strategy = path ?? options.driverReads);
    } catch (error) {
      if (isRequired) throw error;
      this.#nextProbeAt =
        performance.now() +
        Math.min(MAX_PROBE_INTERVAL_MS, FIRST_PROBE_INTERVAL_MS * 2 ** this.#failedProbeCount);
      this.#failedProbeCount += 1;
      return options.driverReads;
    }
  }
}

function createNoPreliminariesError({ contactPoints }: ReadStrategyOptions): CorrectableError {
  const coordinator = formatAddress(contactPoints[0] as ServerAddress);
  const message = `preliminaryReplies: ${coordinator} gives no preliminary replies: install the plugin there, or leave out \`required\``;
  return new CorrectableError('UNSUPPORTED', message, {
    field: 'preliminaryReplies',
  });
}
