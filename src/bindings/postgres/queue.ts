/**
 * `enqueue`, `dequeue` and `peek` over one table (`migrations`).
 *
 * A replica still shows items that this process has taken. Its view of a `dequeue` leaves these
 * out, and as many more as dequeues are in flight.
 *
 * Dequeues travel on several connections, so a later one may reach the primary first. It leaves as
 * many items as there are earlier ones in flight, whose early views may have promised them.
 */
import { isThenable } from '../../correctable/validate.ts';
import type { Operation } from '../../correctable/operation.ts';
import type { EnqueueArgs } from '../../operations/index.ts';
import type { Page, Row } from '../shared/statements/page.ts';
import type { StatementResult } from '../shared/statements/statement-operations.ts';
import type { WaitingCaller } from '../replicas/index.ts';
import { ThrottleGate } from '../shared/throttle-gate.ts';
import type { Throttle } from '../../correctable/throttle/concurrent-writes.ts';
import { checkText, toStoredJson } from './own-arguments.ts';
import { parseJsonColumn } from './own-columns.ts';
import type { PostgresPosition } from './position.ts';
import type { QueueConsumers } from './queue-consumers.ts';
import { MIGRATIONS_HINT, type SqlOperation, type SqlPlan, type WrittenResult } from './plan.ts';

/** Longer queues report this as their rest: counting all items is slow. */
const MAX_REMAINING = 1_000;
/** Items of one queue that are known to be taken. */
const MAX_TAKEN = 1_000;
/** With more queues, those that are not in use are forgotten. */
const MAX_IDLE_QUEUES = 1_000;

/** A dequeue that is held back is sent again at least as often. */
const MAX_HELD_BACK_MS = 1_000;

type Reached = (have: PostgresPosition, need: PostgresPosition) => boolean;

export interface QueueOptions {
  /** The name of the table, quoted. */
  readonly table: string;
  readonly reached: Reached;
  readonly throttle: Throttle;
  readonly consumers: QueueConsumers;
}

export function createQueueOperations({
  table,
  reached,
  throttle,
  consumers,
}: QueueOptions): readonly (readonly [string, SqlOperation])[] {
  const createGate = (): ThrottleGate => new ThrottleGate(throttle, () => consumers.estimateMs);
  const own = new OwnDequeues(reached, createGate);
  const statements = createStatements(table, consumers.columns);
  return [
    ['enqueue', createEnqueue(statements.insert)],
    ['peek', createPeek(statements.peek)],
    ['dequeue', createDequeue(statements, own, consumers)],
  ];
}

interface QueueStatements {
  readonly insert: string;
  readonly peek: string;
  /** Reads the item that a dequeue may take: `$2` are taken, and `$3` may be. */
  readonly guess: string;
  /** Takes the first item if there are more than `$2`. */
  readonly take: string;
}

/** @param columns what a dequeue returns about the consumers of its queue */
function createStatements(table: string, columns: string): QueueStatements {
  // Count only the items behind the taken one: others are taking those before.
  const countBehind = (id: string, condition = ''): string =>
    `(select count(*) from (select from ${table} q where q.queue = $1 and q.id > ${id}${condition} limit ${MAX_REMAINING}) as behind)`;
  const first = (condition?: string): string =>
    `select id::text, item::text, ${countBehind('head.id', condition)}::text as remaining from ${table} as head where queue = $1`;
  const notTaken = ' and id <> all($2::bigint[])';
  return {
    insert: `insert into ${table} (queue, item) values ($1, $2::jsonb)`,
    peek: `${first()} order by head.id limit 1`,
    guess: `${first(notTaken)}${notTaken} order by head.id offset $3 limit 1`,
    take: `with present as (
    select count(*) as items from (select from ${table} where queue = $1 limit $2::int + 1) as first_items
  ), head as (
    select id from ${table} where queue = $1 and (select items from present) > $2::int
    order by id limit 1 for update skip locked
  ), taken as (
    delete from ${table} as q using head where q.queue = $1 and q.id = head.id returning q.id, q.item
  )
  select taken.id::text, taken.item::text, ${countBehind('taken.id')}::text as remaining, ${columns},
    (taken.id is null and items between 1 and $2::int)::text as held_back
  from present left join taken on true`,
  };
}

