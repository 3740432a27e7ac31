/** How a token is asked for, how long it can be used, and for whom. */
import { describe, expect, test } from 'vitest';
import { PROTOCOL_VERSION } from '../../../../src/protocol/codec/version.ts';
import { Handshake } from '../../../../src/transport/connection/handshake.ts';
import type { Connection } from '../../../../src/transport/connection/connection.ts';
import type { Credentials } from '../../../../src/transport/options/guard-callbacks.ts';
import type { ResolvedConnectionOptions, ConnectionTarget } from '../../../../src/transport/options/options.ts';
import { LEVELS } from '../../../support/wire.ts';
import { FakePlatform, settled } from '../fake-platform.ts';
import { LIMITS } from '../set-up.ts';

interface Question {
  readonly give: (token: string) => void;
  readonly refuse: (cause: unknown) => void;
}

/** A greeting whose questions the test answers by hand; `begin` opens a line and gives what is said on it. */
function greeting({ isOurs = () => true, ...target }: Partial<ConnectionTarget> & { isOurs?: () => boolean } = {}) {
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
  return { one: item, scheduling, questions, failures, begin };
}

const hello = (token: string): unknown[] => [[0, 'hello', expect.objectContaining({ token })]];

describe('a token that comes while no line waits for it', () => {
  test.each([
    ['asked for ahead of the first line', 10_000, 'used', true],
    ['asked for ahead of the first line', 10_001, 'asked for anew', false],
    ['asked for by a line that is gone', 60_000, 'used', true],
    ['asked for by a line that is gone', 60_001, 'asked for anew', false],
  ])('%s, %d ms old → %s', async (how, ageMs, _, isUsed) => {
    const { one: item, scheduling, questions, begin } = greeting();
    if (how.includes('ahead')) item.requestTokenEarly();
    else begin();
    item.end();
    questions[0]?.give('kept');
    await settled();
    scheduling.advance(ageMs);
    expect([begin(), questions.length]).toEqual(isUsed ? [hello('kept'), 1] : [[], 2]);
  });

  test('the client has become another → asked for anew', async () => {
    const { one: item, questions, begin } = greeting();
    begin();
    item.end();
    questions[0]?.give('of the former');
    await settled();
    item.renewClientId();
    expect([begin(), questions.length]).toEqual([[], 2]);
  });
});

describe('a question', () => {
  test.each([
    [60_000, 1],
    [60_001, 2],
  ])('open for %d ms when the next line comes → %d in all', (ms, count) => {
    const { one: item, scheduling, questions, begin } = greeting();
    begin();
    item.end();
    scheduling.advance(ms);
    begin();
    expect(questions).toHaveLength(count);
  });

  test('fails when a later one is open → not told: that may be answered', async () => {
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
    ['the line waits for it → told', true],
    ['the line is gone → not told', false],
  ])('fails while %s', async (_, isThere) => {
    const { one: item, questions, failures, begin } = greeting();
    begin();
    if (!isThere) item.end();
    questions[0]?.refuse(new Error('fetch failed'));
    await settled();
    expect(failures).toEqual(isThere ? ['token: no token could be had: fetch failed'] : []);
  });
});

test('the token is for one who is not signed in any more → not said; asked for anew', async () => {
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
])('the server has the contract %s → that is what the client is told', (name, contract) => {
  const { one: item } = greeting({ contract: { name: 'shop', hash: 'h', getOperationHashes: () => ({}) } });
  const welcome = { version: PROTOCOL_VERSION, levels: LEVELS, memoryId: 'm', limits: LIMITS, contract };
  expect(item.findIncompatibility(welcome as never)?.message).toBe(
    `the server has the contract ${name}; this client needs shop`,
  );
});
