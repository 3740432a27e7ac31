/** PostgreSQL as a store with replicas: operations become statements. */
import { CorrectableError, isCorrectableError } from '../../correctable/errors.ts';
import type { Operation } from '../../correctable/operation.ts';
import { describeTimeToLive, hasTimeToLive } from '../../values/time-to-live.ts';
import type {
  ReplicaCall,
  ReplicaRead,
  ReplicasAlarm,
  ReplicaStore,
  ReplicaWrite,
  WaitingCaller,
} from '../replicas/index.ts';
import { LostConnectionError } from '../shared/connections/answer-watch.ts';
import type { Page } from '../shared/statements/page.ts';
import {
  addStatements,
  createPlan,
  interpretWritten,
} from '../shared/statements/statement-operations.ts';
import { writeUntilKnown } from '../shared/write-until-known.ts';
import { createKeyValueOperations } from './key-value.ts';
import { LogBeginnings } from './log-beginnings.ts';
import { getTableNames } from './table-names.ts';
import type { ResolvedOptions } from './options.ts';
import {
  askPosition,
  askWhetherPrimary,
  hasLost,
  isInRecovery,
  isSuperseded,
  parsePosition,
  reached,
  refuseOldPrimary,
  RECOVERY_SQL,
  type PostgresPosition,
} from './position.ts';
import { describeCause, isAccessError } from './connections/connect-error.ts';
import type { CallOptions, Outcomes, PostgresServer, SqlStatement } from './connections/server.ts';
import { identifyOperation, writeOnceForKey, type WrittenPage } from './keyed-write.ts';
import { untilKeyFree } from './key-claim.ts';
import { findSqlState } from './sql-state.ts';
import { createTransactionOperations } from './transactions.ts';
import { createQueueOperations } from './queue.ts';
import { QueueConsumers } from './queue-consumers.ts';
import {
  createNoBeginError,
  createNoPrimaryError,
  createOldPrimaryError,
  isFenced,
  isNoPrimaryError,
  isServerFailure,
  toCorrectableError,
} from './errors.ts';
import {
  createStatementOperation,
  MIGRATIONS_HINT,
  type OngoingWrite,
  type PreviewPlan,
  type SqlOperation,
  type SqlPlan,
} from './plan.ts';

/**
 * In any other isolation level the snapshot may be older than the position, which the second
 * statement reads.
 */
const BEGIN: SqlStatement = {
  text: 'begin isolation level read committed read only',
  values: [],
};
const BEGIN_WRITE: SqlStatement = { text: 'begin', values: [] };
const COMMIT: SqlStatement = { text: 'commit', values: [] };

const RECOVERY: SqlStatement = { text: RECOVERY_SQL, values: [] };

/** A role may have got the right to ask meanwhile. */
const POSITION_RETRY_MS = 30_000;

export class PostgresStore implements ReplicaStore<PostgresPosition> {
  readonly name = 'postgres';
  readonly replicas: readonly string[];
  readonly hasIdempotencyKeys: boolean;
  readonly #servers: ReadonlyMap<string, PostgresServer>;
  readonly #operations: ReadonlyMap<string, SqlOperation>;
  /** The position of the primary, and whether it is one. */
  readonly #primaryPosition: SqlStatement;
  readonly #replicaPosition: SqlStatement;
  readonly #fence: string;
  readonly #keysTable: string;
  /** Servers that do not report their position, and when to ask again. */
  readonly #withoutPosition = new Map<string, number>();
  /** As the primary has reported them. */
  readonly #beginnings = new LogBeginnings();
  #report: (alarm: ReplicasAlarm) => void = () => {};

  constructor(options: ResolvedOptions) {
    const { servers, positions } = options;
    this.#servers = servers;
    this.replicas = [...servers.keys()].filter((name) => name !== 'primary');
    this.hasIdempotencyKeys = servers.get('primary')?.lend !== undefined;
    this.#keysTable = getTableNames(options.schema).keys;
    this.#operations = createOperations(options, (statement) => this.#runAlone(statement));
    this.#primaryPosition = { text: askWhetherPrimary(positions), values: [] };
    this.#replicaPosition = { text: askPosition(positions), values: [] };
    this.#fence = refuseOldPrimary(positions);
    for (const [name, server] of servers)
      server.onRefused = (error) => this.#noteRefusal(name, error);
  }

  supports(operation: Operation): boolean {
    return this.#operations.has(operation.name) && !hasTimeToLive(operation);
  }

  describeUnsupported(operation: Operation): string | undefined {
    return describeTimeToLive(operation) ?? `it has ${[...this.#operations.keys()].join(', ')}`;
  }

  reached(have: PostgresPosition, need: PostgresPosition): boolean {
    return reached(have, need);
  }

