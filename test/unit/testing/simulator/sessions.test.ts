/** The checker of sessions: which waits of a site it takes for right. */
import { expect, test } from 'vitest';
import { Origins } from '../../../../src/server/service/records/origin.ts';
import { SessionChecker } from '../../../../src/testing/simulator/checkers/sessions.ts';
import { siteAt } from '../../../support/origins.ts';
import { replaceMethods } from '../../../support/replace-methods.ts';

const [HERE, CLOSED] = [siteAt(0), siteAt(1)];

const createOpen = (): Origins => Origins.create(['s0', 's1']);

/** The second site is closed, and three of its operations count. */
const OriginsWithEnd = replaceMethods(Origins, (original) => ({
  get: (origin) => {
    const known = original.get(origin);
    return origin === CLOSED ? { ...known, final: { sequence: 3, stamp: 3 } } : known;
  },
}));

function createClosed(): Origins {
  const origins = new OriginsWithEnd();
  origins.load(createOpen().save());
  return origins;
}

/** A client has seen five operations of the closed site. Here are three of them. */
function createChecker(): SessionChecker {
  const checker = new SessionChecker(createOpen());
  checker.onStarted(CLOSED, [0, 0, 5]);
  checker.onStarted(HERE, [0, 0, 3]);
  submit(checker, CLOSED, 'before');
  checker.onSessionView(CLOSED, 1);
  return checker;
}

function submit(checker: SessionChecker, site: typeof HERE, id: string): void {
  checker.onSubmitted({
    site,
    serial: 1,
    client: 1,
    id,
    sessionVector: [0, 0, 0],
    wants: [],
  } as never);
}

function reportBehind(checker: SessionChecker, id: string): void {
  checker.onSubmissionEvent({ site: HERE, operation: { id }, code: 'REPLICA_BEHIND' } as never);
}

test('a site that knows the end of a closed stream → must not wait for what was beyond it', () => {
  const checker = createChecker();
  checker.onMembers(HERE, createClosed());
  submit(checker, HERE, 'late');
  expect(() => reportBehind(checker, 'late')).toThrow('late waited at site 1');
});

test('a site that has not delivered that end yet → may wait, although another site knows it', () => {
  const checker = createChecker();
  checker.onMembers(HERE, createOpen());
  checker.onMembers(CLOSED, createClosed());
  submit(checker, HERE, 'late');
  expect(() => reportBehind(checker, 'late')).not.toThrow();
});
