/** What the contract suite holds the preliminary views of updates to, where it is told what updates give. */
import type { Operation } from '../../correctable/operation.ts';
import { hold, nameOf, show } from './breach.ts';
import { historiesOf, isSameOperation, nextObject } from './histories.ts';
import { sideBySide, type AnyClient, type Trial } from './trial.ts';
import type { HistoryStep } from './subject.ts';

/**
 * A guess is what the update would give to the object as it was at some time. As long as nothing else was done to it than
 * this one update, again and again, that is one of the answers that it has had. What an update gives is known where its
 * history says so.
 */
export async function guessesWhatWas(trial: Trial): Promise<void> {
  await trial.withClient(async (client, binding) => {
    await sideBySide(historiesOf(trial.subject, binding), async (history) => {
      await follow(trial, client, sameUpdates(history(nextObject())));
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

async function follow(trial: Trial, client: AnyClient, steps: readonly HistoryStep[]): Promise<void> {
  const known: unknown[] = [];
  for (const { operation, expected } of steps) {
    known.push(expected);
    await look(trial, client, { operation, known });
  }
}

/** Where the guess alone is asked for, it is all that the caller gets. */
async function alone(trial: Trial, client: AnyClient, [first]: readonly HistoryStep[]): Promise<void> {
  if (first === undefined) return;
  const { operation, expected } = first;
  await look(trial, client, { operation, known: [expected], levels: [client.weakest] });
}

interface Look {
  readonly operation: Operation;
  readonly known: readonly unknown[];
  readonly levels?: readonly [string];
}

async function look(trial: Trial, client: AnyClient, { operation, known, levels }: Look): Promise<void> {
  for (const { level, value } of await trial.viewsOf(client, operation, levels)) {
    const was = known.some((each) => trial.isSame(value, each));
    const asked = `${nameOf(operation)}, asked for ${(levels ?? client.levels).join(', ')}`;
    const those = (): string => known.map(show).join(', ');
    hold(was, () => `${asked}: the view at ${level} is ${show(value)}, which it has never given: ${those()}`);
  }
}
