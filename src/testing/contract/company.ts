/** What the contract suite holds a binding to that has several things under way: each is done as if it were alone. */
import type { Binding } from '../../correctable/binding.ts';
import { failureOf } from './answers.ts';
import { hold, nameOf, sideBySide, tell, turn, type AnyClient, type Mark, type Trial } from './trial.ts';
import { nextMarks } from './histories.ts';

/** So many updates are made at once, each of an object of its own. */
const MANY = 20;
/** So many objects are read while they are updated, each from another turn of the event loop on. */
const ROUNDS = 4;
/** So many reads of an object are begun while it is updated. */
const READS = 8;

/** What was acknowledged was done, and once, however much there was to do. */
export async function doesManyAtOnce(trial: Trial): Promise<void> {
  await trial.withClient(async (client, binding) => {
    const marks = nextMarks(trial.subject, binding, MANY);
    await Promise.all(marks.map(({ update }) => trial.finalOf(client, update)));
    await sideBySide(marks, (mark) =>
      trial.shows(client, mark, `acknowledged as one of ${MANY} updates at once: the final view is wrong`),
    );
  });
}

/**
 * A read that begins after an update was acknowledged shows it: what an older read under way is about to be told is not
 * for it. Which of the older ones took its answer before the update, nobody knows: there are several.
 */
export async function readsWhatIsAcknowledged(trial: Trial): Promise<void> {
  await trial.withClient(async (client, binding) => {
    const marks = [...nextMarks(trial.subject, binding, ROUNDS).entries()];
    await sideBySide(marks, ([turns, mark]) => readsAround(trial, client, mark, turns));
  });
}

async function readsAround(trial: Trial, client: AnyClient, mark: Mark, turns: number): Promise<void> {
  const progress = { isDone: false };
  const reads: Promise<unknown>[] = [];
  const read = (): unknown => reads.push(failureOf(client.invoke(mark.read, { levels: [client.strongest] })));
  // One is under way before the update is.
  if (turns % 2 === 0) read();
  for (let n = 0; n < turns; n++) await turn();
  const update = trial.finalOf(client, mark.update).finally(() => (progress.isDone = true));
  update.catch(() => undefined);
  for (let n = 0; n < READS && !progress.isDone; n++) {
    await turn();
    if (!progress.isDone) read();
  }
  await update;
  await trial.shows(client, mark, 'begun after the update was acknowledged, with older reads under way: wrong');
  await Promise.all(reads);
}

/** Whoever leaves takes nothing of others along: no update of the object that was read, and none of other objects. */
export async function leavesOthersAlone(trial: Trial): Promise<void> {
  await trial.withClient(async (client, binding) => {
    // At once, and when it is on its way.
    for (const turns of [0, 1]) await leavesOthers(trial, client, binding, turns);
  });
}

async function leavesOthers(trial: Trial, client: AnyClient, binding: Binding, turns: number): Promise<void> {
  const [read, stays, goes] = nextMarks(trial.subject, binding, 3);
  if (read === undefined || stays === undefined || goes === undefined) return;
  const staying = [read, stays].map(({ update }) => failureOf(client.invoke(update)));
  const leaving = [client.invoke(read.read), client.invoke(goes.update)];
  for (let n = 0; n < turns; n++) await turn();
  for (const each of leaving) each.cancel('contract suite');
  await Promise.all(leaving.map(failureOf));
  const ends = await Promise.all(staying);
  const failed = ends.findIndex((error) => error !== undefined);
  const what = 'ends with others that were cancelled';
  hold(failed < 0, () => `${nameOf([read, stays][failed]!.update)}: ${what}: ${tell(ends[failed])}`, ends[failed]);
  const when = 'an update was acknowledged, while others were cancelled: the final view is wrong';
  for (const mark of [read, stays]) await trial.shows(client, mark, when);
}