  hasLost(have: PostgresPosition, need: PostgresPosition): boolean {
    return hasLost(have, need, this.#beginnings.find(have));
  }

  reportTo(report: (alarm: ReplicasAlarm) => void): void {
    this.#report = report;
  }

  async read(
    operation: Operation,
    server: string,
    call: ReplicaCall,
  ): Promise<ReplicaRead<PostgresPosition>> {
    const plan = createPlan(this.#operations, operation, 'read');
    return await repeatIfLost(() => this.#read(plan, server, call));
  }

  async preview(
    operation: Operation,
    server: string,
    { signal, deadlineAt }: ReplicaCall,
  ): Promise<ReplicaRead<PostgresPosition> | undefined> {
    const plan = this.#operations.get(operation.name)?.preview?.(operation);
    if (plan === undefined) return undefined;
    const answer = await this.#read(
      { ...plan, name: operation.name },
      server,
      // A session is not as far as a guess.
      { signal, deadlineAt, needsSeenUpTo: false, after: undefined },
    );
    plan.onPosition?.(answer.position);
    return answer;
  }

  enter(
    operation: Operation,
    caller: WaitingCaller,
  ): Promise<() => void> | (() => void) | undefined {
    return this.#operations.get(operation.name)?.enter?.(operation, caller);
  }

  async write(operation: Operation, call: ReplicaCall): Promise<ReplicaWrite<PostgresPosition>> {
    const plan = createPlan(this.#operations, operation, 'write');
    const { beginWrite } = this.#operations.get(operation.name) ?? {};
    if (beginWrite !== undefined)
      return await this.#writeInTurn(operation, beginWrite(operation), call);
    const written = await this.#writeUntilKnown(operation, plan, call);
    return toWrite(plan, written);
  }

  /** Sends a write again as long as it is held back for others of this process. */
  async #writeInTurn(
    operation: Operation,
    ongoing: OngoingWrite,
    call: ReplicaCall,
  ): Promise<ReplicaWrite<PostgresPosition>> {
    try {
      for (;;) {
        const plan = ongoing.plan();
        const written = await this.#writeUntilKnown(operation, plan, call);
        if (plan.isHeldBack?.(written.page) !== true) {
          ongoing.end(written);
          return toWrite(plan, written);
        }
        // For a caller that leaves during the wait, nothing was taken.
        call.markUnsent();
        await ongoing.waitForTurn();
      }
    } catch (error) {
      ongoing.end();
      throw error;
    }
  }

  async readPosition(): Promise<PostgresPosition> {
    const call = { markSent: () => {} };
    const outcomes = await this.#run('primary', [this.#primaryPosition], call);
    const position = getPosition(outcomes[0]);
    this.#beginnings.note(position);
    if (position !== undefined) return position;
    if (isInRecovery(getPage(outcomes[0] as Outcomes[number])?.rows[0])) this.#renewPrimary();
    throw new CorrectableError('UNSUPPORTED', 'postgres: the primary does not report its position');
  }

  probe(server: string): Promise<unknown> {
    return (this.#servers.get(server) as PostgresServer).probe();
  }

  isServerFailure(error: unknown): boolean {
    return isServerFailure(error);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#servers.values()].map((server) => server.close()));
  }

  /**
   * The statements of a read: its value, after a position of the server. In a session, another
   * position follows.
   */
  async #read(
    plan: ReadPlan,
    server: string,
    how: ReadCall,
  ): Promise<ReplicaRead<PostgresPosition>> {
    const { signal, deadlineAt } = how;
    const call = { signal, deadlineAt, markSent: () => {} };
    const hasPosition = this.#hasPosition(server);
    const own = [plan.before ?? [], plan.statement].flat();
    const before = this.#getStateStatements(server);
    const after = how.needsSeenUpTo && hasPosition ? before : [];
    const outcomes = await this.#run(server, [BEGIN, ...before, ...own, ...after, COMMIT], call);
    const lacksPosition = hasPosition && (await this.#lacksPosition(server, outcomes, call));
    if (lacksPosition) {
      this.#forgoPosition(server);
      return await this.#read(plan, server, how);
    }

    const failure = findFailure(outcomes);
    if (failure !== undefined) {
      const isReplica = server !== 'primary';
      throw toCorrectableError(failure.reason, {
        name: plan.name,
        access: 'read',
        isReplica,
        hint: plan.hint,
      });
    }
    const pages = outcomes.map((outcome) => getPage(outcome));
    if (server === 'primary' && isInRecovery(pages[1]?.rows[0])) {
      this.#renewPrimary();
      throw createNoPrimaryError(plan.name, 'read');
    }
    const start = 1 + before.length;
    const [first, last = first] = pages.slice(start, start + own.length);
    const result = plan.interpret(last as Page, first as Page);
    const position = hasPosition ? parsePosition(pages[1]?.rows[0]) : undefined;
    if (server === 'primary') this.#beginnings.note(position);
    if (server === 'primary' && isOldPrimary(position, how.after)) {
      this.#renewPrimary();
      throw createOldPrimaryError(plan.name, 'read');
    }
    if (after.length === 0) return { ...result, position };
    const seenUpTo = parsePosition(pages.at(-2)?.rows[0]);
    // With one of them unknown, a session cannot use the answer.
    return {
      ...result,
      position: seenUpTo === undefined ? undefined : position,
      seenUpTo,
    };
  }

  /**
   * Returns whether the first position of a read has failed because the server does not report it.
   * A server of another library fails as a whole, so it is asked for the position alone.
   */
  async #lacksPosition(server: string, outcomes: Outcomes, call: CallOptions): Promise<boolean> {
    const [, asked] = outcomes;
    if (!isUnknownFunction(asked)) return false;
    const { reason } = asked as PromiseRejectedResult;
    const isShared = outcomes.every(
      (outcome) => outcome.status === 'rejected' && outcome.reason === reason,
    );
    if (!isShared) return true;
    const state = this.#getStateStatements(server);
    const [alone] = await this.#run(server, state, call);
    return isUnknownFunction(alone);
  }

  #forgoPosition(server: string): void {
    const retryAtMs = performance.now() + POSITION_RETRY_MS;
    this.#withoutPosition.set(server, retryAtMs);
  }

  #hasPosition(server: string): boolean {
    const retryAtMs = this.#withoutPosition.get(server) ?? 0;
    return performance.now() >= retryAtMs;
  }

