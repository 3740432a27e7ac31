/**
 * Apache Cassandra (Correctables, OSDI 2016, §5.2, §6.2.1): one replica answers first, then a
 * quorum.
 */
import type {
  Binding,
  BindingSession,
  InvocationContext,
  Sink,
} from '../../correctable/binding.ts';
import { bindMethods } from '../../correctable/binding.ts';
import { CorrectableError, createInvalidArgumentError } from '../../correctable/errors.ts';
import type { Operation } from '../../correctable/operation.ts';
import { describeTimeToLive, hasTimeToLive, refuseTimeToLive } from '../../values/time-to-live.ts';
import { SelectedReadStrategy } from './select-read-strategy.ts';
import { Cluster } from './connection.ts';
import { createClosedError, toCorrectableError } from './errors.ts';
import { createKeyValuePlanners } from './key-value.ts';
import {
  getFinalLevel,
  type CassandraLevels,
  type Consistency,
  type FinalLevel,
  type Level,
} from './consistency-levels.ts';
import { addStatements } from '../shared/statements/statement-operations.ts';
import { findKeyspaces } from './statements/cql-text.ts';
import { resolveOptions, type CassandraOptions, type ResolvedOptions } from './options.ts';
import { createDriverReads } from './driver-reads.ts';
import { createStatementPlanner, type Planner } from './statement-plan.ts';
import { ReadRun, type OperationCall } from './read-run.ts';
import { SessionGuarantees } from './session-guarantees/session-guarantees.ts';
import { ReadStatsCollector, type ReadStats } from './session-guarantees/read-stats.ts';
import { WriteRun } from './write-run.ts';

export interface CassandraBinding<L extends CassandraLevels = CassandraLevels> extends Binding<L> {
  /** Counts of the reads so far. */
  readonly stats: ReadStats;
  /**
   * How many requests a read takes. `1`: to a coordinator that gives preliminary replies. `2`: to
   * any coordinator. `undefined`: not known until the first read.
   */
  readonly requestsPerRead: 1 | 2 | undefined;
  /**
   * Resolves when the cluster is connected and checked, and rejects if it cannot be. You need not
   * wait for it.
   */
  whenConnected(): Promise<void>;
}

/**
 * The value that the options have for `K`, or all possible values if the compiler does not know it.
 */
type OptionOrDefault<O, K extends PropertyKey, Default> = K extends keyof O
  ? Exclude<O[K], undefined> | (undefined extends O[K] ? Default : never)
  : Default;

/** The levels of a binding made with the options `O`. */
export type LevelsOf<O extends CassandraOptions> = CassandraLevels<
  FinalLevel<
    OptionOrDefault<O, 'read', 'QUORUM'> & Consistency,
    OptionOrDefault<O, 'write', 'QUORUM'> & Consistency,
    OptionOrDefault<O, 'singleDataCenter', false> & boolean
  >
>;

/**
 * Creates a binding to a Cassandra cluster. Level `weak` reads one replica. Level `strong` reads R
 * replicas, of which one or more have every write that was acknowledged before. If R + W > N does
 * not hold for `read` and `write`, the final level is `quorum`, and its views may be stale.
 * Operations: `get`, `put`, `getMany`, and those of `statements`.
 *
 * Connects at the first operation, through `cassandra-driver`, which you must install beside this
 * package.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` naming the option
 * @example
 * const store = createClient(
 *   cassandra({
 *     contactPoints: ['frankfurt:9042', 'ireland:9042'],
 *     keyspace: 'shop',
 *   }),
 * );
 * await store.invoke(put('user:7', { name: 'Ada' }));
 * for await (const { level, value } of store.invoke(get('user:7')))
 *   console.log(level, value); // weak …, strong …
 */
export function cassandra<const O extends CassandraOptions>(
  options: O,
): CassandraBinding<LevelsOf<O>> {
  const binding: CassandraBinding = bindMethods(new CassandraStore(resolveOptions(options)));
  return binding as CassandraBinding<LevelsOf<O>>;
}

class CassandraStore implements CassandraBinding {
  readonly name = 'cassandra';
  readonly #options: ResolvedOptions;
  readonly #levels: CassandraLevels;
  readonly #planners: ReadonlyMap<string, Planner>;
  readonly #cluster: Cluster;
  readonly #readStrategy: SelectedReadStrategy;
  readonly #statsCollector = new ReadStatsCollector();
  readonly #inFlight = new Set<ReadRun | WriteRun>();
  #isClosed = false;

