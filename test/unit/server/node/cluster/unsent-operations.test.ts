/** What a retired site writes down of the operations that no other site is known to have. */
import { expect, test } from 'vitest';
import { saveUnsent } from '../../../../../src/server/node/cluster/unsent-operations.ts';
import type { Origin } from '../../../../../src/server/service/records/origin.ts';

const ORIGIN = 2 as Origin;
const UNSENT = [7, 8, 9].map((sequence) => ({ sequence }));

/** Saves with peers that answer so. Gives what is in the file at the end, and what is reported. */
async function save(replies: Readonly<Record<string, unknown>>) {
  const files = new Map<string, string>();
  const report = await saveUnsent(UNSENT, {
    files: {
      replace: (path, bytes) => files.set(path, Buffer.from(bytes).toString()),
      removeNow: (path) => files.delete(path),
    },
    origin: ORIGIN,
    peers: Object.keys(replies),
    request: (peer) => {
      // It is written before anything is awaited.
      expect(JSON.parse(files.get('unsent-operations.json') ?? '')).toMatchObject({
        operations: UNSENT,
      });
      const reply = replies[peer];
      return reply === undefined
        ? Promise.reject(new Error('the link is down'))
        : Promise.resolve(reply);
    },
    signal: new AbortController().signal,
    maxWaitMs: 1,
  });
  const text = files.get('unsent-operations.json');
  return { report, saved: text === undefined ? undefined : (JSON.parse(text) as object) };
}

const closedAt = (sequence: number): object => ({
  members: [
    { origin: 1, site: 'a', state: 'open' },
    { origin: ORIGIN, site: 'b', state: 'closed', final: { sequence, stamp: 1 } },
  ],
});

test.each([
  [
    'another site has some → the others are written down',
    { a: undefined, c: closedAt(8) },
    [9],
    'no other site has: 1',
  ],
  [
    'no site answers → all, as uncertain',
    { a: undefined },
    [7, 8, 9],
    'no other site is known to have: 3',
  ],
  [
    'no end is known yet → all',
    { a: { members: [{ origin: ORIGIN, state: 'closing' }] } },
    [7, 8, 9],
    'known to have: 3',
  ],
])('%s', async (_what, replies, sequences, reported) => {
  const { report, saved } = await save(replies);
  expect(saved).toMatchObject({ operations: sequences.map((sequence) => ({ sequence })) });
  expect(report).toContain(reported);
});

test('another site has all → no file', async () => {
  expect(await save({ a: closedAt(9) })).toEqual({
    report: ' All its operations are at another site.',
    saved: undefined,
  });
});

test('operations with bytes, dates and bigints are written down', async () => {
  const files = new Map<string, string>();
  const unsent = [{ sequence: 7, reply: { value: 12n } }];
  await saveUnsent(unsent, {
    files: {
      replace: (path, bytes) => files.set(path, Buffer.from(bytes).toString()),
      removeNow: (path) => files.delete(path),
    },
    origin: ORIGIN,
    peers: [],
    request: () => Promise.reject(new Error('the link is down')),
    signal: new AbortController().signal,
    maxWaitMs: 1,
  });
  expect(files.get('unsent-operations.json')).toContain('"$bigint": "12"');
});
