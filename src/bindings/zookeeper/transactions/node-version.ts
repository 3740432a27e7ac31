/**
 * Names the states of a node. A node that was deleted and created again counts its data version
 * from 0, so the count alone would name two states. Only the transaction that wrote the data
 * (`mzxid`) makes the name unique. A `check` of ZooKeeper compares only the count, so a version
 * contains both.
 */
import { check } from '../../../correctable/errors.ts';
import type { Version } from '../../../operations/versioned.ts';
import type { Stat } from '../client/stat-and-acl.ts';

const ABSENT = 'absent';
const PRESENT = /^\d+:(-?\d+)$/;

/** Returns the version of a key, by the metadata of its node; `null` if it has none. */
export function formatVersion(stat: Stat | null): string {
  return stat === null ? ABSENT : `${stat.mzxid}:${stat.version}`;
}

/**
 * Returns the data version that a node must have, or `null` if the key must have no node.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if `readVersions` of this binding returns no such
 * version
 */
export function parseDataVersion(version: Version, field: string): number | null {
  if (version === ABSENT) return null;
  const [, dataVersion] = PRESENT.exec(String(version)) ?? [];
  check(
    dataVersion !== undefined,
    field,
    'give a version that readVersions of this store returned',
  );
  return Number(dataVersion);
}
