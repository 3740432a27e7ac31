/**
 * Reads and writes on Apache Cassandra (Correctables, OSDI 2016, §5.2 and §6.2.1): preliminary views from one replica, final
 * ones from a quorum. Works with an unmodified cluster.
 */
import type { Binding, BindingSession, InvocationContext, Sink } from '../../correctable/binding.ts';
import { bindMethods } from '../../correctable/binding.ts';
import { CorrectableError, invalidArgument } from '../../correctable/errors.ts';
import type { Operation } from '../../correctable/operation.ts';
import { ChosenPath } from './choose-path.ts';
import { Cluster } from './cluster.ts';
import { closedError, correctableError } from './failures.ts';
import { keyValuePlanners } from './key-value.ts';
import { finalLevel, type CassandraLevels, type Consistency, type FinalLevel, type Level } from './levels.ts';
import { namedKeyspaces } from './statements/markers.ts';
import { resolveOptions, type CassandraOptions, type ResolvedOptions } from './options.ts';
import { PlainPath } from './plain-path.ts';
import { statementPlanner, type Planner } from './plan.ts';
import { ReadRun, type Call } from './read-run.ts';
import { ReadSession } from './sessions/session.ts';
import { listOf } from './statements/statements.ts';
import { Tally, type ReadCounts } from './sessions/tally.ts';
import { UpdateRun } from './update-run.ts';
import { correctablePath } from './icg/correctable-path.ts';

export interface CassandraBinding<L extends CassandraLevels = CassandraLevels> extends Binding<L> {
  /** What came of the reads so far. */
  readonly counts: ReadCounts;
  /**
   * Whether reads are one request to a coordinator that gives preliminary replies, or two requests to any; `undefined`
   * until the first one has found out.
   */
  readonly requestsPerRead: 1 | 2 | undefined;
  /** Resolves when the cluster is connected and checked; rejects when it cannot be. Waiting for it is optional. */
  connected(): Promise<void>;
}

/** What the options say for `K`; everything that they may say where the compiler does not know. */
type Given<O, K extends PropertyKey, Default> = K extends keyof O
  ? Exclude<O[K], undefined> | (undefined extends O[K] ? Default : never)
  : Default;

/** The levels of a binding made with the options `O`. */
export type LevelsOf<O extends CassandraOptions> = CassandraLevels<
  FinalLevel<
    Given<O, 'read', 'QUORUM'> & Consistency,
    Given<O, 'write', 'QUORUM'> & Consistency,
    Given<O, 'singleDataCenter', false> & boolean
  >
>;

/**
 * A binding to a Cassandra cluster, with the levels `weak`, one replica, and `strong`, R replicas of which at least one has
 * every update that was answered before. Where R + W > N does not hold for `read` and `write`, the final level is called
 * `quorum`, and its views may be stale. Operations: `get`, `put`, `getMany`, and those of `statements`.
 *
 * Connects at the first operation, through `cassandra-driver`, which has to be installed beside this package.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` that names the option
 * @example
 * const store = createClient(cassandra({ contactPoints: ['frk:9042', 'irl:9042'], keyspace: 'shop' }));
 * await store.invoke(put('user:7', { name: 'Ada' }));
 * for await (const { level, value } of store.invoke(get('user:7'))) console.log(level, value); // weak …, strong …
 */
export function cassandra<const O extends CassandraOptions>(options: O): CassandraBinding<LevelsOf<O>> {
  const binding: CassandraBinding = bindMethods(new CassandraStore(resolveOptions(options)));
  return binding as CassandraBinding<LevelsOf<O>>;
}

class CassandraStore implements CassandraBinding {
  readonly name = 'cassandra';
  readonly #options: ResolvedOptions;
  readonly #levels: CassandraLevels;
  readonly #planners: ReadonlyMap<string, Planner>;
  readonly #cluster: Cluster;
  readonly #path: ChosenPath;
  readonly #tally = new Tally();
  readonly #underWay = new Set<ReadRun | UpdateRun>();
  #isClosed = false;

