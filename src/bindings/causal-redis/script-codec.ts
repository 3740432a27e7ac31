/** Encodes calls as arguments of scripts, and decodes their replies. */
import type {
  CallName,
  Cursor,
  PartitionCalls,
  Refusal,
  RefusalReason,
  StateReply,
} from '../../causal/partition-calls.ts';
import type { RedisArgument } from './driver.ts';
import { getStatePlaces, REFUSAL_CODES, type StateNumber } from './scripts/numbers.ts';
import {
  decodeChain,
  decodeEntry,
  decodeNumbers,
  decodeVersion,
  encodeChain,
  encodeEntry,
  encodeNumbers,
  fromField,
  toChainField,
  toIdField,
  toValueBytes,
} from './version-codec.ts';

type Encoders = {
  readonly [N in CallName]: (request: PartitionCalls[N]['request']) => readonly RedisArgument[];
};

type Decoders = {
  readonly [N in CallName]: (reply: never, siteCount: number) => PartitionCalls[N]['reply'];
};

const DONE = {};
const CURSOR_COUNT = 2;

const ENCODERS: Encoders = {
  put: (request) => [
    encodeNumbers([
      request.siteTime,
      request.lastSeen,
      request.kind === 'tombstone' ? 1 : 0,
      request.ttl,
      ...request.dependencies,
      ...request.stable,
    ]),
    toChainField(request.key),
    toIdField(request.id),
    toValueBytes(request.value),
  ],
  read: ({ siteTime, lastSeen, acceptsMissing, snapshot, keys }) => [
    encodeNumbers([siteTime, lastSeen, acceptsMissing ? 1 : 0, ...snapshot]),
    ...keys.map(toChainField),
  ],
  snapshot: ({ atLeast }) => [encodeNumbers([atLeast])],
  state: ({ siteTime, lastSeen, siteClock, stable }) => [
    encodeNumbers([siteTime, lastSeen, siteClock, ...stable]),
  ],
  pull: ({ siteTime, requester, cursor, promiseHeld, maxEntries }) => [
    encodeNumbers([
      siteTime,
      toLuaSite(requester),
      cursor.entry,
      cursor.stamp,
      promiseHeld,
      maxEntries,
    ]),
  ],
  apply: ({ source, expectedCursor, cursor, promise, stable, entries }) => [
    encodeNumbers([
      toLuaSite(source),
      expectedCursor.entry,
      expectedCursor.stamp,
      cursor.entry,
      cursor.stamp,
      promise,
      ...stable,
    ]),
    ...entries.map(encodeEntry),
  ],
  lastEntry: () => [],
  scan: ({ page, maxKeys }) => [page === '' ? '0' : page, maxKeys],
  merge: ({ chains, hasLostState }) => [
    encodeNumbers([hasLostState ? 1 : 0]),
    ...chains.flatMap(([key, chain]) => [toChainField(key), encodeChain(chain)]),
  ],
  seek: ({ source, expectedCursor, cursor }) => [
    encodeNumbers([
      toLuaSite(source),
      expectedCursor.entry,
      expectedCursor.stamp,
      cursor.entry,
      cursor.stamp,
    ]),
  ],
  suspect: () => [],
  confirmHealed: ({ suspicions, siteClock }) => [encodeNumbers([suspicions, siteClock])],
};

const DECODERS: Decoders = {
  put: (reply: Buffer) => {
    const [stamp = 0, droppedEntries = 0] = decodeNumbers(reply);
    return { stamp, droppedEntries };
  },
  read: ([clock, ...versions]: readonly [Buffer, ...Buffer[]], siteCount) => ({
    clock: clock.readDoubleBE(0),
    versions: versions.map((bytes) =>
      bytes.length === 0 ? undefined : decodeVersion(bytes, siteCount),
    ),
  }),
  snapshot: (reply: Buffer) => ({ clock: reply.readDoubleBE(0) }),
  state: (reply: Buffer, siteCount) => decodeState(reply, siteCount),
  pull: ([head, ...entries]: readonly [Buffer, ...Buffer[]], siteCount) => {
    const [, , promise = 0] = decodeNumbers(head);
    return {
      cursor: decodeCursor(head),
      promise,
      entries: entries.map((bytes) => decodeEntry(bytes, siteCount)),
    };
  },
  apply: (reply: Buffer) => ({ belowPromise: reply.readDoubleBE(0) }),
  lastEntry: (reply: Buffer) => decodeCursor(reply),
  scan: ([next, found]: readonly [Buffer, readonly Buffer[]], siteCount) => {
    const page = next.toString();
    return {
      chains: toPairs(found).map(
        ([field, chain]) => [fromField(field), decodeChain(chain, siteCount)] as const,
      ),
      nextPage: page === '0' ? undefined : page,
    };
  },
  merge: () => DONE,
  seek: () => DONE,
  suspect: (reply: Buffer) => ({ suspicions: reply.readDoubleBE(0) }),
  confirmHealed: (reply: Buffer) => {
    const [clock = 0, lastOwnStamp = 0] = decodeNumbers(reply);
    return { clock, lastOwnStamp };
  },
};

/** Returns the arguments of a script, without its key. */
export function encodeRequest<N extends CallName>(
  name: N,
  request: PartitionCalls[N]['request'],
): readonly RedisArgument[] {
  return ENCODERS[name](request);
}

/** Decodes the reply of a script. An integer is the code of a refusal. */
export function decodeReply<N extends CallName>(
  name: N,
  reply: unknown,
  siteCount: number,
): PartitionCalls[N]['reply'] | Refusal {
  if (typeof reply === 'number') return { refused: toRefusalReason(reply) };
  return DECODERS[name](reply as never, siteCount);
}

/** Reads the physical clock, and the field `s` of a partition that follows it. */
function decodeState(reply: Buffer, siteCount: number): StateReply {
  const [physicalClock = 0, ...state] = decodeNumbers(reply);
  const places = getStatePlaces(siteCount);
  const read = (name: StateNumber): number => state[places[name]] ?? 0;
  const readVector = (name: StateNumber): readonly number[] =>
    state.slice(places[name], places[name] + siteCount);
  const stamps = readVector('cursorStamps');
  return {
    physicalClock,
    clock: read('clock'),
    lastOwnStamp: read('lastOwnStamp'),
    received: readVector('received'),
    cursors: readVector('cursorEntries').map((entry, site) => ({
      entry,
      stamp: stamps[site] ?? 0,
    })),
    suspicions: read('suspicions'),
    healedSuspicions: read('healedSuspicions'),
  };
}

function decodeCursor(bytes: Buffer): Cursor {
  const [entry = 0, stamp = 0] = decodeNumbers(bytes, 0, CURSOR_COUNT);
  return { entry, stamp };
}

function toPairs(list: readonly Buffer[]): readonly (readonly [Buffer, Buffer])[] {
  const pairs: [Buffer, Buffer][] = [];
  for (let at = 0; at + 1 < list.length; at += 2)
    pairs.push([list[at] as Buffer, list[at + 1] as Buffer]);
  return pairs;
}

/** Sites are counted from 1 in Lua. */
function toLuaSite(site: number): number {
  return site + 1;
}

function toRefusalReason(code: number): RefusalReason {
  const codes = Object.entries(REFUSAL_CODES) as [RefusalReason, number][];
  return codes.find(([, other]) => other === code)?.[0] ?? 'UNREACHABLE';
}