  /** Returns what asks a server for its position, and whether it is a primary. */
  #getStateStatements(server: string): readonly SqlStatement[] {
    const hasPosition = this.#hasPosition(server);
    if (server === 'primary') return [hasPosition ? this.#primaryPosition : RECOVERY];
    return hasPosition ? [this.#replicaPosition] : [];
  }

  async #writeUntilKnown(
    operation: Operation,
    plan: SqlPlan,
    call: ReplicaCall,
  ): Promise<WrittenPage> {
    const { idempotencyKey } = call;
    const isRepeatable = plan.isIdempotent || idempotencyKey !== undefined;
    try {
      const written = await writeUntilKnown(isRepeatable, () =>
        idempotencyKey === undefined
          ? this.#writeOnce(plan, call)
          : this.#writeForKey(operation, plan, call, idempotencyKey),
      );
      this.#beginnings.note(written.position);
      return written;
    } catch (error) {
      if (isNoPrimaryError(error)) this.#renewPrimary();
      throw error;
    }
  }

  /** Its name may lead to the new primary by now. */
  #renewPrimary(): void {
    this.#servers.get('primary')?.renew?.();
  }

  #writeForKey(
    operation: Operation,
    plan: SqlPlan,
    { markSent, deadlineAt, after }: ReplicaCall,
    key: string,
  ): Promise<WrittenPage> {
    const primary = this.#servers.get('primary') as PostgresServer;
    const write = {
      plan,
      key,
      identity: identifyOperation(operation),
      table: this.#keysTable,
      deadlineAt,
      fence: this.#createFence(after),
      position: this.#primaryPosition,
    };
    return repeatIfLost(() =>
      untilKeyFree(deadlineAt, () =>
        primary.lend!({ markSent, deadlineAt }, (connection) => writeOnceForKey(connection, write)),
      ),
    );
  }

  /**
   * The position is read after the commit: it covers that. Another library fails as a whole, so
   * there it has a call of its own, and the write its outcome.
   */
  async #writeOnce(
    plan: SqlPlan,
    { markSent, deadlineAt, after }: ReplicaCall,
  ): Promise<WrittenPage> {
    const call = { markSent, deadlineAt };
    const fence = this.#createFence(after);
    const write =
      fence === undefined ? [plan.statement] : [BEGIN_WRITE, fence, plan.statement, COMMIT];
    const isTogether = this.#servers.get('primary')?.lend !== undefined;
    const position = isTogether && this.#hasPosition('primary') ? [this.#primaryPosition] : [];
    const outcomes = await this.#run('primary', [...write, ...position], call);
    const failure = findFailure(outcomes.slice(0, write.length));
    const written = outcomes[write.indexOf(plan.statement)];
    if (failure === undefined) {
      const asked = isTogether ? outcomes[write.length] : await this.#askPositionAlone();
      return {
        page: getPage(written!) as Page,
        position: getPosition(asked),
      };
    }
    const { reason } = failure;
    if (failure === outcomes[0] && written?.status === 'fulfilled')
      throw createNoBeginError(plan.name, reason);
    if (fence !== undefined && isFenced(reason))
      throw createOldPrimaryError(plan.name, 'written', reason);
    const isInTransaction = fence !== undefined && outcomes[0]?.status === 'fulfilled';
    throw toCorrectableError(reason, {
      name: plan.name,
      access: 'write',
      isReplica: false,
      mayHaveCommitted: plan.mayCommit === true && !isInTransaction,
      hint: plan.hint,
    });
  }

  async #askPositionAlone(): Promise<Outcomes[number] | undefined> {
    if (!this.#hasPosition('primary')) return undefined;
    const call = { markSent: () => {} };
    const [asked] = await this.#run('primary', [this.#primaryPosition], call);
    if (isUnknownFunction(asked)) this.#forgoPosition('primary');
    return asked;
  }

  /**
   * Returns what a write in a session begins with: it fails at an old primary, which has no way to
   * know that it is one. The write would be lost.
   */
  #createFence(seen: unknown): SqlStatement | undefined {
    if (seen === undefined || !this.#hasPosition('primary')) return undefined;
    return { text: this.#fence, values: [JSON.stringify(seen)] };
  }

  /** Runs one statement at the primary before a write. */
  async #runAlone(statement: SqlStatement): Promise<Page> {
    const call = { markSent: () => {} };
    const [outcome] = await this.#run('primary', [statement], call);
    if (outcome?.status === 'fulfilled') return outcome.value;
    throw toCorrectableError(outcome?.reason, {
      name: 'dequeue',
      access: 'write',
      isReplica: false,
      isUncommitted: true,
      hint: MIGRATIONS_HINT,
    });
  }

  #noteRefusal(server: string, error: CorrectableError): void {
    if (!isAccessError(error)) return;
    const reason = describeCause(error.cause);
    const message = `${server} refuses this process: ${reason}. Correct the password, the rights or the certificate. It is tried again.`;
    this.#report({ code: 'access-refused', message });
  }

  #run(
    server: string,
    statements: readonly SqlStatement[],
    options: CallOptions,
  ): Promise<Outcomes> {
    return (this.#servers.get(server) as PostgresServer).run(statements, options);
  }
}

