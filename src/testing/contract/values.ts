/** What the contract suite holds the values of weaker views to: they may be old, and of nothing else. */
import type { Operation } from '../../correctable/operation.ts';
import { hold, nameOf, show } from './breach.ts';
import { historiesOf, nextObject } from './histories.ts';
import type { AnyClient, Stage } from './stage.ts';

/** So many updates of an object are looked at: a store that shows something else does so at once. */
const UPDATES = 3;

/**
 * Nobody else updates the object: whatever a read gives at any level, alone or with others, is what the strongest one has
 * given before or after one of the updates. A second object shows what is taken from the first.
 */
export async function showsWhatWas(stage: Stage): Promise<void> {
  await stage.withClient(async (client, binding) => {
    for (const history of historiesOf(stage.subject, binding)) {
      for (const object of [nextObject(), nextObject()]) {
        const operations = history(object).map(({ operation }) => operation);
        const read = operations.find(({ effect }) => effect === 'read');
        if (read === undefined) continue;
        const known = [await look(stage, client, read, [])];
        for (const update of operations.filter(({ effect }) => effect === 'update').slice(0, UPDATES)) {
          await stage.finalOf(client, update);
          known.push(await look(stage, client, read, known));
        }
      }
    }
  });
}

/** What the strongest read gives now; no weaker view gives anything but this, or what is known from before. */
async function look(stage: Stage, client: AnyClient, read: Operation, before: readonly unknown[]): Promise<unknown> {
  const { value: newest } = await stage.finalOf(client, read, [client.strongest]);
  const known = [...before, newest];
  const alone = client.levels.slice(0, -1).map((level): [string] => [level]);
  for (const levels of [client.levels, ...alone]) {
    for (const { level, value } of await stage.viewsOf(client, read, levels)) {
      const was = known.some((each) => stage.isSame(value, each));
      const asked = `${nameOf(read)}, asked for ${levels.join(', ')}`;
      const those = (): string => known.map(show).join(', ');
      hold(was, () => `${asked}: the view at ${level} is ${show(value)}, which this has never been: ${those()}`);
    }
  }
  return newest;
}
