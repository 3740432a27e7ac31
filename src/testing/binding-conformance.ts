/**
 * The rules of every binding (Correctables, OSDI 2016, §5.1). The author of a binding runs this
 * suite.
 */
import {
  deliversEachLevel,
  declaresLevels,
  failsWithoutReply,
  failsWithTypedError,
  deliversWeakerLevels,
  ordersViews,
  rejectsUnknownOperations,
  deliversInOrder,
  deliversPreliminaries,
} from './conformance/levels.ts';
import {
  executesConcurrentWrites,
  isolatesCancellation,
  readsAcknowledgedWrites,
} from './conformance/concurrency.ts';
import {
  guessesPastValues,
  reportsReachedLevels,
  showsPastValues,
} from './conformance/view-values.ts';
import {
  followsEqualSteps,
  followsManyHistories,
  followsOneHistory,
} from './conformance/histories.ts';
import {
  endsOperationsOnClose,
  closesForClients,
  closesOneOfSeveral,
  closesUpdates,
  abandonsReads,
  releasesSignals,
  survivesCancellation,
} from './conformance/cancellation.ts';
import { reportsAbortsTruthfully, keepsReportedOutcomes } from './conformance/delayed-effects.ts';
import {
  completesWrites,
  completesWithoutWeakLevels,
  checkExactlyOnce,
  keepsIdempotencyKeys,
  levelsChooseViewsOnly,
  readsWithoutWeakLevels,
  executesCanceledWrites,
  showsWrites,
} from './conformance/writes.ts';
import { keepsSessionGuarantees, skipsStaleViews } from './conformance/sessions.ts';
import {
  certifiesPuts,
  certifiesVersions,
  commitsOneOfSeveral,
  givesNewVersions,
  losesNoUpdate,
  omitsKnownValues,
  readsOneState,
  showsRefusals,
} from './conformance/transactions.ts';
import {
  TestContext,
  type ConformanceSubject,
  type TestRunner,
} from './conformance/test-context.ts';
import { check } from '../correctable/errors.ts';
import { hasMethods } from '../correctable/validate.ts';

export { ConformanceError } from './conformance/test-context.ts';
export type {
  ConformanceSubject,
  Expectation,
  HistoryStep,
  OpenedBinding,
  PausedBinding,
  TestRunner,
} from './conformance/test-context.ts';

/**
 * Registers the conformance suite for one binding with a test runner. A failing test throws a
 * `ConformanceError`, whose message describes the fault of the binding. No test waits longer than
 * `timeoutMs` for a missing event.
 *
 * @example
 * import { describe, expect, test } from 'vitest';
 * testBindingConformance(
 *   {
 *     name: 'memory',
 *     createBinding: async () => ({ binding: memory() }),
 *     write: put('k', 1),
 *     read: get('k'),
 *     expected: 1,
 *   },
 *   { describe, test, expect },
 * );
 */
export function testBindingConformance(subject: ConformanceSubject, runner: TestRunner): void {
  checkArguments(subject, runner);
  const { describe, test } = runner;
  const context = new TestContext(subject, runner.expect);
  describe(`binding conformance: ${subject.name}`, () => {
    testViews(context, test);
    testFailures(context, test);
    testHistories(context, test);
    testCancellation(context, test);
    testSessions(context, test);
    testTransactions(context, test);
    testEnds(context, test);
  });
}

/** Tests what each level shows of reads and writes. */
function testViews(context: TestContext, test: TestRunner['test']): void {
  test('levels: asked twice → one list of different names', () => declaresLevels(context));
  test('read: all levels → ordered views, one final at the strongest', () => ordersViews(context));
  test('read: one level requested → one final view at it or above', () =>
    deliversEachLevel(context));
  test('read: all levels, again and again → a preliminary view, if there is such a level', () =>
    deliversPreliminaries(context));
  test('read: weaker levels → what the object is, or was', () => showsPastValues(context));
  test('read: each level, just after a write → the strongest level shows it', () =>
    reportsReachedLevels(context));
  test('write: all levels → the strongest read shows it', () => showsWrites(context));
  test('write: weakest level only → takes effect all the same', () =>
    levelsChooseViewsOnly(context));
  test('write: one level requested, many at once → one final view each, at it or above if there is such a level', () =>
    completesWrites(context));
  test('write: preliminary views → what it has given, or would have', () =>
    guessesPastValues(context));
  test('write: many objects at once → each done once', () => executesConcurrentWrites(context));
  test('read: begun after a write, with older reads in flight → shows it', () =>
    readsAcknowledgedWrites(context));
}

