/** What the page `simulator` does with a recorded run, without a browser. */
import { crc32 } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import {
  chooseSpanMs,
  filterEvents,
  isCorrected,
  listEvents,
} from '../../../site/simulator/events.ts';
import { FIRST_RUN, formatRequest, readRequest } from '../../../site/simulator/examples.ts';
import { crc32 as crc32InBrowser } from '../../../site/simulator/zlib.ts';
import type { RecordedMessage, RecordedRun } from '../../simulator/recorder/recorded-run.ts';

const message = (
  sentAtMs: number,
  endedAtMs: number,
  group: RecordedMessage['group'] = 'blue',
): RecordedMessage => ({
  kind: 'blue.operations',
  group,
  from: 1,
  to: 2,
  sentAtMs,
  endedAtMs,
  fate: 'delivered',
  text: 'Site 1 sends something.',
});

const run: RecordedRun = {
  seed: 1,
  profile: 'calm',
  siteCount: 2,
  leaders: [1],
  clientCount: 1,
  endMs: 1000,
  messages: [message(10, 30), message(20, 90, 'heartbeat'), message(400, 410)],
  outages: [{ site: 2, kind: 'down', fromMs: 50, toMs: 60, text: 'Site 2 has crashed.' }],
  cuts: [{ from: 1, to: 2, fromMs: 70, toMs: 80 }],
  marks: [{ site: 1, kind: 'blue', atMs: 10, text: 'Site 1 shows it.' }],
  operations: [
    {
      id: 'c0/1',
      client: 0,
      call: "add({ key: 'a' })",
      level: 'strong',
      submittedAtMs: 5,
      views: [
        { atMs: 5, site: 1, stage: 'tentative', value: '1' },
        { atMs: 40, site: 1, stage: 'strong', value: '2' },
      ],
      endedAtMs: 40,
    },
  ],
};

describe('events', () => {
  test('are in the order of their beginnings, each with a sentence', () => {
    expect(listEvents(run).map(({ fromMs, kind, text }) => [fromMs, kind, text])).toEqual([
      [
        5,
        'operation',
        "Client 0 calls add({ key: 'a' }) with level strong at 5.0 ms (c0/1). 5.0 ms: site 1 answers 1, level tentative. 40.0 ms: site 1 answers 2, level strong.",
      ],
      [10, 'message', 'Site 1 sends something. It arrives at 30.0 ms.'],
      [10, 'mark', 'Site 1 shows it.'],
      [20, 'message', 'Site 1 sends something. It arrives at 90.0 ms.'],
      [50, 'outage', 'Site 2 has crashed. It lasts from 50.0 ms to 60.0 ms.'],
      [70, 'cut', 'The network carries nothing from site 1 to site 2, from 70.0 ms to 80.0 ms.'],
      [400, 'message', 'Site 1 sends something. It arrives at 410.0 ms.'],
    ]);
  });

  test('those that overlap a span are shown, and messages of chosen groups only', () => {
    const show = (groups: readonly RecordedMessage['group'][]): number[] =>
      filterEvents(listEvents(run), { fromMs: 35, toMs: 55 }, new Set(groups)).map(
        ({ fromMs }) => fromMs,
      );
    expect(show(['blue', 'heartbeat'])).toEqual([5, 20, 50]);
    expect(show(['blue'])).toEqual([5, 50]);
  });

  test('the span is the longest one that can be read', () => {
    expect(chooseSpanMs(run, 0, 3)).toBe(2000);
    expect(chooseSpanMs(run, 0, 2)).toBe(300);
    expect(chooseSpanMs(run, 0, 0)).toBe(20);
  });

  test('an operation is corrected if its preliminary view has another value than the final one', () => {
    const [operation] = run.operations;
    expect(operation && isCorrected(operation)).toBe(true);
    expect(operation && isCorrected({ ...operation, views: operation.views.slice(1) })).toBe(false);
  });
});

test('the address of a run → the same run; what it cannot mean → the first run', () => {
  const request = { seed: 9, profile: 'calm', fault: 'all-blue-bank' } as const;
  expect(readRequest(formatRequest(request))).toEqual(request);
  expect(readRequest('?profile=crashes&seed=7')).toEqual({
    seed: 7,
    profile: 'crashes',
    fault: undefined,
  });
  for (const query of ['?profile=none&seed=-1&fault=none', '?seed=', '?seed=text'])
    expect(readRequest(query)).toEqual({ ...FIRST_RUN, fault: undefined });
});

test('the checksum in a browser is that of Node', () => {
  const bytes = Uint8Array.from({ length: 300 }, (_, index) => (index * 7) % 256);
  expect(crc32InBrowser(bytes)).toBe(crc32(bytes));
  expect(crc32InBrowser(bytes.subarray(100), crc32InBrowser(bytes.subarray(0, 100)))).toBe(
    crc32(bytes),
  );
  expect(crc32InBrowser('text')).toBe(crc32('text'));
});
