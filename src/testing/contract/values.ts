/** What the contract suite holds the values of weaker views to: they may be old, and of nothing else. */
import type { Operation } from '../../correctable/operation.ts';
import { hold, nameOf, show } from './breach.ts';
import { areOfOneObject, historiesOf, nextObject, type History } from './histories.ts';
import { sideBySide, type AnyClient, type Trial } from './trial.ts';
import type { HistoryStep } from './subject.ts';

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