/** Tests what follows if some levels fail. */
function testFailures(context: TestContext, test: TestRunner['test']): void {
  const { subject } = context;
  for (const [description, open] of Object.entries(subject.weakLevelFails ?? {})) {
    test(`read: weaker levels ${description} → does not fail with them`, () =>
      readsWithoutWeakLevels(context, open));
    test(`write: weaker levels ${description} → the final answers, for any requested levels`, () =>
      completesWithoutWeakLevels(context, open));
  }
  const { neverResponds, strongLevelFails } = subject;
  if (strongLevelFails !== undefined) {
    test('read: the strongest level fails at once → weaker views in flight, then the failure', () =>
      deliversWeakerLevels(context, strongLevelFails));
  }
  if (neverResponds !== undefined) {
    test('read: the strongest level fails, weaker ones hang → ends all the same', () =>
      failsWithoutReply(context, neverResponds));
  }
}

/** Tests that an object has one history. */
function testHistories(context: TestContext, test: TestRunner['test']): void {
  test('history: strongest level only → each write once, versions never go back', () =>
    followsOneHistory(context, true));
  test('history: all levels → the same finals with any preliminary views', () =>
    followsOneHistory(context, false));
  test('history: several objects at once → to each its own', () => followsManyHistories(context));
  test('history: equal steps of one object at once → the answers that they have in turn', () =>
    followsEqualSteps(context));
}

/** Tests what is left of an operation whose caller leaves. */
function testCancellation(context: TestContext, test: TestRunner['test']): void {
  test('write: cancelled in flight → runs to its end', () => executesCanceledWrites(context));
  test('write: cancelled, weakest level only, closed → a while later as it was reported', () =>
    keepsReportedOutcomes(context));
  test('write: cancelled at any time → not done later if it was reported as not done', () =>
    reportsAbortsTruthfully(context));
  test('cancel: a read and a write leave → others are done all the same', () =>
    isolatesCancellation(context));
  test('write: submitted twice under one name → done once, if the binding declares so', () =>
    checkExactlyOnce(context));
  test('write: submitted twice with one idempotency key → done once, if the binding has keys', () =>
    keepsIdempotencyKeys(context));
  test('read: cancelled → closes, and the binding stays usable', () =>
    survivesCancellation(context));
  test('read: aborted → let go, and others are not', () => abandonsReads(context));
  test('signal: many operations under one → no listener is left after they have closed', () =>
    releasesSignals(context));
  test('sink: every call → a requested level or above, confirms only what was delivered', () =>
    deliversInOrder(context));
}

/** Tests the guarantees of sessions. */
function testSessions(context: TestContext, test: TestRunner['test']): void {
  const { subject } = context;
  test('session: read after write → every view shows the write', () =>
    keepsSessionGuarantees(context));
  const { pausedWeakLevel } = subject;
  if (pausedWeakLevel !== undefined) {
    test('session: weaker levels are behind → no view of theirs, until they have caught up', () =>
      skipsStaleViews(context, pausedWeakLevel));
  }
}

/** Tests transactions, if the binding has them. */
function testTransactions(context: TestContext, test: TestRunner['test']): void {
  test('transaction: versions out of date → refused with the keys, nothing written', () =>
    certifiesVersions(context));
  test('transaction: each write of a key → a version that it never had', () =>
    givesNewVersions(context));
  test('transaction: versions that the caller knows → values left out', () =>
    omitsKnownValues(context));
  test('transaction: several commits of one version at once → one is committed', () =>
    commitsOneOfSeveral(context));
  test('transaction: keys written together → never read apart', () => readsOneState(context));
  test('transaction: concurrent additions → none is lost', () => losesNoUpdate(context));
  test('transaction: put and get beside it → each sees what the other has written', () =>
    certifiesPuts(context));
  test('transaction: refused in a session → its next read shows why', () => showsRefusals(context));
}

/** Tests unknown operations, and the close of a client. */
function testEnds(context: TestContext, test: TestRunner['test']): void {
  test('operation: unknown → UNSUPPORTED', () => rejectsUnknownOperations(context));
  test('close: operations in flight and later → closed, none hangs', () =>
    closesForClients(context));
  test('close: the binding itself → what is in flight ends, nothing is delivered after', () =>
    endsOperationsOnClose(context));
  test('close: a write in flight → done, UNKNOWN, or certainly not done', () =>
    closesUpdates(context));
  test('close: one client of several on a shared binding → the others go on', () =>
    closesOneOfSeveral(context));
  const { failingOperation } = context.subject;
  if (failingOperation !== undefined)
    test('failure: the final fails → a typed error', () =>
      failsWithTypedError(context, failingOperation));
}

function checkArguments(subject: unknown, runner: unknown): void {
  const call =
    "testBindingConformance({ name: 'memory', createBinding, write, read, expected }, { describe, test, expect })";
  check(
    hasMethods(subject, 'createBinding'),
    'subject',
    `must be a binding under test: write ${call}`,
  );
  check(
    hasMethods(runner, 'describe', 'test', 'expect'),
    'runner',
    `must have describe, test and expect: write ${call}`,
  );
}
