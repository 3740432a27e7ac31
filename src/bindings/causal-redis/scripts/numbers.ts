/**
 * The numbers that all scripts share: the places in the state of a partition, the limits, and the
 * codes of refusals.
 *
 * The scripts contain names, which are replaced by the numbers. With local variables instead,
 * reading them took a sixth of the time of a put.
 */
import type { CausalLimits } from '../../../causal/limits.ts';
import { ENTRY_BYTES, MAX_DROPPED, MAX_PRUNED, PRUNE_EVERY } from '../../../causal/own-entries.ts';
import type { RefusalReason } from '../../../causal/partition-calls.ts';
import { MAX_TAKEN_ITEMS, REMOVAL_CHECKS } from '../../../causal/removal-queue.ts';
import type { SiteIndex } from '../../../causal/stamps.ts';

export interface ScriptOptions {
  readonly site: SiteIndex;
  readonly siteCount: number;
  readonly limits: CausalLimits;
}

const DOUBLE_BYTES = 8;

/**
 * The field `s` of a partition: big-endian doubles. A `vector` has one for each site. A partition
 * without a hash has zeros only, so each number must begin at
 * 0. A read needs only the first numbers.
 */
const STATE_LAYOUT = [
  ['clock', 'number'],
  ['lastOwnStamp', 'number'],
  ['suspicions', 'number'],
  ['healedSuspicions', 'number'],
  ['received', 'vector'],
  ['confirmedUntil', 'number'],
  ['recoveredOwnStamp', 'number'],
  // The number of the last entry that was dropped (CAUSAL-16).
  ['droppedEntries', 'number'],
  ['lastEntry', 'number'],
  ['lastEntryStamp', 'number'],
  ['entryBytesSum', 'number'],
  // The number of the last entry whose write id was dropped (CAUSAL-17).
  ['droppedIds', 'number'],
  // The number of the last entry whose field was deleted. It is never higher than the two numbers
  // above.
  ['deletedEntries', 'number'],
  ['removedItems', 'number'],
  ['lastItem', 'number'],
  ['checkedAt', 'number'],
  ['cursorEntries', 'vector'],
  ['cursorStamps', 'vector'],
  ['acknowledged', 'vector'],
] as const;

export type StateNumber = (typeof STATE_LAYOUT)[number][0];

/** The codes of refusals. A refusal is an integer reply, while other replies are bytes. */
export const REFUSAL_CODES = {
  CLOCK: 1,
  REWOUND: 2,
  BEHIND: 3,
  TOO_OLD: 4,
  STALE: 5,
  LOST: 6,
} as const satisfies Partial<Record<RefusalReason, number>>;

/** Returns the place of each number among the doubles, counted from 0. */
export function getStatePlaces(siteCount: number): Readonly<Record<StateNumber, number>> {
  let next = 0;
  const places = STATE_LAYOUT.map(([name, kind]) => {
    const place = next;
    next += kind === 'vector' ? siteCount : 1;
    return [name, place] as const;
  });
  return Object.fromEntries(places) as Record<StateNumber, number>;
}

function getStateSize(siteCount: number): number {
  const vectors = STATE_LAYOUT.filter(([, kind]) => kind === 'vector').length;
  return STATE_LAYOUT.length + vectors * (siteCount - 1);
}

/**
 * Returns the value of each name in the scripts, in Lua.
 *
 * The scripts count sites from 1, as Lua counts tables. So the constant of a vector is the place
 * before its first number: `state[RECEIVED + site]`.
 */
function getConstants(options: ScriptOptions): Readonly<Record<string, string>> {
  const { site, siteCount, limits } = options;
  const size = getStateSize(siteCount);
  const numbers = {
    ...getLuaPlaces(siteCount),
    ...CHAIN_LAYOUT,
    ...ENTRY_LAYOUT,
    SITE: site + 1,
    SITES: siteCount,
    STATE_SIZE: size,
    VECTOR_BYTES: siteCount * DOUBLE_BYTES,
    MAX_CLOCK_SKEW: limits.maxClockSkew,
    MAX_CLOCK_LEAD: limits.maxClockSkew + limits.requestTimeout,
    KEEP_VERSIONS_FOR: limits.keepVersionsFor,
    MAX_VERSIONS: limits.maxVersions,
    MAX_VERSION_BYTES: limits.maxVersionBytes,
    KEEP_IDS_FOR: limits.keepIdsFor,
    MAX_OWN_ENTRIES: limits.maxOwnEntries,
    MAX_OWN_ENTRY_BYTES: limits.maxOwnEntryBytes,
    KEEP_TOMBSTONES_FOR: limits.keepTombstonesFor,
    REMOVAL_INTERVAL: Math.floor(limits.keepTombstonesFor / REMOVAL_CHECKS),
    ENTRY_BYTES,
    MAX_DROPPED,
    MAX_PRUNED,
    PRUNE_EVERY,
    MAX_TAKEN_ITEMS,
  };
  return {
    ...mapValues(numbers, formatNumber),
    ...mapValues(REFUSAL_CODES, formatNumber, (reason) => `REFUSE_${reason}`),
    VECTOR: `'>${'d'.repeat(siteCount)}'`,
    STATE: `'>${'d'.repeat(size)}'`,
    ENTRY_HEAD: `'>dBI2I2'`,
    CLOSED_GAP: `'\\0\\0\\0\\0'`,
  };
}

/** The offsets in a version, counted from its length. See `chain-parts.ts`. */
const CHAIN_LAYOUT = { DEPENDENCIES: 22, TOMBSTONE: 1, NONE: 0, TOO_OLD: -1 };

/** See `entry-parts.ts`. */
const ENTRY_LAYOUT = { ENTRY_HEAD_BYTES: 13 };

const CONSTANT_NAME = /\b[A-Z][A-Z_]+\b/g;

/** Replaces names in a script by their values. */
export function insertConstants(script: string, options: ScriptOptions): string {
  const constants = getConstants(options);
  return script.replace(CONSTANT_NAME, (name) => constants[name] ?? name);
}

function getLuaPlaces(siteCount: number): Readonly<Record<string, number>> {
  const places = getStatePlaces(siteCount);
  const pairs = STATE_LAYOUT.map(([name, kind]) => {
    const place = places[name] + (kind === 'vector' ? 0 : 1);
    return [toConstantName(name), place] as const;
  });
  return Object.fromEntries(pairs);
}

function mapValues(
  values: Readonly<Record<string, number>>,
  format: (value: number) => string,
  rename: (name: string) => string = (name) => name,
): Readonly<Record<string, string>> {
  const pairs = Object.entries(values).map(
    ([name, value]) => [rename(name), format(value)] as const,
  );
  return Object.fromEntries(pairs);
}

/** Lua reads these digits as the same double. */
function formatNumber(value: number): string {
  return value === Infinity ? 'math.huge' : String(value);
}

/** `lastOwnStamp` becomes `LAST_OWN_STAMP`. */
function toConstantName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}
