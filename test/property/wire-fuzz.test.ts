/**
 * Hostile rows, a million at night, through what every inbound byte passes: the codecs and the check of rows. Half are
 * well-formed rows that were damaged where their schemas say something, half are frames with random bytes in them.
 *
 * `FUZZ_SEED=7 FUZZ_ROWS=100000` repeats a run, or makes it longer.
 */
import { Packr } from 'msgpackr';
import { expect, test } from 'vitest';
import { isCorrectableError } from '../../src/correctable/errors.ts';
import { clientMessageKinds } from '../../src/protocol/messages/client-messages.ts';
import { UndecodableMessage, type Codec, type EncodedData } from '../../src/protocol/codec/codec.ts';
import { jsonCodec } from '../../src/protocol/codec/json-codec.ts';
import { msgpackCodec } from '../../src/protocol/codec/msgpack-codec.ts';
import { isSimpleSubmit, isSimpleView } from '../../src/protocol/messages/fast-path.ts';
import { createMessageCheck } from '../../src/protocol/messages/message-check.ts';
import { serverMessageKinds } from '../../src/protocol/messages/server-messages.ts';
import { compileSchema } from '../../src/server/gateway/context/compile-schema.ts';
import { Random } from '../../src/server/collections/random.ts';
import { EDGE_CASE_VALUES } from '../support/edge-case-values.ts';
import { scaleRuns } from '../support/lane.ts';

const SEED = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const ROWS = Number(process.env['FUZZ_ROWS'] ?? scaleRuns(100_000));
const ROWS_A_FRAME = 20;

const kinds = [...clientMessageKinds, ...serverMessageKinds];
const check = createMessageCheck(kinds, { compile: compileSchema });
const checkSlowly = createMessageCheck(kinds);
const packr = new Packr({ useRecords: false });

const GOOD: readonly (readonly unknown[])[] = [
  [0, 'hello', { version: 1, client: 'a'.repeat(32), attempt: 1, levels: ['weak', 'strong'], token: 't' }],
  [0, 'welcome', { version: 1, levels: ['weak'], limits: { maxFrameBytes: 1, maxInFlight: 1 } }],
  [7, 'submit', 'put', 'write', 3, { key: 'x', value: [1, { $date: 5 }, { $bigint: '9' }] }, 'x', 1000, 'trace'],
  [7, 'submit', 'get', 'read', 1, { key: 'x' }],
  [7, 'view', 0, 0, { a: [null, true, 'text', 1.5] }, 7, { remaining: 1 }],
  [7, 'confirm', 1, 0, 5],
  [7, 'fail', 'CONFLICT', 'again', null, { retryable: true, retryAfterMs: 5, field: 'args.x' }],
  [7, 'cancel'],
  [7, 'submit', 'put', 'write', 3, null, null, null, null, ['ireland.token'], ['ireland', 1]],
  [0, 'renew', 'token'],
  [0, 'renewed', 5000],
  [7, 'ack'],
  [0, 'goaway', 500],
];

const numbers = new Random(SEED);
const random = (below: number): number => numbers.between(0, below - 1);
const pick = <T>(from: readonly T[]): T => from[random(from.length)] as T;

/** A row with one place, at any depth, replaced, removed or added. */
function damaged(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || random(3) === 0) return pick(EDGE_CASE_VALUES);
  if (Array.isArray(value)) {
    const copy: unknown[] = [...(value as unknown[])];
    const at = random(copy.length + 1);
    if (random(4) === 0) copy.splice(at, 1);
    else copy[at] = damaged(copy[at]);
    return copy;
  }
  const keys = Object.keys(value);
  const key = random(4) === 0 ? pick(['extra', '$x', 'constructor', 'toString']) : (keys[random(keys.length)] ?? 'k');
  return { ...value, [key]: damaged((value as Record<string, unknown>)[key]) };
}

function frameOf(codec: Codec): EncodedData {
  const rows = Array.from({ length: ROWS_A_FRAME }, () => (random(10) === 0 ? pick(GOOD) : damaged(pick(GOOD))));
  if (codec === jsonCodec) return JSON.stringify(rows);
  return new Uint8Array(packr.pack(rows));
}

/** Flips bytes of a frame, or cuts it. */
function spoilt(frame: EncodedData): EncodedData {
  const bytes = new Uint8Array(Buffer.from(frame as Uint8Array));
  for (let n = random(3); n >= 0; n--) bytes[random(bytes.length)] = random(256);
  const remaining = random(4) === 0 ? bytes.slice(0, random(bytes.length)) : bytes;
  return typeof frame === 'string' ? Buffer.from(remaining).toString() : remaining;
}

interface Tally {
  accepted: number;
  refused: number;
  undecodable: number;
  brokenFrames: number;
}

/** Asks the test runner only where they differ: that takes longer than the check itself. */
function same(reported: unknown, expected: unknown): void {
  if (reported !== expected) expect(reported).toEqual(expected);
}

function read(codec: Codec, frame: EncodedData, stats: Tally): void {
  let rows: unknown[];
  try {
    rows = codec.decode(frame);
  } catch (error) {
    if (!isCorrectableError(error) || error.code !== 'PROTOCOL') throw error;
    stats.brokenFrames++;
    return;
  }
  for (const row of rows) {
    const problem = check(row);
    if (row instanceof UndecodableMessage) stats.undecodable++;
    else if (problem === undefined) stats.accepted++;
    else stats.refused++;
    if (problem === undefined || random(50) === 0) same(checkSlowly(row), problem);
    if (isSimpleView(row) || isSimpleSubmit(row)) same(problem, undefined);
  }
}

test(`wire: ${ROWS} damaged rows, seed ${SEED} → each is served or refused with PROTOCOL, none gets further`, () => {
  const stats: Tally = { accepted: 0, refused: 0, undecodable: 0, brokenFrames: 0 };
  for (let rows = 0; rows < ROWS; rows += ROWS_A_FRAME) {
    const codec = random(2) === 0 ? jsonCodec : msgpackCodec;
    const frame = frameOf(codec);
    read(codec, random(2) === 0 ? frame : spoilt(frame), stats);
  }
  // The test has teeth only while all four happen often.
  for (const count of Object.values(stats)) expect(count).toBeGreaterThan(ROWS / 1000);
  expect(({} as Record<string, unknown>)['admin']).toBeUndefined();
}, 300_000);
