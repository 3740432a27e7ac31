/** What every binding promises (Correctables, OSDI 2016, §5.1): whoever writes one runs this suite on it. */
import {
  answersEachLevel,
  declaresLevels,
  endsUnanswered,
  failsTyped,
  hearsWeaker,
  ordersViews,
  refusesUnknown,
  speaksInOrder,
  tellsPreliminaries,
} from './contract/answers.ts';
import { doesManyAtOnce, leavesOthersAlone, readsWhatIsAcknowledged } from './contract/company.ts';
import { guessesWhatWas, labelsWhatIsReached, showsWhatWas } from './contract/values.ts';
import { keepsEqualSteps, keepsManyHistories, keepsOneHistory } from './contract/histories.ts';
import {
  closes,
  closesForClients,
  closesOneOfSeveral,
  closesUpdates,
  letsGoOfReads,
  releasesSignals,
  survivesCancel,
} from './contract/leaving.ts';
import { deniesTruly, staysAsSaid } from './contract/later.ts';
import {
  answersUpdates,
  answersWithoutWeak,
  executesOnce,
  keepsKeys,
  levelsChooseViewsOnly,
  readsWithoutWeak,
  runsCancelledUpdates,
  showsUpdates,
} from './contract/updates.ts';
import { keepsSessions } from './contract/sessions.ts';
import { Trial, type ContractSubject, type TestRunner } from './contract/trial.ts';
import { check } from '../correctable/errors.ts';
import { hasMethods } from '../correctable/given.ts';

export { ContractBreach } from './contract/trial.ts';
export type { ContractSubject, Expectation, HistoryStep, OpenBinding, TestRunner } from './contract/trial.ts';

/**
 * Registers the contract suite for one binding with a test runner. A test that fails throws a `ContractBreach`, whose
 * message says what is wrong with the binding; none waits longer than `patienceMs` for what does not come.
 *
 * @example
 * import { describe, expect, test } from 'vitest';
 * bindingContract(
 *   {
 *     name: 'memory',
 *     open: async () => ({ binding: memory() }),
 *     update: put('k', 1),
 *     read: get('k'),
 *     expected: 1,
 *   },
 *   { describe, test, expect },
 * );
 */
export function bindingContract(subject: ContractSubject, runner: TestRunner): void {
  checkArguments(subject, runner);
  const { describe, test } = runner;
  const trial = new Trial(subject, runner.expect);
  describe(`binding contract: ${subject.name}`, () => {
    test('levels: asked twice → one list of different names', () => declaresLevels(trial));
    test('read: all levels → ordered views, one final at the strongest', () => ordersViews(trial));
    test('read: one level requested → one final view at it or above', () => answersEachLevel(trial));
    test('read: all levels, again and again → a preliminary view, if there is such a level', () =>
      tellsPreliminaries(trial));
    test('read: weaker levels → what the object is, or was', () => showsWhatWas(trial));
    test('read: each level, just after an update → what is said to be strongest shows it', () =>
      labelsWhatIsReached(trial));
    test('update: all levels → the strongest read shows it', () => showsUpdates(trial));
    test('update: weakest level only → takes effect all the same', () => levelsChooseViewsOnly(trial));
    test('update: one level requested, many at once → one final view each, at it or above if there is such a level', () =>
      answersUpdates(trial));
    test('update: preliminary views → what it has given, or would have', () => guessesWhatWas(trial));
    test('update: many objects at once → each done once', () => doesManyAtOnce(trial));
    test('read: begun after an update, with older reads under way → shows it', () => readsWhatIsAcknowledged(trial));
    for (const [what, open] of Object.entries(subject.weakless ?? {})) {
      test(`read: weaker levels ${what} → does not fail with them`, () => readsWithoutWeak(trial, open));
      test(`update: weaker levels ${what} → the final answers, whatever was requested`, () =>
        answersWithoutWeak(trial, open));
    }
    const { answerless, failing, strongless } = subject;
    if (strongless !== undefined) {
      test('read: the strongest level fails at once → weaker views under way, then the failure', () =>
        hearsWeaker(trial, strongless));
    }
    if (answerless !== undefined) {
      test('read: the strongest level fails, weaker ones hang → ends all the same', () =>
        endsUnanswered(trial, answerless));
    }
    test('history: strongest level only → each update once, versions never go back', () =>
      keepsOneHistory(trial, true));
    test('history: all levels → the same finals, whatever the preliminary views were', () =>
      keepsOneHistory(trial, false));
    test('history: several objects at once → to each its own', () => keepsManyHistories(trial));
    test('history: equal steps of one object at once → the answers that they have in turn', () =>
      keepsEqualSteps(trial));
    test('update: cancelled under way → runs to its end', () => runsCancelledUpdates(trial));
    test('update: cancelled, weakest level only, closed → a while later as it was said', () => staysAsSaid(trial));
    test('update: cancelled at any time → not done later where that was said', () => deniesTruly(trial));
    test('cancel: a read and an update leave → others are done all the same', () => leavesOthersAlone(trial));
    test('update: submitted twice by one name → done once, if the binding says so', () => executesOnce(trial));
    test('update: submitted twice with one idempotency key → done once, if the binding has keys', () =>
      keepsKeys(trial));
    test('read: cancelled → closes, and the binding stays usable', () => survivesCancel(trial));
    test('read: aborted → let go, and others are not', () => letsGoOfReads(trial));
    test('signal: many operations under one → nobody listens after they have closed', () => releasesSignals(trial));
    test('sink: every call → a requested level or above, confirms only what was said', () => speaksInOrder(trial));
    test('session: read after write → every view shows the write', () => keepsSessions(trial));
    test('operation: unknown → UNSUPPORTED', () => refusesUnknown(trial));
    test('close: operations under way and later → closed, none hangs', () => closesForClients(trial));
    test('close: the binding itself → what is under way ends, nothing is told after', () => closes(trial));
    test('close: an update under way → done, UNKNOWN, or certainly not done', () => closesUpdates(trial));
    test('close: one client of several on a shared binding → the others go on', () => closesOneOfSeveral(trial));
    if (failing !== undefined) test('failure: the final fails → a typed error', () => failsTyped(trial, failing));
  });
}

function checkArguments(subject: unknown, runner: unknown): void {
  const call = "bindingContract({ name: 'memory', open, update, read, expected }, { describe, test, expect })";
  check(hasMethods(subject, 'open'), 'subject', `must be a binding under test: write ${call}`);
  check(
    hasMethods(runner, 'describe', 'test', 'expect'),
    'runner',
    `must have describe, test and expect: write ${call}`,
  );
}
