/** What the contract suite holds the values of weaker views to: they may be old, and of nothing else. */
import type { Operation } from '../../correctable/operation.ts';
import { hold, nameOf, show, sideBySide, type AnyClient, type HistoryStep, type Mark, type Trial } from './trial.ts';
import { areOfOneObject, historiesOf, isSameOperation, nextMarks, nextObject, type History } from './histories.ts';

/** So many updates of an object are looked at: a store that shows something else does so at once. */
const UPDATES = 3;
/** So many of them are done before the second object is looked at, beside the rest: others than it will ever show then. */
const UPDATES_AHEAD = 2;

/** An object, before it was read for the first time. */
interface Unknown {
  readonly read: Operation;
  readonly updates: readonly Operation[];
  /** What it has been, as far as the strongest level has told. */
  readonly known: unknown[];
}

/**
 * Nobody else updates the object: whatever a read gives at any level, alone or with others, is what the strongest one has
 * given before or after one of the updates. A second object shows what is taken from the first.
 */
export async function showsWhatWas(trial: Trial): Promise<void> {
  await trial.withClient(async (client, binding) => {
    await sideBySide(historiesOf(trial.subject, binding), (history) => showsBoth(trial, client, history));
  });
}

async function showsBoth(trial: Trial, client: AnyClient, history: History): Promise<void> {
  const steps = [history(nextObject()), history(nextObject())];
  const [first, second] = steps.map((each) => unknownOf(each));
  if (!first || !second) return;
  if (areOfOneObject(steps)) {
    await follow(trial, client, first);
    await follow(trial, client, { ...second, known: first.known });
    return;
  }
  let goOn: () => void;
  const isAhead = new Promise<void>((resolve) => (goOn = resolve));
  await sideBySide([first, second], async (object) => {
    if (object === first) await follow(trial, client, first, () => goOn()).finally(() => goOn());
    else await isAhead.then(() => follow(trial, client, second));
  });
}

function unknownOf(steps: readonly HistoryStep[]): Unknown | undefined {
  const operations = steps.map(({ operation }) => operation);
  const read = operations.find(({ effect }) => effect === 'read');
  const updates = operations.filter(({ effect }) => effect === 'update').slice(0, UPDATES);
  return read && { read, updates, known: [] };
}

async function follow(
  trial: Trial,
  client: AnyClient,
  { read, updates, known }: Unknown,
  onAhead?: () => void,
): Promise<void> {
  known.push(await look(trial, client, read, known));
  for (const [at, update] of updates.entries()) {
    if (at === UPDATES_AHEAD) onAhead?.();
    await trial.finalOf(client, update);
    known.push(await look(trial, client, read, known));
  }
}

/** What the strongest read gives now; no weaker view gives anything but this, or what is known from before. */
async function look(trial: Trial, client: AnyClient, read: Operation, before: readonly unknown[]): Promise<unknown> {
  const { value: newest } = await trial.finalOf(client, read, [client.strongest]);
  const known = [...before, newest];
  const alone = client.levels.slice(0, -1).map((level): [string] => [level]);
  for (const levels of [client.levels, ...alone]) {
    for (const { level, value } of await trial.viewsOf(client, read, levels)) {
      const was = known.some((each) => trial.isSame(value, each));
      const asked = `${nameOf(read)}, asked for ${levels.join(', ')}`;
      const those = (): string => known.map(show).join(', ');
      hold(was, () => `${asked}: the view at ${level} is ${show(value)}, which this has never been: ${those()}`);
    }
  }
  return newest;
}

/** So many objects are looked at just after they were updated: weaker copies may have the news already, now and then. */
const OBJECTS = 4;

/** Whatever was asked for: what says that it is of the strongest level shows what was acknowledged before. */
export async function labelsWhatIsReached(trial: Trial): Promise<void> {
  await trial.withClient(async (client, binding) => {
    for (const mark of nextMarks(trial.subject, binding, OBJECTS)) await looksAtOnce(trial, client, mark);
  });
}

async function looksAtOnce(trial: Trial, client: AnyClient, { update, read, expected }: Mark): Promise<void> {
  await trial.finalOf(client, update);
  const requests = [...client.levels.map((level): [string] => [level]), client.levels];
  await sideBySide(requests, async (levels) => {
    for (const { level, value } of await trial.viewsOf(client, read, levels)) {
      if (level !== client.strongest) continue;
      const asked = `${nameOf(read)}, asked for ${levels.join(', ')}, after ${nameOf(update)}`;
      hold(
        trial.isSame(value, expected),
        () => `${asked}: a view said to be at ${level} is ${show(value)}, not ${show(expected)}`,
      );
    }
  });
}

/**
 * A guess is what the update would give to the object as it was at some time. As long as nothing else was done to it than
 * this one update, again and again, that is one of the answers that it has had. What an update gives is known where its
 * history says so.
 */
export async function guessesWhatWas(trial: Trial): Promise<void> {
  await trial.withClient(async (client, binding) => {
    await sideBySide(historiesOf(trial.subject, binding), async (history) => {
      await followUpdates(trial, client, sameUpdates(history(nextObject())));
      await alone(trial, client, sameUpdates(history(nextObject())));
    });
  });
}

/** The steps until another update comes, or one of which nothing is known. */
function sameUpdates(steps: readonly HistoryStep[]): HistoryStep[] {
  const updates = steps.filter(({ operation }) => operation.effect === 'update');
  const end = updates.findIndex(
    (step) => !('expected' in step) || !isSameOperation(step.operation, updates[0]!.operation),
  );
  return end < 0 ? updates : updates.slice(0, end);
}

async function followUpdates(trial: Trial, client: AnyClient, steps: readonly HistoryStep[]): Promise<void> {
  const known: unknown[] = [];
  for (const { operation, expected } of steps) {
    known.push(expected);
    await lookAtUpdate(trial, client, { operation, known });
  }
}

/** Where the guess alone is asked for, it is all that the caller gets. */
async function alone(trial: Trial, client: AnyClient, [first]: readonly HistoryStep[]): Promise<void> {
  if (first === undefined) return;
  const { operation, expected } = first;
  await lookAtUpdate(trial, client, { operation, known: [expected], levels: [client.weakest] });
}

interface Look {
  readonly operation: Operation;
  readonly known: readonly unknown[];
  readonly levels?: readonly [string];
}

async function lookAtUpdate(trial: Trial, client: AnyClient, { operation, known, levels }: Look): Promise<void> {
  for (const { level, value } of await trial.viewsOf(client, operation, levels)) {
    const was = known.some((each) => trial.isSame(value, each));
    const asked = `${nameOf(operation)}, asked for ${(levels ?? client.levels).join(', ')}`;
    const those = (): string => known.map(show).join(', ');
    hold(was, () => `${asked}: the view at ${level} is ${show(value)}, which it has never given: ${those()}`);
  }
}
