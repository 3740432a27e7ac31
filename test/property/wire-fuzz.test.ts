/**
 * Hostile rows, a million at night, through what every inbound byte passes: the codecs and the
 * check of rows. Half are well-formed rows that were damaged where their schemas say something,
 * half are frames with random bytes in them.
 *
 * `FUZZ_SEED=7 FUZZ_ROWS=100000` repeats a run, or makes it longer.
 */
import { Packr } from 'msgpackr';
import { expect, test } from 'vitest';
import { isCorrectableError } from '../../src/correctable/errors.ts';
import { clientMessageKinds } from '../../src/protocol/messages/client-messages.ts';
import {
  UndecodableMessage,
  type Codec,
  type EncodedData,
} from '../../src/protocol/codec/codec.ts';
import { jsonCodec } from '../../src/protocol/codec/json-codec.ts';
import { msgpackCodec } from '../../src/protocol/codec/msgpack-codec.ts';
import {
  isSimpleSubmit,
  isSimpleView,
  createMessageCheck,
} from '../../src/protocol/messages/message-check.ts';
import { serverMessageKinds } from '../../src/protocol/messages/server-messages.ts';
import { compileSchema } from '../../src/server/gateway/context/compile-schema.ts';
import { Random } from '../../src/server/service/collections/random.ts';
import { damaged, spoilt } from '../fuzz/mutate-input.ts';
import { scaleRuns } from '../support/lane.ts';

const SEED = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const ROWS = Number(process.env['FUZZ_ROWS'] ?? scaleRuns(100_000));
const ROWS_A_FRAME = 20;

const kinds = [...clientMessageKinds, ...serverMessageKinds];
const check = createMessageCheck(kinds, { compile: compileSchema });
const checkSlowly = createMessageCheck(kinds);
const packr = new Packr({ useRecords: false });

const GOOD: readonly (readonly unknown[])[] = [
  [
    0,
    'hello',
    { version: 1, client: 'a'.repeat(32), attempt: 1, levels: ['weak', 'strong'], token: 't' },
  ],
  [0, 'welcome', { version: 1, levels: ['weak'], limits: { maxFrameBytes: 1, maxInFlight: 1 } }],
  [
    7,
    'submit',
    'put',
    'write',
    3,
    { key: 'x', value: [1, { $date: 5 }, { $bigint: '9' }] },
    'x',
    1000,
    'trace',
  ],
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

function frameOf(codec: Codec): EncodedData {
  const rows = Array.from({ length: ROWS_A_FRAME }, () =>
    random(10) === 0 ? pick(GOOD) : damaged(numbers, pick(GOOD)),
  );
  if (codec === jsonCodec) return JSON.stringify(rows);
  return new Uint8Array(packr.pack(rows));
}

/** The frame with bytes changed, cut out or repeated. */
function spoiltFrame(frame: EncodedData): EncodedData {
  const bytes = spoilt(numbers, Buffer.from(frame as Uint8Array));
  return typeof frame === 'string' ? bytes.toString() : new Uint8Array(bytes);
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
    read(codec, random(2) === 0 ? frame : spoiltFrame(frame), stats);
  }
  // The test has teeth only while all four happen often.
  for (const count of Object.values(stats)) expect(count).toBeGreaterThan(ROWS / 1000);
  expect(({} as Record<string, unknown>)['admin']).toBeUndefined();
}, 300_000);