function createEnqueue(insert: string): SqlOperation {
  return {
    access: 'write',
    plan(operation) {
      const { item } = (operation.args ?? {}) as Partial<EnqueueArgs>;
      const json = toStoredJson(item, { name: 'enqueue', field: 'args.item' });
      return {
        name: 'enqueue',
        hint: MIGRATIONS_HINT,
        access: 'write',
        isIdempotent: false,
        statement: { text: insert, values: [getQueue(operation), json] },
        interpret: () => ({ value: undefined }),
      };
    },
  };
}

function createPeek(peek: string): SqlOperation {
  return {
    access: 'read',
    plan: (operation) => ({
      name: 'peek',
      hint: MIGRATIONS_HINT,
      access: 'read',
      isIdempotent: true,
      statement: { text: peek, values: [getQueue(operation)] },
      // The row counts the items behind the first one. A peek leaves that one in the queue too.
      interpret: (page) => toItem(page, 1),
    }),
  };
}

function createDequeue(
  { take, guess }: QueueStatements,
  own: OwnDequeues,
  consumers: QueueConsumers,
): SqlOperation {
  const plan = (operation: Operation, leave: number): SqlPlan => ({
    name: 'dequeue',
    hint: MIGRATIONS_HINT,
    access: 'write',
    isIdempotent: false,
    statement: { text: take, values: [getQueue(operation), leave] },
    isHeldBack: ({ rows: [row] }) => row?.['held_back'] === 'true',
    interpret: (page) => toItem(page, 0),
  });
  return {
    access: 'write',
    plan: (operation) => plan(operation, 0),
    enter(operation, caller) {
      const turn = own.enter(getQueue(operation), caller);
      if (isThenable(turn)) return turn.then((leave) => register(consumers, leave));
      return register(consumers, turn);
    },
    preview(operation) {
      const queue = getQueue(operation);
      const { taken, inFlight } = own.getState(queue);
      const startedAtMs = performance.now();
      return {
        before: consumers.readReplica,
        statement: { text: guess, values: [queue, taken, inFlight] },
        interpret(page, { rows: [shown] }) {
          const { value, meta } = toItem(page, 0);
          const concurrentWriters =
            // Of more items, it is not known which ones are taken.
            taken.length < MAX_TAKEN
              ? consumers.getConcurrentWriters({ startedAtMs, shown })
              : undefined;
          return {
            value,
            meta: { ...meta, ...(concurrentWriters && { concurrentWriters }) },
          };
        },
        onPosition: (position) => own.forget(queue, position),
      };
    },
    beginWrite(operation) {
      const queue = getQueue(operation);
      const started = own.begin(queue);
      const pending = consumers.begin();
      return {
        plan: () => plan(operation, started.earlier.size),
        waitForTurn: () => started.waitForTurn(),
        end(written) {
          consumers.end(pending, getTakenRow(written?.page));
          own.end(queue, started, written);
        },
      };
    },
  };
}

/** Makes this process known to the other consumers before its turn begins. */
function register(
  consumers: QueueConsumers,
  leave: () => void,
): (() => void) | Promise<() => void> {
  return (
    consumers.register()?.then(
      () => leave,
      (error: unknown) => {
        leave();
        throw error;
      },
    ) ?? leave
  );
}

/** A dequeue of an empty queue returns a row without an item. */
function getTakenRow(page: Page | undefined): Row | undefined {
  const [row]: readonly Row[] = page?.rows ?? [];
  return row?.['id'] === null ? undefined : row;
}

function toItem(page: Page, more: number): StatementResult {
  const row = getTakenRow(page);
  if (row === undefined) return { value: null, meta: { remaining: 0 } };
  const remaining = Number(row['remaining']) + more;
  return { value: { item: parseJsonColumn(row['item']) }, meta: { remaining } };
}

function getQueue({ args }: Operation): string {
  const { queue } = (args ?? {}) as { readonly queue?: unknown };
  return checkText(queue, 'args.queue');
}

interface TakenItem {
  readonly id: string;
  readonly position: PostgresPosition | undefined;
}

interface OwnQueue {
  readonly gate: ThrottleGate;
  /** Dequeues that wait for their turn, or have it. */
  users: number;
  /** Those that are sent, in their order. */
  readonly inFlight: Set<OwnDequeue>;
  taken: readonly TakenItem[];
}