  constructor(options: ResolvedOptions) {
    const { contactPoints, keyspace, credentials, tls, requestTimeoutMs, correctable } = options;
    const statements = options.statements.flatMap(listOf);
    this.#options = options;
    this.#levels = ['weak', finalLevel(options)];
    this.#planners = plannersOf(options);
    this.#cluster = new Cluster(options, [
      ...new Set([keyspace, ...statements.flatMap(({ cql }) => namedKeyspaces(cql))]),
    ]);
    const plain = new PlainPath(this.#cluster);
    this.#path = new ChosenPath({
      wanted: correctable,
      settings: { contactPoints, keyspace, credentials, tls, requestTimeoutMs, plain },
      open: correctablePath,
      connected: () => this.#cluster.connected(),
    });
  }

  get counts(): ReadCounts {
    return this.#tally.counts;
  }

  get requestsPerRead(): 1 | 2 | undefined {
    const { isCorrectable } = this.#path;
    return isCorrectable === undefined ? undefined : isCorrectable ? 1 : 2;
  }

  async connected(): Promise<void> {
    try {
      await this.#path.chosen();
    } catch (error) {
      throw correctableError(error, { effect: 'read', operation: 'connect' });
    }
  }

  consistencyLevels(): CassandraLevels {
    return this.#levels;
  }

  supports({ name }: Operation): boolean {
    return this.#planners.has(name);
  }

  openSession(): BindingSession {
    return new ReadSession({ isStrong: this.#levels[1] === 'strong' });
  }

  submitOperation<T>(
    operation: Operation<T>,
    levels: readonly Level[],
    sink: Sink<T, Level>,
    context: InvocationContext,
  ): void {
    if (this.#isClosed) throw closedError();
    const planner = this.#planners.get(operation.name);
    if (planner === undefined) {
      const message = `the Cassandra binding has no operation '${operation.name}': it has ${[...this.#planners.keys()].join(', ')}`;
      throw new CorrectableError('UNSUPPORTED', message);
    }
    const plan = planner(operation);
    if (plan.effect !== operation.effect) {
      throw invalidArgument('effect', `${plan.name} is a${plan.effect === 'read' ? '' : 'n'} ${plan.effect}`);
    }
    const { session } = context;
    const call: Call = {
      plan,
      levels,
      sink: sink as Sink<unknown, Level>,
      session: session instanceof ReadSession ? session : undefined,
      context,
    };
    if (plan.effect === 'update') this.#update(call);
    else this.#read(call);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const run of this.#underWay) run.close();
    await this.#path.close();
    await this.#cluster.close();
  }

  #read(call: Call): void {
    const { plan, session } = call;
    const [, final] = this.#levels;
    if (session !== undefined && final === 'quorum' && plan.ids.length === 0) {
      const message = `${plan.name}: no session can be kept at level quorum without versions: use read and write QUORUM`;
      throw new CorrectableError('UNSUPPORTED', message);
    }
    const { weak, read } = this.#options;
    const run: ReadRun = new ReadRun({
      ...call,
      weak,
      read,
      path: this.#path,
      tally: this.#tally.begin(plan.ids),
      finalLevel: final,
      ended: () => this.#underWay.delete(run),
    });
    this.#underWay.add(run);
    run.start();
  }

  /** There is no early view of an update: fewer replicas than `write` promise nothing, and it is executed once. */
  #update(call: Call): void {
    const run: UpdateRun = new UpdateRun({
      ...call,
      cluster: this.#cluster,
      tally: this.#tally,
      write: this.#options.write,
      level: this.#levels[1],
      ended: () => this.#underWay.delete(run),
    });
    this.#underWay.add(run);
    void run.start();
  }
}

const RESERVED: ReadonlySet<string> = new Set(['get', 'put', 'getMany']);

function plannersOf(options: ResolvedOptions): ReadonlyMap<string, Planner> {
  const planners = new Map(keyValuePlanners(options));
  for (const statement of options.statements.flatMap(listOf)) {
    const { name } = statement;
    if (planners.has(name)) {
      const why = RESERVED.has(name) ? 'the binding has an operation of this name' : 'two statements have this name';
      throw invalidArgument(`statements.${name}`, `${why}: choose another`);
    }
    planners.set(name, statementPlanner(statement));
  }
  return planners;
}