function toWrite(plan: SqlPlan, { page, position }: WrittenPage): ReplicaWrite<PostgresPosition> {
  return { ...interpretWritten(plan, page), position };
}

type ReadCall = Pick<ReplicaCall, 'signal' | 'deadlineAt' | 'needsSeenUpTo' | 'after'>;

/** Returns whether a session has seen a newer primary. */
function isOldPrimary(position: PostgresPosition | undefined, seen: unknown): boolean {
  return (
    position !== undefined && seen !== undefined && isSuperseded(position, seen as PostgresPosition)
  );
}

/** What to read, and for a preview what to read before that. */
type ReadPlan = Pick<PreviewPlan, 'statement' | 'interpret'> & {
  readonly name: string;
  readonly before?: SqlStatement | undefined;
  readonly hint?: string | undefined;
};

/** The function is missing, is not supported, or must not be used. */
function isUnknownFunction(outcome: Outcomes[number] | undefined): boolean {
  if (outcome?.status !== 'rejected') return false;
  const code = findSqlState(outcome.reason);
  return code === '42883' || code === '0A000' || code === '42501';
}

/**
 * Runs once more what has certainly changed nothing, if its connection was lost and its server
 * works.
 */
async function repeatIfLost<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    const isLost =
      isCorrectableError(error, 'UNAVAILABLE') && error.cause instanceof LostConnectionError;
    if (!isLost) throw error;
    return await run();
  }
}

function findFailure(outcomes: Outcomes): PromiseRejectedResult | undefined {
  return outcomes.find((outcome) => outcome.status === 'rejected');
}

function getPage(outcome: Outcomes[number]): Page | undefined {
  return outcome.status === 'fulfilled' ? outcome.value : undefined;
}

function getPosition(outcome: Outcomes[number] | undefined): PostgresPosition | undefined {
  const page = outcome === undefined ? undefined : getPage(outcome);
  return parsePosition(page?.rows[0]);
}

function createOperations(
  { schema, statements, throttle }: ResolvedOptions,
  run: (statement: SqlStatement) => Promise<Page>,
): ReadonlyMap<string, SqlOperation> {
  const tables = getTableNames(schema);
  const consumers = new QueueConsumers({
    table: tables.consumers,
    throttle,
    run,
  });
  const builtIn = [
    ...createKeyValueOperations(tables.values),
    ...createTransactionOperations(tables),
    ...createQueueOperations({
      table: tables.queues,
      reached,
      throttle,
      consumers,
    }),
  ];
  return addStatements(builtIn, statements, createStatementOperation);
}
