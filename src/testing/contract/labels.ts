/** What the contract suite holds the label of a view to: `level` is what was achieved, never a wish. */
import { hold, nameOf, show } from './breach.ts';
import { nextMarks } from './histories.ts';
import { sideBySide, type AnyClient, type Mark, type Trial } from './trial.ts';

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
