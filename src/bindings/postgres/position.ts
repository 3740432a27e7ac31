/**
 * Positions in the write-ahead log of PostgreSQL (LSN).
 *
 * An LSN alone does not suffice. Each promotion begins another timeline, whose log differs from
 * that of the old primary after the promotion. So a position of one timeline says nothing about
 * another one.
 *
 * A crash loses the end of the log that was not flushed. No commit was there, but a session has
 * seen that position. So a primary also reports how far its log is flushed, and where its own part
 * of the log began: at the last record that it has taken over, when it was promoted or has
 * recovered from a crash.
 */
import type { Row } from '../shared/statements/page.ts';
import { parseJsonColumn } from './own-columns.ts';

export interface PostgresPosition {
  /** The identifier of the database cluster, as its initdb has chosen it. */
  readonly system: string;
  readonly timeline: number;
  /** As PostgreSQL writes it: `16/B374D848`. */
  readonly lsn: string;
  /** At a primary: up to here, a crash loses nothing. */
  readonly flushed?: string;
  /**
   * At a primary: the end of the log that it has taken over. Absent if it was started after an
   * orderly end, with all of its log.
   */
  readonly began?: string;
}

/** How a server reports its position. Servers whose functions differ need another one. */
export interface PostgresPositions {
  /**
   * A SELECT of one row with the columns `system` (a text), `timeline` and `lsn`: all that was
   * committed before is up to there. `null` in one of them: unknown. A primary may also have
   * `flushed` and `began`, as `PostgresPosition` has them.
   */
  readonly sql: string;
}

/**
 * A replica shows the timeline that it receives only to roles that may read all statistics. While
 * it receives nothing, the control file has the last one. A primary has the timeline in the name of
 * a file of its log.
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
  end::text as lsn,
  case when not pg_is_in_recovery() then pg_current_wal_flush_lsn() end::text as flushed,
  case when not pg_is_in_recovery() then pg_last_wal_replay_lsn() end::text as began
from (select) as one left join pg_stat_wal_receiver as receiver on true`;

export const standardPositions: PostgresPositions = { sql: SQL };

/** Whether the server is a replica, or recovers from a crash. */
const IN_RECOVERY = 'pg_is_in_recovery()::text as in_recovery';

/** For a primary that does not report its position. */
export const RECOVERY_SQL: string = `select ${IN_RECOVERY}`;

/**
 * Returns the SELECT of a position for the primary. It also asks whether the server is one: after a
 * failover, an address may lead to a replica.
 */
export function askWhetherPrimary(positions: PostgresPositions): string {
  return selectPosition(positions, `, ${IN_RECOVERY}`);
}

/** Returns the SELECT of a position for a replica. */
export function askPosition(positions: PostgresPositions): string {
  return selectPosition(positions);
}

/**
 * Returns a SELECT that fails with SQLSTATE 22P02 at a primary that the position in `$1`
 * supersedes: a write in the same transaction is not made there.
 */
export function refuseOldPrimary({ sql }: PostgresPositions): string {
  const select = trim(sql);
  return `select (case when ${IS_SUPERSEDED} then 'superseded' else '0' end)::int::text as fence
from (${select}\n) as p, (select $1::json as need) as n`;
}

/** The same as {@link isSuperseded}. */
const IS_SUPERSEDED = `p.system = need->>'system' and p.timeline < (need->>'timeline')::int
  and not coalesce(p.lsn::pg_lsn < (need->>'began')::pg_lsn, false)`;

function selectPosition({ sql }: PostgresPositions, more = ''): string {
  return `select row_to_json(p)::text as position${more} from (${trim(sql)}\n) as p`;
}

function trim(sql: string): string {
  return sql.replace(/[\s;]+$/, '');
}

/** Returns whether the server of a row is certainly no primary. */
export function isInRecovery(row: Row | undefined): boolean {
  return row?.['in_recovery'] === 'true';
}

/**
 * Returns the position that a row has; `undefined` if it is unknown, or is not that of a primary
 * although that was asked.
 */
