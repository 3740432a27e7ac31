/** What every binding promises (Correctables, OSDI 2016, §5.1): whoever writes one runs this suite on it. */
import { answersEachLevel, declaresLevels, endsUnanswered, failsTyped, hearsWeaker } from './contract/answers.ts';
import { ordersViews, refusesUnknown, speaksInOrder, tellsPreliminaries } from './contract/answers.ts';
import { doesManyAtOnce, leavesOthersAlone, readsWhatIsAcknowledged } from './contract/company.ts';
import { guessesWhatWas } from './contract/guesses.ts';
import { keepsEqualSteps, keepsManyHistories, keepsOneHistory } from './contract/histories.ts';
import { labelsWhatIsReached } from './contract/labels.ts';
import { closes, closesForClients, closesOneOfSeveral, closesUpdates } from './contract/leaving.ts';
import { letsGoOfReads, releasesSignals, survivesCancel } from './contract/leaving.ts';
import { deniesTruly, staysAsSaid } from './contract/later.ts';
import { executesOnce } from './contract/once.ts';
import { keepsSessions } from './contract/sessions.ts';
import { Stage } from './contract/stage.ts';
import type { ContractSubject, TestRunner } from './contract/subject.ts';
import { answersUpdates, answersWithoutWeak, levelsChooseViewsOnly } from './contract/updates.ts';
import { readsWithoutWeak, runsCancelledUpdates, showsUpdates } from './contract/updates.ts';
import { showsWhatWas } from './contract/values.ts';
import { check } from '../correctable/errors.ts';
import { hasMethods } from '../correctable/given.ts';

export { ContractBreach } from './contract/breach.ts';
export type { ContractSubject, Expectation, HistoryStep, OpenBinding, TestRunner } from './contract/subject.ts';

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
  const stage = new Stage(subject, runner.expect);
  describe(`binding contract: ${subject.name}`, () => {
    test('levels: asked twice → one list of different names', () => declaresLevels(stage));
    test('read: all levels → ordered views, one final at the strongest', () => ordersViews(stage));
    test('read: one level requested → one final view at it or above', () => answersEachLevel(stage));
    test('read: all levels, again and again → a preliminary view, if there is such a level', () =>
      tellsPreliminaries(stage));
    test('read: weaker levels → what the object is, or was', () => showsWhatWas(stage));
    test('read: each level, just after an update → what is said to be strongest shows it', () =>
      labelsWhatIsReached(stage));
    test('update: all levels → the strongest read shows it', () => showsUpdates(stage));
    test('update: weakest level only → takes effect all the same', () => levelsChooseViewsOnly(stage));
    test('update: one level requested, many at once → one final view each, at it or above if there is such a level', () =>
      answersUpdates(stage));
    test('update: preliminary views → what it has given, or would have', () => guessesWhatWas(stage));
    test('update: many objects at once → each done once', () => doesManyAtOnce(stage));
    test('read: begun after an update, with older reads under way → shows it', () => readsWhatIsAcknowledged(stage));
    for (const [what, open] of Object.entries(subject.weakless ?? {})) {
      test(`read: weaker levels ${what} → does not fail with them`, () => readsWithoutWeak(stage, open));
      test(`update: weaker levels ${what} → the final answers, whatever was requested`, () =>
        answersWithoutWeak(stage, open));
    }
    const { answerless, failing, strongless } = subject;
    if (strongless !== undefined) {
      test('read: the strongest level fails at once → weaker views under way, then the failure', () =>
        hearsWeaker(stage, strongless));
    }
    if (answerless !== undefined) {
      test('read: the strongest level fails, weaker ones hang → ends all the same', () =>
        endsUnanswered(stage, answerless));
    }
    test('history: strongest level only → each update once, versions never go back', () =>
      keepsOneHistory(stage, true));
    test('history: all levels → the same finals, whatever the preliminary views were', () =>
      keepsOneHistory(stage, false));
    test('history: several objects at once → to each its own', () => keepsManyHistories(stage));
    test('history: equal steps of one object at once → the answers that they have in turn', () =>
      keepsEqualSteps(stage));
    test('update: cancelled under way → runs to its end', () => runsCancelledUpdates(stage));
    test('update: cancelled, weakest level only, closed → a while later as it was said', () => staysAsSaid(stage));
    test('update: cancelled at any time → not done later where that was said', () => deniesTruly(stage));
    test('cancel: a read and an update leave → others are done all the same', () => leavesOthersAlone(stage));
    test('update: submitted twice by one name → done once, if the binding says so', () => executesOnce(stage));
    test('read: cancelled → closes, and the binding stays usable', () => survivesCancel(stage));
    test('read: aborted → let go, and others are not', () => letsGoOfReads(stage));
    test('signal: many operations under one → nobody listens after they have closed', () => releasesSignals(stage));
    test('sink: every call → a requested level or above, confirms only what was said', () => speaksInOrder(stage));
    test('session: read after write → every view shows the write', () => keepsSessions(stage));
    test('operation: unknown → UNSUPPORTED', () => refusesUnknown(stage));
    test('close: operations under way and later → closed, none hangs', () => closesForClients(stage));
    test('close: the binding itself → what is under way ends, nothing is told after', () => closes(stage));
    test('close: an update under way → done, UNKNOWN, or certainly not done', () => closesUpdates(stage));
    test('close: one client of several on a shared binding → the others go on', () => closesOneOfSeveral(stage));
    if (failing !== undefined) test('failure: the final fails → a typed error', () => failsTyped(stage, failing));
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
