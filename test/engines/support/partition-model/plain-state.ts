/**
 * The state of a partition as plain data, from the pure form and from a hash, so that both can be
 * compared.
 */
import { expect } from 'vitest';
import type { Cursor, OwnEntry } from '../../../../src/causal/partition-calls.ts';
import type { Partition } from '../../../../src/causal/partition.ts';
import type { RemovableKey } from '../../../../src/causal/removal-queue.ts';
import type { Stamp, Vector } from '../../../../src/causal/stamps.ts';
import type { VersionChain } from '../../../../src/causal/version-chain.ts';
import {
  getStatePlaces,
  type StateNumber,
} from '../../../../src/bindings/causal-redis/scripts/numbers.ts';
import {
  decodeChain,
  decodeEntry,
  decodeNumbers,
  fromField,
} from '../../../../src/bindings/causal-redis/version-codec.ts';

export interface PlainState {
  readonly clock: Stamp;
  readonly lastOwnStamp: Stamp;
  readonly confirmedUntil: Stamp;
  readonly received: Vector;
  readonly cursors: readonly Cursor[];
  readonly acknowledged: readonly number[];
  readonly suspicions: number;
  readonly healedSuspicions: number;
  readonly recoveredOwnStamp: Stamp;
  readonly chains: Readonly<Record<string, VersionChain>>;
  readonly firstEntry: number;
  readonly firstId: number;
  readonly last: Cursor;
  readonly bytes: number;
  readonly entries: readonly OwnEntry[];
  readonly ids: Readonly<Record<string, Stamp>>;
  readonly removed: number;
  readonly items: readonly RemovableKey[];
  readonly checkedAt: Stamp;
}

export function describePartition({ state }: Partition): PlainState {
  const { own, chains, removable, ...numbers } = state;
  const { first, last } = own;
  return {
    ...numbers,
    chains: Object.fromEntries(chains),
    firstEntry: first.entry,
    firstId: first.id,
    last,
    bytes: own.bytes,
    entries: own.readAfter(first.entry - 1, own.count),
    ids: Object.fromEntries(own.ids),
    removed: removable.removed,
    items: removable.items,
    checkedAt: removable.checkedAt,
  };
}

/** Decodes all fields, and checks that the hash has no others. */
export function describeHash(fields: ReadonlyMap<string, Buffer>, siteCount: number): PlainState {
  const places = getStatePlaces(siteCount);
  const size = Math.max(...Object.values(places)) + siteCount;
  const numbers = decodeNumbers(fields.get('s') ?? Buffer.alloc(8 * size));
  const read = (name: StateNumber): number => numbers[places[name]] as number;
  const readVector = (name: StateNumber): readonly number[] =>
    numbers.slice(places[name], places[name] + siteCount);
  const stamps = readVector('cursorStamps');
  const [dropped, last] = [read('droppedEntries'), read('lastEntry')];
  const getNumbered = (prefix: string, from: number, to: number): readonly Buffer[] =>
    Array.from(
      { length: to - from },
      (_, at) => fields.get(`${prefix}:${from + at + 1}`) as Buffer,
    );
  const all = [...fields].filter(([name]) => name !== 's');
  const ofKind = (prefix: string): readonly (readonly [string, Buffer])[] =>
    all
      .filter(([name]) => name.startsWith(prefix))
      .map(([name, bytes]) => [name.slice(prefix.length), bytes] as const);
  const items = getNumbered('r', read('removedItems'), read('lastItem'));

  expect(ofKind('r:')).toHaveLength(items.length);
  for (const [number] of ofKind('o:')) {
    expect(Number(number)).toBeGreaterThan(read('deletedEntries'));
    expect(Number(number)).toBeLessThanOrEqual(last);
  }
  expect(all.every(([name]) => /^[vori]:/.test(name))).toBe(true);
  return {
    clock: read('clock'),
    lastOwnStamp: read('lastOwnStamp'),
    confirmedUntil: read('confirmedUntil'),
    received: readVector('received'),
    cursors: readVector('cursorEntries').map((entry, site) => ({
      entry,
      stamp: stamps[site] as number,
    })),
    acknowledged: readVector('acknowledged'),
    suspicions: read('suspicions'),
    healedSuspicions: read('healedSuspicions'),
    recoveredOwnStamp: read('recoveredOwnStamp'),
    chains: Object.fromEntries(
      ofKind('v:').map(([key, chain]) => [key, decodeChain(chain, siteCount)]),
    ),
    firstEntry: dropped + 1,
    firstId: read('droppedIds') + 1,
    last: { entry: last, stamp: read('lastEntryStamp') },
    bytes: read('entryBytesSum'),
    entries: getNumbered('o', dropped, last).map((bytes) => decodeEntry(bytes, siteCount)),
    ids: Object.fromEntries(ofKind('i:').map(([id, bytes]) => [id, bytes.readDoubleBE(0)])),
    removed: read('removedItems'),
    items: items.map((bytes) => ({
      key: fromField(bytes.subarray(8)),
      dueAt: bytes.readDoubleBE(0),
    })),
    checkedAt: read('checkedAt'),
  };
}

/** Texts in the place of bytes, whose classes differ. */
export function toComparable(value: unknown): unknown {
  if (value instanceof Uint8Array) return `bytes ${Buffer.from(value).toString('hex')}`;
  if (Array.isArray(value)) return value.map(toComparable);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, toComparable(item)]),
  );
}