export function parsePosition(row: Row | undefined): PostgresPosition | undefined {
  if (isInRecovery(row)) return undefined;
  const { system, timeline, lsn, flushed, began } = (parseJsonColumn(row?.['position']) ??
    {}) as Row;
  const isKnown =
    typeof system === 'string' && typeof timeline === 'number' && typeof lsn === 'string';
  if (!isKnown) return undefined;
  return {
    system,
    timeline,
    lsn,
    ...(typeof flushed === 'string' && { flushed }),
    ...(typeof began === 'string' && { began }),
  };
}

/** Returns whether a state at `have` has every write up to `need`. */
export function reached(have: PostgresPosition, need: PostgresPosition): boolean {
  return (
    have.system === need.system &&
    have.timeline === need.timeline &&
    toEndOfRecord(have.lsn) >= toEndOfRecord(need.lsn)
  );
}

/**
 * Returns whether the server at `have` is an old primary: timelines only rise. A server that ends
 * before the newer timeline began was restored from a backup, since an old primary has all up to
 * there.
 */
export function isSuperseded(have: PostgresPosition, need: PostgresPosition): boolean {
  const isOld = have.system === need.system && have.timeline < need.timeline;
  const isRestored = need.began !== undefined && toBytes(have.lsn) < toBytes(need.began);
  return isOld && !isRestored;
}

/**
 * Returns whether the primary at `have` lacks something that was seen up to `need`, or does not
 * show that it has it. Records after the last commit count as well: which of them were commits is
 * unknown. So a loss may be reported where only such were lost.
 *
 * @param promoted where the timeline of `have` began, if that was seen before
 */
export function hasLost(
  have: PostgresPosition,
  need: PostgresPosition,
  promoted: string | undefined = have.began,
): boolean {
  if (have.system !== need.system) return true;
  const seen = getSeenEnd(need);
  return seen !== undefined && seen > getKnownEnd(have, need, promoted);
}

/**
 * Returns the end of what a session certainly depends on. A primary may flush whole pages, which
 * end in the middle of a record that may get lost.
 */
function getSeenEnd({ lsn, flushed }: PostgresPosition): bigint | undefined {
  if (flushed === undefined) return toEndOfRecord(lsn);
  const bytes = toBytes(flushed);
  return bytes % PAGE_BYTES === 0n ? undefined : toEndOfRecord(flushed);
}

/** Returns up to where the log of `have` is that of `need`, if that is known. */
function getKnownEnd(
  have: PostgresPosition,
  need: PostgresPosition,
  promoted: string | undefined,
): bigint {
  const { lsn, timeline } = have;
  // It was promoted, and restarted since then in an orderly way. So it no longer tells where.
  const isUntold = promoted === undefined && have.flushed !== undefined;
  if (timeline > need.timeline) return isUntold ? NOWHERE : toBytesOr(promoted, lsn);
  const hasCrashed =
    timeline === need.timeline && need.flushed !== undefined && have.began !== need.began;
  return toBytesOr(hasCrashed ? have.began : undefined, lsn);
}

function toBytesOr(began: string | undefined, lsn: string): bigint {
  return began === undefined ? toEndOfRecord(lsn) : toBytes(began);
}

/** Before the first record of any log. */
const NOWHERE = -1n;
const PAGE_BYTES = 8_192n;
const PAGE_HEADER_BYTES = 24n;
/** The first page of a file has a longer header. */
const FILE_HEADER_BYTES = 40n;
/** Files have this size or a multiple of it. */
const MIN_FILE_BYTES = 1_048_576n;

/**
 * At the end of a page, the primary reports where the next record will begin, behind the header of
 * the next page. A replica reports where the last one has ended, before it. Without this, an idle
 * replica would seem to be behind.
 */
function toEndOfRecord(lsn: string): bigint {
  const bytes = toBytes(lsn);
  if (bytes % MIN_FILE_BYTES === FILE_HEADER_BYTES) return bytes - FILE_HEADER_BYTES;
  return bytes % PAGE_BYTES === PAGE_HEADER_BYTES ? bytes - PAGE_HEADER_BYTES : bytes;
}

export function toBytes(lsn: string): bigint {
  const [high = '0', low = '0'] = lsn.split('/');
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`);
}