/** A dequeue in flight. */
class OwnDequeue {
  /** Those in flight that were sent before this one. */
  readonly earlier: Set<OwnDequeue>;
  #resume: () => void = () => {};

  constructor(inFlight: Iterable<OwnDequeue>) {
    this.earlier = new Set(inFlight);
  }

  /**
   * Resolves when no earlier one is in flight, or when one of them ends without an item: then there
   * may be none to leave for the others. It also does so after a while, since items may have been
   * added.
   */
  waitForTurn(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, MAX_HELD_BACK_MS);
      this.#resume = () => {
        clearTimeout(timer);
        resolve();
      };
      if (this.earlier.size === 0) this.#resume();
    });
  }

  onEarlierEnd(ended: OwnDequeue, hasTaken: boolean): void {
    if (!this.earlier.delete(ended)) return;
    if (this.earlier.size === 0 || !hasTaken) this.#resume();
  }
}

/** The dequeues of this process that replicas may not show yet. */
class OwnDequeues {
  readonly #reached: Reached;
  readonly #createGate: () => ThrottleGate;
  readonly #queues = new Map<string, OwnQueue>();

  constructor(reached: Reached, createGate: () => ThrottleGate) {
    this.#reached = reached;
    this.#createGate = createGate;
  }

  /** Waits for a turn. Returns what to call at its end. */
  enter(name: string, caller: WaitingCaller): Promise<() => void> | (() => void) {
    const queue = this.#getQueue(name);
    const room = queue.gate.enter(caller);
    queue.users += 1;
    if (room === undefined) return createLeave(queue);
    return room.then(
      () => createLeave(queue),
      (error: unknown) => {
        queue.users -= 1;
        throw error;
      },
    );
  }

  getState(queue: string): { taken: readonly string[]; inFlight: number } {
    const { inFlight, taken = [] } = this.#queues.get(queue) ?? {};
    return {
      inFlight: inFlight?.size ?? 0,
      taken: taken.map(({ id }) => id),
    };
  }

  begin(queue: string): OwnDequeue {
    const { inFlight } = this.#getQueue(queue);
    const started = new OwnDequeue(inFlight);
    inFlight.add(started);
    return started;
  }

  end(queue: string, ended: OwnDequeue, written?: WrittenResult): void {
    const state = this.#getQueue(queue);
    const row = getTakenRow(written?.page);
    if (row !== undefined) {
      const item = { id: row['id'] as string, position: written?.position };
      state.taken = [...state.taken, item].slice(-MAX_TAKEN);
    }
    state.inFlight.delete(ended);
    const hasTaken = row !== undefined;
    for (const other of state.inFlight) other.onEarlierEnd(ended, hasTaken);
  }

  /** A replica at `position` no longer shows what was taken before it. */
  forget(queue: string, position: PostgresPosition | undefined): void {
    const state = this.#queues.get(queue);
    if (state === undefined || position === undefined) return;
    state.taken = state.taken.filter(
      (item) =>
        item.position !== undefined &&
        !this.#reached(position, item.position) &&
        !isOfEarlierLog(item.position, position),
    );
  }

  #getQueue(name: string): OwnQueue {
    const found = this.#queues.get(name);
    if (found !== undefined) return found;
    if (this.#queues.size >= MAX_IDLE_QUEUES) this.#dropIdle();
    const queue = {
      gate: this.#createGate(),
      users: 0,
      inFlight: new Set<OwnDequeue>(),
      taken: [],
    };
    this.#queues.set(name, queue);
    return queue;
  }

  #dropIdle(): void {
    for (const [name, { gate, users, taken }] of this.#queues)
      if (users === 0 && taken.length === 0 && gate.isIdle) this.#queues.delete(name);
  }
}

/** No replica of the newer log is ever as far in the earlier one. */
function isOfEarlierLog(taken: PostgresPosition, { system, timeline }: PostgresPosition): boolean {
  return taken.system !== system || taken.timeline < timeline;
}

function createLeave(queue: OwnQueue): () => void {
  const enteredAtMs = performance.now();
  return () => {
    queue.users -= 1;
    queue.gate.release(enteredAtMs);
  };
}
