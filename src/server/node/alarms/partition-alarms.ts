/**
 * Raises the alarms of a site with several red logs: rows that are held for long, operations that
 * need rows of several partitions most of the time, and partitions with few voters.
 */
import { createAlarmRaiser, shortenText, type OnAlarm } from './site-alarm.ts';
import { parseName } from '../../service/generator/read-set.ts';
import {
  getPartition,
  type BlueOperation,
  type RedOperation,
} from '../../service/records/records.ts';
import type { HeldRowsReport, SiteObserver } from '../../site/core/site-core.ts';
import type { Partitions } from '../../service/partitions.ts';
import { HELD_LIMIT_MS } from '../../site/lane/held-rows.ts';

/** How many executions of an operation are counted before it is judged. */
const JUDGED_RUNS = 100;
/** More globals than this share of them are reported. */
const GLOBALS_SHARE = 0.5;

/** How many rows a message names. */
const MAX_NAMED_ROWS = 10;
const MAX_ROW_LENGTH = 100;

/** The executions of one operation since it was last judged. */
interface Runs {
  count: number;
  globals: number;
  /** The tables with rows outside the home partition. */
  readonly tables: Set<string>;
}

export function createPartitionAlarms(
  site: string,
  partitions: Partitions,
  onAlarm: OnAlarm,
): Pick<SiteObserver, 'onCreated' | 'onRowsHeld'> {
  const raise = createAlarmRaiser(site, onAlarm);
  const nameOf = (partition: number): string => partitions.names[partition] ?? '';
  const runs = new Map<string, Runs>();
  const reported = new Set<string>();

  const judge = (operation: string, { globals, tables }: Runs): void => {
    runs.delete(operation);
    if (globals <= GLOBALS_SHARE * JUDGED_RUNS) return;
    reported.add(operation);
    const cost = 'Each takes a round trip more, and holds rows meanwhile';
    const advice =
      "Give rows that one operation needs the same partition. Put a table that red operations only read into partition: 'none'";
    raise(
      'operation-mostly-global',
      `${globals} of ${JUDGED_RUNS} runs of '${operation}' had rows of several partitions: of the tables ${[...tables].join(', ')}. ${cost}. ${advice}.`,
    );
  };

  return {
    onCreated: (record) => {
      if (!isRed(record) || reported.has(record.operation)) return;
      const { operation } = record;
      const counted = runs.get(operation) ?? createRuns();
      runs.set(operation, counted);
      counted.count += 1;
      if (record.others !== undefined) {
        counted.globals += 1;
        for (const table of listOtherTables(record, partitions)) counted.tables.add(table);
      }
      if (counted.count === JUDGED_RUNS) judge(operation, counted);
    },
    onRowsHeld: (held) => {
      const { partition, home, rows } = held;
      const named = rows.slice(0, MAX_NAMED_ROWS).map((row) => shortenText(row, MAX_ROW_LENGTH));
      if (rows.length > named.length) named.push(`${rows.length - named.length} more`);
      const problem = `rows of the partition ${nameOf(partition)} are held for more than ${HELD_LIMIT_MS / 1000} s (${named.join(', ')})`;
      const effect = `Operations of the partition ${nameOf(home)} hold them, and red operations on these rows wait`;
      raise('rows-held', `${problem}. ${effect}. ${adviseOn(held)}.`);
    },
  };
}

/** Returns why rows are held for long, and what to do about it. */
function adviseOn({ obstacle, awaitedSites }: HeldRowsReport): string {
  if (obstacle !== undefined) return `The red log ${obstacle}`;
  if (awaitedSites.length > 0) {
    const sites = awaitedSites.join(', ');
    return `They depend on operations of ${sites} that are not here yet. If ${sites} does not run, start it, or retire it`;
  }
  return 'All leaders are connected to this site, so there may be more load than the sites can take. If a leader raises an alarm, follow that. Otherwise wait, and let fewer operations need rows of several partitions';
}

/** With fewer voters, the loss of one may stop a red log. */
const SAFE_VOTERS = 3;

/** A red log whose voters are named. */
interface VotedLog {
  /** The name of its partition. */
  readonly name: string;
  /** Default: all sites */
  readonly voters?: readonly string[] | undefined;
}

/**
 * Returns a function that looks at the names of the members, and reports logs with too few voters
 * among them. A log whose voters are all sites has as many as the operator wants.
 */
export function createVoterAlarm(
  site: string,
  logs: readonly VotedLog[],
  onAlarm: OnAlarm,
): (members: readonly string[]) => void {
  const raise = createAlarmRaiser(site, onAlarm);
  const reported = new Set<string>();
  return (members) => {
    for (const { name, voters = [] } of logs) {
      const present = voters.filter((voter) => members.includes(voter));
      if (present.length >= Math.min(SAFE_VOTERS, voters.length)) {
        reported.delete(name);
        continue;
      }
      if (reported.has(name)) continue;
      reported.add(name);
      const missing = voters.filter((voter) => !present.includes(voter));
      const problem = `the partition ${name} has ${present.length} of its ${voters.length} voters left: ${present.join(', ')}. ${missing.join(', ')} is no site any more`;
      const effect = `If one more is lost, its red operations wait until that is back, or its red log is restored with a loss`;
      const advice = `Start ${missing.join(' or ')} again on an empty directory with --join`;
      raise('few-voters', `${problem}. ${effect}. ${advice}.`);
    }
  };
}

function createRuns(): Runs {
  return { count: 0, globals: 0, tables: new Set() };
}

function isRed(record: BlueOperation | RedOperation): record is RedOperation {
  return 'kind' in record;
}

/** Returns the tables with rows that the home of a global does not order. */
function listOtherTables(operation: RedOperation, partitions: Partitions): readonly string[] {
  const home = getPartition(operation);
  const { effects, reads, ranges = [] } = operation;
  const isElsewhere = (table: string, key: string | undefined): boolean => {
    if (key === undefined) return true;
    const partition = partitions.ofRow(table, key);
    return partition !== undefined && partition !== home;
  };
  return [
    ...[...effects, ...reads.map(parseName)].filter(({ table, key }) => isElsewhere(table, key)),
    ...ranges,
  ].map(({ table }) => table);
}
