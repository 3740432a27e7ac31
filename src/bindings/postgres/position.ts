/**
 * Positions in the write-ahead log of PostgreSQL (LSN).
 *
 * An LSN alone does not suffice. Each promotion begins another timeline, whose
 * log differs from that of the old primary after the promotion. So a position
 * of one timeline says nothing about another one.
 */
import type { Row } from '../shared/statements/page.ts';

export interface PostgresPosition {
  /** The identifier of the database cluster, as its initdb has chosen it. */
  readonly system: string;
  readonly timeline: number;
  /** As PostgreSQL writes it: `16/B374D848`. */
  readonly lsn: string;
}

/**
 * How a server reports its position. Servers whose functions differ need
 * another one.
 */
export interface PostgresPositions {
  /**
   * A SELECT of one row with the columns `system`, `timeline` and `lsn`: all
   * that was committed before is up to there. `null` in one of them: unknown.
   */
  readonly sql: string;
}

/**
 * A replica shows the timeline that it receives only to roles that may read all
 * statistics. While it receives nothing, the control file has the last one. A
 * primary has the timeline in the name of a file of its log.
 */
const SQL = `select
  (select system_identifier from pg_control_system())::text as system,
  case when not pg_is_in_recovery()
    then ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int
    when receiver.pid is not null
    then receiver.received_tli
    else greatest(
      (select timeline_id from pg_control_checkpoint()),
      (select min_recovery_end_timeline from pg_control_recovery()))
  end as timeline,
  case when pg_is_in_recovery()
    then pg_last_wal_replay_lsn()
    else pg_current_wal_insert_lsn()
  end::text as lsn
from (select) as one left join pg_stat_wal_receiver as receiver on true`;

export const standardPositions: PostgresPositions = { sql: SQL };

/** Whether the server is a replica, or recovers from a crash. */
const IN_RECOVERY = 'pg_is_in_recovery()::text as in_recovery';

/** For a primary that does not report its position. */
export const RECOVERY_SQL: string = `select ${IN_RECOVERY}`;

/**
 * Returns the SELECT of a position for the primary. It also asks whether the
 * server is one: after a failover, an address may lead to a replica.
 */
export function askWhetherPrimary(positions: PostgresPositions): string {
  return selectPosition(positions, `, ${IN_RECOVERY}`);
}

/** Returns the SELECT of a position for a replica. */
export function askPosition(positions: PostgresPositions): string {
  return selectPosition(positions);
}

function selectPosition({ sql }: PostgresPositions, more = ''): string {
  const select = sql.replace(/[\s;]+$/, '');
  const columns = 'p.system::text, p.timeline::text, p.lsn::text';
  return `select ${columns}${more} from (${select}\n) as p`;
}

/** Returns whether the server of a row is certainly no primary. */
export function isInRecovery(row: Row | undefined): boolean {
  return row?.['in_recovery'] === 'true';
}

/**
 * Returns the position that a row has; `undefined` if it is unknown, or is not
 * that of a primary although that was asked.
 */
export function parsePosition(
  row: Row | undefined,
): PostgresPosition | undefined {
  const { system, timeline, lsn } = row ?? {};
  const isKnown =
    !isInRecovery(row) &&
    typeof system === 'string' &&
    typeof timeline === 'string' &&
    typeof lsn === 'string';
  return isKnown ? { system, timeline: Number(timeline), lsn } : undefined;
}

/** Returns whether a state at `have` has every write up to `need`. */
export function reached(
  have: PostgresPosition,
  need: PostgresPosition,
): boolean {
  return (
    have.system === need.system &&
    have.timeline === need.timeline &&
    toEndOfRecord(have.lsn) >= toEndOfRecord(need.lsn)
  );
}

const PAGE_BYTES = 8_192n;
const PAGE_HEADER_BYTES = 24n;

/**
 * At the end of a page, the primary reports where the next record will begin,
 * behind the header of the next page. A replica reports where the last one has
 * ended, before it. Without this, an idle replica would seem to be behind.
 */
function toEndOfRecord(lsn: string): bigint {
  const [high = '0', low = '0'] = lsn.split('/');
  const bytes = (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`);
  return bytes % PAGE_BYTES === PAGE_HEADER_BYTES
    ? bytes - PAGE_HEADER_BYTES
    : bytes;
}
