/**
 * Claims an idempotency key for a transaction, without waiting for a dead one.
 *
 * The process or the network of a client may fail between the trips of a keyed write. Then its
 * transaction stays open at the server and holds the key. The server notices a lost client after
 * two hours, and a frozen one never. So it is asked to end a transaction whose client is silent.
 * Others with this key wait for short times without a connection in between, so that they leave
 * room for other keys.
 */
import { CorrectableError, isCorrectableError } from '../../correctable/errors.ts';
import type { SqlStatement } from './connections/server.ts';
import { findSqlState } from './sql-state.ts';

/** How long a transaction may have no statement: half of the time that is left. */
const MIN_IDLE_MS = 1_000;
const MAX_IDLE_MS = 5_000;

/** How long one attempt waits for a key that another transaction has. */
const KEY_WAIT_MS = 200;
const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 500;
/** Without a deadline, a key is awaited for this time. */
const MAX_WAIT_MS = 30_000;
/** The error must arrive before the caller has left. */
const ERROR_TRIP_MS = 100;

const LOCK_NOT_AVAILABLE = '55P03';

/** Both limits end with the transaction. The first is needed again after it. */
const LIMIT_SQL = `select set_config('idle_in_transaction_session_timeout', $1, true),
  set_config('correctables.lock_timeout', current_setting('lock_timeout'), true),
  set_config('lock_timeout', '${KEY_WAIT_MS}', true)`;
const RESTORE_SQL = `select set_config('lock_timeout', current_setting('correctables.lock_timeout'), true)`;

export interface KeyClaim {
  /** The name of the table of keys, quoted. */
  readonly table: string;
  readonly key: string;
  /** The same text for the same operation with equal arguments. */
  readonly identity: string;
  readonly deadlineAt?: number | undefined;
}

/** Returns the statements that claim a key, after BEGIN. The second does it. */
export function createKeyClaim({
  table,
  key,
  identity,
  deadlineAt,
}: KeyClaim): readonly [SqlStatement, SqlStatement, SqlStatement] {
  const halfMs = ((deadlineAt ?? Infinity) - Date.now()) / 2;
  const idleMs = Math.min(MAX_IDLE_MS, Math.max(MIN_IDLE_MS, halfMs));
  return [
    { text: LIMIT_SQL, values: [String(Math.round(idleMs))] },
    {
      text: `insert into ${table} (key, operation) values ($1, $2)`,
      values: [key, identity],
    },
    { text: RESTORE_SQL, values: [] },
  ];
}

/** Returns whether another transaction has the key, and has not ended in time. */
export function isKeyBusy(reason: unknown): boolean {
  return findSqlState(reason) === LOCK_NOT_AVAILABLE;
}

export function createKeyBusyError(name: string, cause: unknown): CorrectableError {
  const message = `${name}: another call with this idempotencyKey has not ended. This call has written nothing. Retry it with the same key.`;
  const details = { field: 'idempotencyKey', cause };
  return new CorrectableError('CONFLICT', message, details);
}

/** Repeats a write while another transaction has its key. */
export async function untilKeyFree<T>(
  deadlineAt: number | undefined,
  write: () => Promise<T>,
): Promise<T> {
  const endsAt = (deadlineAt ?? Date.now() + MAX_WAIT_MS) - ERROR_TRIP_MS;
  let pauseMs = FIRST_PAUSE_MS;
  for (;;) {
    try {
      return await write();
    } catch (error) {
      const isBusy = isCorrectableError(error, 'CONFLICT') && error.field === 'idempotencyKey';
      if (!isBusy || Date.now() + pauseMs + KEY_WAIT_MS > endsAt) throw error;
    }
    const delayMs = pauseMs;
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    pauseMs = Math.min(MAX_PAUSE_MS, 2 * pauseMs);
  }
}
