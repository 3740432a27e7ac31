/** How a token is asked for, how long it can be used, and for whom. */
import { describe, expect, test } from 'vitest';
import { PROTOCOL_VERSION } from '../../../../src/protocol/codec/version.ts';
import { Handshake } from '../../../../src/transport/connection/handshake.ts';
import type { Connection } from '../../../../src/transport/connection/connection.ts';
import type { Credentials } from '../../../../src/transport/options/guard-callbacks.ts';
import type {
  ResolvedConnectionOptions,
  ConnectionTarget,
} from '../../../../src/transport/options/options.ts';
import { LEVELS } from '../../../support/wire.ts';
import { FakePlatform, settled } from '../fake-platform.ts';
import { LIMITS } from '../set-up.ts';

interface Question {
  readonly give: (token: string) => void;
  readonly refuse: (cause: unknown) => void;
}

/**
 * A handshake whose token requests the test answers by hand. `begin` opens a connection and returns
 * its sent rows.
 */
function greeting({
  isOurs = () => true,
  ...target
}: Partial<ConnectionTarget> & { isOurs?: () => boolean } = {}) {
  const scheduling = new FakePlatform();
  const questions: Question[] = [];
  const credentials = (): Promise<Credentials> =>
    new Promise((resolve, refuse) => {
      questions.push({ give: (token) => resolve({ principal: undefined, token }), refuse });
    });
  const settings = { credentials, scheduling } as unknown as ResolvedConnectionOptions;
  const item = new Handshake(settings, { levels: LEVELS, ...target }, isOurs);
  const failures: unknown[] = [];
  const begin = (): unknown[][] => {
    const reported: unknown[][] = [];
    const line = { attempt: 1, push: (row: unknown[]) => reported.push(row), flush: () => {} };
    item.begin(line as unknown as Connection, ({ message }) => failures.push(message));
    return reported;
  };
  return { handshake: item, scheduling, questions, failures, begin };
}

const hello = (token: string): unknown[] => [[0, 'hello', expect.objectContaining({ token })]];

describe('a token that comes while no connection waits for it', () => {
  test.each([
    ['asked for ahead of the first line', 10_000, 'used', true],
    ['requested ahead of the first connection', 10_001, 'requested again', false],
    ['requested by a connection that is gone', 60_000, 'used', true],
    ['requested by a connection that is gone', 60_001, 'requested again', false],
  ])('%s, %d ms old → %s', async (how, ageMs, _, isUsed) => {
    const { handshake: item, scheduling, questions, begin } = greeting();
    if (how.includes('ahead')) item.requestTokenEarly();
    else begin();
    item.end();
    questions[0]?.give('kept');
    await settled();
    scheduling.advance(ageMs);
    expect([begin(), questions.length]).toEqual(isUsed ? [hello('kept'), 1] : [[], 2]);
  });

  test('the client has another id now → requested again', async () => {
    const { handshake: item, questions, begin } = greeting();
    begin();
    item.end();
    questions[0]?.give('of the former');
    await settled();
    item.renewClientId();
    expect([begin(), questions.length]).toEqual([[], 2]);
  });
});

describe('a token request', () => {
  test.each([
    [60_000, 1],
    [60_001, 2],
  ])('open for %d ms when the next line comes → %d in all', (ms, count) => {
    const { handshake: item, scheduling, questions, begin } = greeting();
    begin();
    item.end();
    scheduling.advance(ms);
    begin();
    expect(questions).toHaveLength(count);
  });

  test('fails after a later one has started → not reported: the later one may succeed', async () => {
    const { scheduling, questions, failures, begin } = greeting();
    begin();
    scheduling.advance(60_001);
    const reported = begin();
    questions[0]?.refuse(new Error('lost'));
    await settled();
    expect(failures).toEqual([]);
    questions[1]?.give('second');
    await settled();
    expect(reported).toEqual(hello('second'));
  });

  test.each([
    ['the connection waits for it → reported', true],
    ['the connection is gone → not reported', false],
  ])('fails while %s', async (_, isThere) => {
    const { handshake: item, questions, failures, begin } = greeting();
    begin();
    if (!isThere) item.end();
    questions[0]?.refuse(new Error('fetch failed'));
    await settled();
    expect(failures).toEqual(isThere ? ['token: no token could be had: fetch failed'] : []);
  });
});

test('the token belongs to a user who is signed out → not sent; requested again', async () => {
  const answers = [false, true];
  const { questions, begin } = greeting({ isOurs: () => answers.shift() ?? false });
  const reported = begin();
  questions[0]?.give('of the former');
  await settled();
  expect([reported, questions.length]).toEqual([[], 2]);
  questions[1]?.give('own');
  await settled();
  expect(reported).toEqual(hello('own'));
});

test.each([
  ['none', undefined],
  ['other', { name: 'other', hash: 'h', operations: {} }],
])('the server has the contract %s → the client gets that error', (name, contract) => {
  const { handshake: item } = greeting({
    contract: { name: 'shop', hash: 'h', getOperationHashes: () => ({}) },
  });
  const welcome = {
    version: PROTOCOL_VERSION,
    levels: LEVELS,
    memoryId: 'm',
    limits: LIMITS,
    contract,
  };
  expect(item.findIncompatibility(welcome as never)?.message).toBe(
    `the server has the contract ${name}; this client needs shop`,
  );
});
