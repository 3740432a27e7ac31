/** The error of a message names the place of the problem, and no part of the message is used. */
// @rule BS-E2, BS-E10
import { describe, expect, test } from 'vitest';
import { SEQUENCED_MESSAGE_FORMAT } from '../../../../../src/server/log/sequenced/sequenced-messages.ts';
import { createMessageSchema } from '../../../../../src/server/site/wire/message-schemas.ts';
import { MAX_ORIGINS } from '../../../../../src/server/service/records/origin.ts';
import { MAX_OPERATIONS_PER_MESSAGE } from '../../../../../src/server/log/send-windows.ts';
import { BLUE, MESSAGES, ORIGINS, RED, RED_RECORDS } from './sample-messages.ts';

const shape = createMessageSchema(SEQUENCED_MESSAGE_FORMAT);
const problemOf = (message: unknown): string | undefined => shape(message, ORIGINS);
const operations = (...given: readonly unknown[]): unknown => ({
  kind: 'blue.operations',
  operations: given,
});
const proposal = (record: unknown): unknown => ({
  kind: 'log.propose',
  epoch: 1,
  sequence: 1,
  record,
});

test('each kind, with all that it may have → nothing is wrong', () => {
  expect(MESSAGES.map(problemOf)).toEqual(MESSAGES.map(() => undefined));
});

test('each kind of red record → nothing is wrong', () => {
  expect(Object.values(RED_RECORDS).map((record) => problemOf(proposal(record)) ?? 'fits')).toEqual(
    Object.keys(RED_RECORDS).map(() => 'fits'),
  );
});

test('what clients choose → is taken as large as a site takes it: a number up to the largest, a key as long as fits', () => {
  const key = 'k'.repeat(1 << 20);
  const effect = { table: 'accounts', key, field: 'balance', action: 'add', value: 1 };
  const [id, reads] = [`anna/${Number.MAX_SAFE_INTEGER}`, [`accounts\u0000${key}\u0000balance`]];
  expect(problemOf(operations({ ...BLUE, id, effects: [effect] }))).toBeUndefined();
  expect(problemOf(proposal({ ...RED, id, reads, effects: [effect] }))).toBeUndefined();
});

describe('refused', () => {
  for (const [description, message, problem] of [
    ['no object', 7, ': must be an object'],
    [
      'a kind that there is not',
      { kind: 'blue.gossip' },
      /^kind: must be one of blue\.operations, /,
    ],
    ['a kind that every object has', { kind: 'constructor' }, /^kind: must be one of/],
    ['a field that is missing', { kind: 'blue.received' }, 'sequence: is missing'],
    [
      'an unknown field',
      { kind: 'blue.received', sequence: 1, urgent: true },
      'urgent: is no field of it',
    ],
    [
      'a number below 0',
      { kind: 'blue.received', sequence: -1 },
      'sequence: must be an integer from 0 on',
    ],
    [
      'part of a number',
      { kind: 'log.appended', length: 0.5, committed: 0 },
      /^length: must be an integer/,
    ],
    ['no operations', operations(), /^operations: must have 1 to/],
    [
      'too many operations',
      operations(...Array.from({ length: MAX_OPERATIONS_PER_MESSAGE + 1 })),
      /^operations: must have 1 to/,
    ],
    [
      'the red order for a site',
      operations({ ...BLUE, site: 0 }),
      'operations.0.site: must be the ordinal of a site',
    ],
    [
      'a site beyond all ordinals',
      operations(BLUE, { ...BLUE, site: MAX_ORIGINS + 1 }),
      /^operations\.1\.site: must be the ordinal/,
    ],
    [
      'stamps of more origins than there can be',
      operations({ ...BLUE, vector: Array.from({ length: MAX_ORIGINS + 1 }, () => 0) }),
      /^operations\.0\.vector: must/,
    ],
    [
      'a stamp that is none',
      operations({ ...BLUE, vector: [0, '1'] }),
      /^operations\.0\.vector\.1: must be an integer/,
    ],
    [
      'an effect without a row',
      operations({ ...BLUE, effects: [{ table: 't' }] }),
      /^operations\.0\.effects\.0\.key: is missing/,
    ],
    [
      'an unknown record',
      proposal({ kind: 'join', id: 'a/1', site: 1 }),
      /^record\.kind: must be one of operation/,
    ],
    [
      'a record without a site',
      proposal({ ...RED, site: 0 }),
      /^record\.site: must be the ordinal/,
    ],
    [
      'executions without a number',
      proposal({ ...RED, dependencies: [['a/1']] }),
      /^record\.dependencies\.0: must be a list of 2/,
    ],
    [
      'a claim without a site',
      {
        kind: 'slot.answered',
        id: 'a/1',
        hop: 0,
        by: 1,
        decision: { kind: 'claim', site: 0, hop: 1 },
      },
      /^decision\.site/,
    ],
  ] as const) {
    test(`${description} → ${String(problem)}`, () => {
      expect(problemOf(message)).toMatch(problem);
    });
  }
});

describe('a write without a name', () => {
  const names = ['', 'anna', '/1', 'anna/', 'anna/one', 'anna/1.0', 7, undefined];

  test('is refused in a stream, as a proposal, as an entry of the red log, and when it is asked for', () => {
    for (const id of names) {
      const entries = [{ origin: 1, epoch: 1, sequence: 1, record: { ...RED, id } }];
      const found = [
        operations({ ...BLUE, id }),
        proposal({ ...RED, id }),
        proposal({ kind: 'marker', id, site: 1 }),
        { kind: 'log.append', position: 0, entries, committed: 0 },
        { kind: 'slot.request', id, hop: 0, by: 1 },
      ].map(problemOf);
      for (const problem of found) expect(problem).toMatch(/id: (must|is missing)/);
    }
  });
});