  constructor(options: ResolvedOptions) {
    const { contactPoints, keyspace, credentials, tls, requestTimeoutMs, preliminaryReplies } =
      options;
    const { read, write, singleDataCenter } = options;
    this.#options = options;
    this.#levels = ['weak', getFinalLevel(read, write, singleDataCenter)];
    this.#planners = addStatements(
      createKeyValuePlanners(options),
      options.statements,
      createStatementPlanner,
    );
    this.#cluster = new Cluster(options, [
      ...new Set([keyspace, ...options.statements.flatMap(({ cql }) => findKeyspaces(cql))]),
    ]);
    const driverReads = createDriverReads(this.#cluster);
    this.#readStrategy = new SelectedReadStrategy({
      preliminaryReplies,
      options: {
        contactPoints,
        keyspace,
        credentials,
        tls,
        requestTimeoutMs,
        driverReads,
      },
      connect: () => this.#cluster.connect(),
    });
  }

  get stats(): ReadStats {
    return this.#statsCollector.stats;
  }

  get requestsPerRead(): 1 | 2 | undefined {
    const { hasPreliminaryReplies } = this.#readStrategy;
    return hasPreliminaryReplies === undefined ? undefined : hasPreliminaryReplies ? 1 : 2;
  }

  async whenConnected(): Promise<void> {
    try {
      await this.#readStrategy.selectStrategy();
    } catch (error) {
      throw toCorrectableError(error, { access: 'read', name: 'connect' });
    }
  }

  consistencyLevels(): CassandraLevels {
    return this.#levels;
  }

  supports(operation: Operation): boolean {
    return this.#planners.has(operation.name) && !hasTimeToLive(operation);
  }

  describeUnsupported(operation: Operation): string | undefined {
    if (TRANSACTION_OPERATIONS.has(operation.name)) return NO_TRANSACTIONS;
    return describeTimeToLive(operation);
  }

  openSession(): BindingSession {
    return new SessionGuarantees(this.#levels[1] === 'strong');
  }

  submitOperation<T>(
    operation: Operation<T>,
    levels: readonly Level[],
    sink: Sink<T, Level>,
    context: InvocationContext,
  ): void {
    if (this.#isClosed) throw createClosedError();
    const planner = this.#planners.get(operation.name);
    if (planner === undefined) {
      const reason =
        this.describeUnsupported(operation) ?? `it has ${[...this.#planners.keys()].join(', ')}`;
      const message = `the Cassandra binding has no operation '${operation.name}': ${reason}`;
      throw new CorrectableError('UNSUPPORTED', message);
    }
    refuseTimeToLive(operation, 'this table');
    const plan = planner(operation);
    if (plan.access !== operation.access)
      throw createInvalidArgumentError('access', `${plan.name} is a ${plan.access}`);
    const { session } = context;
    const call: OperationCall = {
      plan,
      levels,
      sink: sink as Sink<unknown, Level>,
      session: session instanceof SessionGuarantees ? session : undefined,
      context,
    };
    if (plan.access === 'write') this.#write(call);
    else this.#read(call);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const run of this.#inFlight) run.close();
    await this.#readStrategy.close();
    await this.#cluster.close();
  }

  #read(call: OperationCall): void {
    const { plan, session } = call;
    const [, final] = this.#levels;
    if (session !== undefined && final === 'quorum' && plan.ids.length === 0) {
      const message = `${plan.name}: no session can be kept at level quorum without versions: use read and write QUORUM`;
      throw new CorrectableError('UNSUPPORTED', message);
    }
    const { weak: weakConsistency, read: readConsistency } = this.#options;
    const run: ReadRun = new ReadRun({
      ...call,
      weakConsistency,
      readConsistency,
      strategy: this.#readStrategy,
      observation: this.#statsCollector.beginRead(plan.ids),
      finalLevel: final,
      onEnded: () => this.#inFlight.delete(run),
    });
    this.#inFlight.add(run);
    run.start();
  }

  /**
   * An update has no preliminary view: the reply of fewer replicas than `write` guarantees nothing,
   * and the update is executed only once.
   */
  #write(call: OperationCall): void {
    const run: WriteRun = new WriteRun({
      ...call,
      cluster: this.#cluster,
      statsCollector: this.#statsCollector,
      writeConsistency: this.#options.write,
      level: this.#levels[1],
      onEnded: () => this.#inFlight.delete(run),
    });
    this.#inFlight.add(run);
    void run.start();
  }
}

const TRANSACTION_OPERATIONS: ReadonlySet<string> = new Set(['readVersions', 'commit']);

/**
 * The error for transactions: a lightweight transaction (`IF`) covers one partition, and each key
 * is in a partition of its own.
 */
const NO_TRANSACTIONS =
  'Cassandra has no state that covers several partitions, and no conditional write over them, so it cannot certify a transaction. For one key, use a statement with IF (a lightweight transaction). For several keys, keep them in a RedBlue service or in ZooKeeper';
