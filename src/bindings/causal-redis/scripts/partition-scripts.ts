/**
 * The scripts of a partition in Redis 7 or Valkey: one for each call. Each does exactly what
 * `Partition` in `src/causal/partition.ts` does, which a test compares, call by call.
 *
 * A script validates first and writes last, since Redis does not roll back. All numbers travel as
 * big-endian doubles: `tostring` and `cjson` lose the microseconds of stamps.
 */
import type { CallName } from '../../../causal/partition-calls.ts';
import {
  FIND_VISIBLE,
  INSERT_VERSION,
  MERGE_CHAIN,
  READ_VERSIONS,
  TRIM_CHAIN,
} from './chain-parts.ts';
import { PUT, READ, SNAPSHOT } from './client-scripts.ts';
import { PRUNE_ENTRIES, RESTART_ENTRIES, USE_ENTRIES } from './entry-parts.ts';
import { APPLY, PULL, STATE } from './gateway-scripts.ts';
import { CONFIRM_HEALED, LAST_ENTRY, MERGE, SCAN, SEEK, SUSPECT } from './heal-scripts.ts';
import { insertConstants, type ScriptOptions } from './numbers.ts';
import { DROP_REMOVABLE, NOTE_REMOVABLE } from './removal-parts.ts';
import { CHECK_CLOCK, READ_CLOCK, USE_CURSORS, USE_STATE, USE_SUSPICIONS } from './shared-parts.ts';

export type PartitionScripts = Readonly<Record<CallName, string>>;

/** The header of a script that needs more memory. Redis refuses it if its memory is full. */
const GROWS = '#!lua';
/** The header of a script that needs no more memory. It runs even if the memory is full. */
const RUNS_IF_FULL = '#!lua flags=allow-oom';

const INSERTS = [READ_VERSIONS, INSERT_VERSION, TRIM_CHAIN, NOTE_REMOVABLE];

/** Returns the scripts for the partitions of one site. */
export function buildPartitionScripts(options: ScriptOptions): PartitionScripts {
  const build = (header: string, ...parts: readonly string[]): string =>
    insertConstants([header, READ_CLOCK, CHECK_CLOCK, USE_STATE, ...parts].join('\n'), options);
  const withClient = [READ_VERSIONS, FIND_VISIBLE];

  return {
    put: build(GROWS, USE_SUSPICIONS, ...INSERTS, FIND_VISIBLE, USE_ENTRIES, PRUNE_ENTRIES, PUT),
    read: build(RUNS_IF_FULL, ...withClient, READ),
    snapshot: build(RUNS_IF_FULL, SNAPSHOT),
    state: build(
      RUNS_IF_FULL,
      USE_SUSPICIONS,
      READ_VERSIONS,
      TRIM_CHAIN,
      NOTE_REMOVABLE,
      DROP_REMOVABLE,
      STATE,
    ),
    pull: build(RUNS_IF_FULL, USE_SUSPICIONS, USE_ENTRIES, PULL),
    apply: build(GROWS, USE_CURSORS, USE_ENTRIES, ...INSERTS, APPLY),
    lastEntry: build(RUNS_IF_FULL, LAST_ENTRY),
    scan: `${RUNS_IF_FULL}\n${SCAN}`,
    merge: build(GROWS, USE_SUSPICIONS, ...INSERTS, MERGE_CHAIN, MERGE),
    seek: build(RUNS_IF_FULL, USE_CURSORS, SEEK),
    suspect: build(RUNS_IF_FULL, USE_SUSPICIONS, SUSPECT),
    confirmHealed: build(RUNS_IF_FULL, USE_ENTRIES, RESTART_ENTRIES, CONFIRM_HEALED),
  };
}
