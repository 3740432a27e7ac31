/**
 * `enqueue`, `dequeue` and `peek` over one table (`migrations`).
 *
 * A replica still shows items that this process has taken. Its view of a
 * `dequeue` leaves these out, and as many more as dequeues are in flight.
 */
import type { Operation } from '../../correctable/operation.ts';
import type { EnqueueArgs } from '../../operations/index.ts';
import type { Page, Row } from '../shared/statements/page.ts';
import { toExactJson } from '../shared/to-json.ts';
import { checkWellFormed } from '../shared/well-formed-text.ts';
import type { PostgresPosition } from './position.ts';
import {
  checkText,
  MIGRATIONS_HINT,
  type SqlMeaning,
  type SqlOperation,
  type WrittenResult,
} from './sql-plan.ts';

/** Longer queues report this as their rest: counting all items is slow. */
const MAX_REMAINING = 1_000;
/** Items of one queue that are known to be taken. */
const MAX_TAKEN = 1_000;

type Reached = (have: PostgresPosition, need: PostgresPosition) => boolean;

/** @param table the name of the table, quoted */
export function createQueueOperations(
  table: string,
  reached: Reached,
): readonly (readonly [string, SqlOperation])[] {
  const own = new OwnDequeues(reached);
  // What is left is behind the item. What is before it, others are taking.
  const countBehind = (id: string): string =>
    `(select count(*) from (select from ${table} q where q.queue = $1 and q.id > ${id} limit ${MAX_REMAINING}) as behind)::int`;
  const insert = `insert into ${table} (queue, item) values ($1, $2::jsonb)`;
  const first = `select id, item, ${countBehind('head.id')} as remaining from ${table} as head where queue = $1`;
  const peek = `${first} order by id limit 1`;
  const guess = `${first} and id <> all($2::bigint[]) order by id offset $3 limit 1`;
  const take = `with head as (
    select id from ${table} where queue = $1 order by id limit 1 for update skip locked
  )
  delete from ${table} as taken using head where taken.queue = $1 and taken.id = head.id
  returning taken.id, taken.item, ${countBehind('taken.id')} as remaining`;

  const enqueueOperation: SqlOperation = {
    access: 'write',
    plan(operation) {
      const { item } = (operation.args ?? {}) as Partial<EnqueueArgs>;
      checkWellFormed(item, 'args.item');
      const json = toExactJson(item, { name: 'enqueue', field: 'args.item' });
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
  const peekOperation: SqlOperation = {
    access: 'read',
    plan: (operation) => ({
      name: 'peek',
      hint: MIGRATIONS_HINT,
      access: 'read',
      isIdempotent: true,
      statement: { text: peek, values: [getQueue(operation)] },
      // Here the first item is one of those that remain.
      interpret: (page) => toItem(page, 1),
    }),
  };
  const dequeueOperation: SqlOperation = {
    access: 'write',
    plan: (operation) => ({
      name: 'dequeue',
      hint: MIGRATIONS_HINT,
      access: 'write',
      isIdempotent: false,
      statement: { text: take, values: [getQueue(operation)] },
      interpret: (page) => toItem(page, 0),
    }),
    preview(operation) {
      const queue = getQueue(operation);
      const { taken, inFlight } = own.getState(queue);
      return {
        statement: { text: guess, values: [queue, taken, inFlight] },
        interpret: (page) => toItem(page, 0),
        onPosition: (position) => own.forget(queue, position),
      };
    },
    onWrite: (operation) => own.begin(getQueue(operation)),
  };
  return [
    ['enqueue', enqueueOperation],
    ['peek', peekOperation],
    ['dequeue', dequeueOperation],
  ];
}

function toItem({ rows: [row] }: Page, more: number): SqlMeaning {
  if (row === undefined) return { value: null, meta: { remaining: 0 } };
  const remaining = Number(row['remaining']) + more;
  return { value: { item: row['item'] }, meta: { remaining } };
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
  inFlight: number;
  taken: readonly TakenItem[];
}

/** The dequeues of this process that replicas may not show yet. */
class OwnDequeues {
  readonly #reached: Reached;
  readonly #queues = new Map<string, OwnQueue>();

  constructor(reached: Reached) {
    this.#reached = reached;
  }

  getState(queue: string): { taken: readonly string[]; inFlight: number } {
    const { inFlight = 0, taken = [] } = this.#queues.get(queue) ?? {};
    return { inFlight, taken: taken.map(({ id }) => id) };
  }

  begin(queue: string): (written?: WrittenResult) => void {
    const state = this.#queues.get(queue) ?? { inFlight: 0, taken: [] };
    this.#queues.set(queue, state);
    state.inFlight += 1;
    return (written) => {
      state.inFlight -= 1;
      const [row]: readonly Row[] = written?.page.rows ?? [];
      if (row !== undefined) {
        const item = { id: String(row['id']), position: written?.position };
        state.taken = [...state.taken, item].slice(-MAX_TAKEN);
      }
      this.#dropIfEmpty(queue, state);
    };
  }

  /** A replica at `position` no longer shows what was taken before it. */
  forget(queue: string, position: PostgresPosition | undefined): void {
    const state = this.#queues.get(queue);
    if (state === undefined || position === undefined) return;
    state.taken = state.taken.filter(
      (item) =>
        item.position !== undefined && !this.#reached(position, item.position),
    );
    this.#dropIfEmpty(queue, state);
  }

  #dropIfEmpty(queue: string, state: OwnQueue): void {
    if (state.inFlight === 0 && state.taken.length === 0)
      this.#queues.delete(queue);
  }
}
