/** What a receiver reads of the bytes that have come, frame by frame. */
// @rule CLU-T3
import { beforeEach, expect, test } from 'vitest';
import { crc32 } from 'node:zlib';
import { Random } from '../../../../../src/server/service/collections/random.ts';
import type { CheckpointRow } from '../../../../../src/server/node/storage/format/checkpoint-file.ts';
import {
  formatCommit,
  formatRow,
  formatRows,
} from '../../../../../src/server/node/storage/format/checkpoint-file.ts';
import { FORMAT_VERSION } from '../../../../../src/server/node/storage/format/file-names.ts';
import { encodeFrame, HEADER_BYTES } from '../../../../../src/server/node/storage/format/frames.ts';
import {
  IncomingFile,
  type IncomingState,
} from '../../../../../src/server/node/transfer/incoming-file.ts';
import type { TransferHeader } from '../../../../../src/server/node/transfer/shared-frames.ts';
import { getFileNumber } from '../../../../../src/server/node/transfer/transfer-messages.ts';
import { SimulatedDisk } from '../../../../../src/testing/simulator/disk/disk.ts';
import { Timeline } from '../../../../../src/testing/simulator/timeline.ts';

const TRANSFER = 'transfer 1';

let timeline: Timeline;
let disk: SimulatedDisk;
beforeEach(() => {
  timeline = new Timeline();
  disk = new SimulatedDisk({ timeline, random: new Random(1), syncMeanMs: 1 });
});

/** The bytes that a donor sends. The last frame has the commit. */
function createBytes(
  frames: readonly (readonly CheckpointRow[])[],
  header: Partial<TransferHeader> = {},
): Buffer {
  const written: Buffer[] = [];
  let sum = 0;
  const add = (payload: string): void => {
    const name = { file: getFileNumber(TRANSFER), index: written.length };
    const frame = encodeFrame(payload, name);
    sum = crc32(frame.subarray(HEADER_BYTES), sum);
    written.push(frame);
  };
  add(JSON.stringify({ format: FORMAT_VERSION, transfer: TRANSFER, donor: 'a', ...header }));
  const texts = frames.map((rows) => rows.map(formatRow));
  for (const rows of texts.slice(0, -1)) add(formatRows(rows));
  const places = { local: 0, red: 7 };
  const positions = { contained: places, retainedFrom: places, sum };
  add(formatCommit(texts.at(-1) ?? [], { smallParts: '{"count":3}', ...positions }));
  return Buffer.concat(written);
}

/** Writes bytes as several starts of a receiver do, each from where whole frames end. */
function receive(bytes: Buffer, sliceBytes: number, startCount: number): IncomingFile {
  let file = new IncomingFile(disk.mount());
  const perStart = Math.ceil(bytes.length / startCount);
  for (let start = 1; start <= startCount; start += 1) {
    const end = Math.min(bytes.length, start * perStart);
    while (file.length < end) {
      const slice = bytes.subarray(file.length, Math.min(end, file.length + sliceBytes));
      file.append(slice, (error) => expect(error).toBeUndefined());
      timeline.run(timeline.nowMs + 1000);
    }
    if (start === startCount) break;
    file.close();
    file = new IncomingFile(disk.mount());
    expect(file.resume()?.transfer ?? TRANSFER).toBe(TRANSFER);
  }
  return file;
}

function read(file: IncomingFile): IncomingState | string {
  const steps = file.read(TRANSFER);
  for (;;) {
    const next = steps.next();
    if (next.done === true) return next.value;
  }
}

const FRAMES: readonly (readonly CheckpointRow[])[] = [
  [
    ['rows', 'notes\u0000a', [{ title: 1 }]],
    ['slots', 'x', 1],
  ],
  [
    ['rows', 'notes\u0000a', [{ title: 1 }]],
    ['rows', 'notes\u0000b', [{ title: 2 }]],
  ],
  [
    ['rows', 'notes\u0000b'],
    ['slots', 'y', 2],
  ],
];

test.each([
  [1, 1000],
  [4, 50],
  [7, 13],
])(
  'the version before sends rows several times → the last one counts, after %i starts',
  (starts, sliceBytes) => {
    const found = read(receive(createBytes(FRAMES), sliceBytes, starts)) as IncomingState;
    expect(found.smallParts).toEqual({ count: 3 });
    const expected = [
      ['slots', 'x', 1],
      ['rows', 'notes\u0000a', [{ title: 1 }]],
      ['slots', 'y', 2],
    ];
    expect([...found.rows]).toEqual(expected);
    expect([...found.rows]).toEqual(expected);
  },
);

test('a donor says that its rows are distinct → they are taken as they come', () => {
  const rows: CheckpointRow[] = [
    ['slots', 'x', 1],
    ['slots', 'y', 2],
  ];
  const bytes = createBytes([rows, []], { isDistinct: true });
  const found = read(receive(bytes, 100, 2)) as IncomingState;
  expect([...found.rows]).toEqual(rows);
});

test('frames are missing, or are of another transfer or format → says what is wrong', () => {
  const bytes = createBytes(FRAMES);
  expect(read(receive(bytes.subarray(0, -10), 100, 1))).toBe('it has no end');
  disk.mount().removeNow('incoming');
  const other = createBytes(FRAMES, { format: FORMAT_VERSION + 1 });
  expect(read(receive(other, 1000, 1))).toContain('it needs a newer version');
  disk.mount().removeNow('incoming');
  expect(read(new IncomingFile(disk.mount()))).toBe('its first frame cannot be read');
});

test('a byte is damaged → says so', () => {
  const bytes = createBytes(FRAMES);
  bytes[200] = bytes[200]! ^ 1;
  expect(read(receive(bytes, 1000, 1))).toMatch(/^it is damaged at byte/);
});
