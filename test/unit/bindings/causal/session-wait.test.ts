/** An operation whose session has seen more than its site has (CAUSAL-20). */
import { expect, test } from 'vitest';
import { ReadRun } from '../../../../src/bindings/causal/read-run.ts';
import type { OperationCall, OperationRun } from '../../../../src/bindings/causal/operation-run.ts';
import type { SiteHost, SiteOperations } from '../../../../src/bindings/causal/site-host.ts';
import { WriteRun } from '../../../../src/bindings/causal/write-run.ts';
import { CausalSession } from '../../../../src/causal/session.ts';
import { virtualClock } from '../../../../src/testing/index.ts';

const SITE_TIMEOUT_MS = 500;

/** A site that lacks what the session saw until `catchUp`, and takes 200 ms for each call. */
function open() {
  const clock = virtualClock();
  const outcomes: unknown[] = [];
  let isCaughtUp = false;
  let news: (() => void) | undefined;
  const answer = (onEnd: (result: never) => void, result: object): void => {
    if (isCaughtUp) clock.setTimer(() => onEnd(result as never), 200);
    else onEnd({ refused: 'SESSION_AHEAD' } as never);
  };
  const operations: SiteOperations = {
    put: (_session, _write, onEnd) => answer(onEnd, { stamp: 7 }),
    read: (_session, _request, onEnd) => answer(onEnd, { versions: [undefined], snapshot: [0, 0] }),
    readLatest: () => {},
    canContinue: () => isCaughtUp,
    getHealedAt: () => 0,
  };
  const host = {
    site: 0,
    clock,
    operations,
    siteTimeoutMs: SITE_TIMEOUT_MS,
    retryWritesForMs: 5_000,
    createWriteId: () => 'w1',
    onWritten: () => {},
    waitForNews: (run: () => void) => {
      news = run;
      return () => (news = undefined);
    },
  } as unknown as SiteHost;
  const call = {
    host,
    levels: ['causal'],
    sink: {
      view: () => outcomes.push('view'),
      fail: ({ code }: { code: string }) => outcomes.push(code),
    },
    context: { signal: new AbortController().signal },
    session: new CausalSession([0, 9]),
    onEnded: () => {},
  } as unknown as OperationCall;
  const catchUp = (isEnough: boolean): void => {
    isCaughtUp = true;
    const run = news;
    if (!isEnough) setBehind();
    run?.();
  };
  const setBehind = (): void => {
    host.operations.canContinue = () => true;
    isCaughtUp = false;
  };
  return { clock, outcomes, call, catchUp };
}

const RUNS: readonly [string, (call: OperationCall) => OperationRun][] = [
  [
    'write',
    (call) => new WriteRun(call, { access: 'write', key: 'a', kind: 'value', value: 1, ttl: 0 }),
  ],
  ['read', (call) => new ReadRun(call, { access: 'read', keys: ['a'], isMany: false })],
];

test.each(RUNS)(
  'a %s that was sent in time is not failed by the deadline of its wait',
  async (_, create) => {
    const { clock, outcomes, call, catchUp } = open();
    create(call).start();
    await clock.advance(SITE_TIMEOUT_MS - 100);
    catchUp(true);
    await clock.advance(1_000);
    expect(outcomes).toEqual(['view']);
  },
);

test.each(RUNS)('a %s that must wait again has what is left of its time', async (_, create) => {
  const { clock, outcomes, call, catchUp } = open();
  create(call).start();
  await clock.advance(SITE_TIMEOUT_MS - 100);
  catchUp(false);
  await clock.advance(99);
  expect(outcomes).toEqual([]);
  await clock.advance(1);
  expect(outcomes).toEqual(['REPLICA_BEHIND']);
});
