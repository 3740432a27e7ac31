/** What the contract suite holds updates to that nobody waits for any more: a while later all is as it was said. */
import { isCorrectableError } from '../../correctable/errors.ts';
import { failureOf } from './answers.ts';
import { hold, nameOf, show, tell, turn, type AnyClient, type Mark, type Trial } from './trial.ts';
import { nextMark, nextMarks } from './histories.ts';

/** What is done again, or late, by a queue or a timer is done within this time; there is no event to wait for. */
const LATER_MS = 250;
/** So many updates are cancelled, each one turn of the event loop later than the one before it. */
const CANCELS = 8;

/** All that has to be waited for, at the same time: each is done to an object of its own. */
export async function staysAsSaid(trial: Trial): Promise<void> {
  const { subject } = trial;
  await trial.withBinding(async (binding, { another }) => {
    const client = trial.clientOf(binding);
    const cancelled = 'an update that was cancelled under way';
    await trial.finalOf(client, subject.read, [client.strongest]);
    const leaving = client.invoke(subject.update);
    leaving.cancel('contract suite');
    await failureOf(leaving);
    await trial.untilShown(client, cancelled);
    const weak = nextMark(subject, binding);
    const single = `an update that was asked for ${client.weakest} alone`;
    if (weak !== undefined) {
      await trial.finalOf(client, weak.update, [client.weakest]);
      await trial.untilShown(client, single, weak);
    }
    const closed = nextMark(subject, binding);
    const other = binding.share === undefined ? await another?.() : binding;
    const told = closed && other && (await toldAtClose(trial, trial.clientOf(other), closed));
    await new Promise((resolve) => setTimeout(resolve, LATER_MS));
    await stillOnce(trial, client, cancelled, subject);
    if (weak !== undefined) await stillOnce(trial, client, single, weak);
    if (told === undefined) return;
    const { value } = await trial.finalOf(client, closed!.read, [client.strongest]);
    const isDone = trial.isSame(value, closed!.expected);
    const name = nameOf(closed!.update);
    hold(
      !isDone,
      () => `${name}, under way at close(): told that it was not done (${told}), but done within ${LATER_MS} ms`,
    );
  });
}

/** What says that it was not done; `undefined` where it may have been. */
async function toldAtClose(trial: Trial, client: AnyClient, { update }: Mark): Promise<string | undefined> {
  const failure = failureOf(client.invoke(update));
  await trial.within(client.close(), 'close() does not come to an end');
  const error = await failure;
  return error === undefined || isCorrectableError(error, 'UNKNOWN') ? undefined : tell(error);
}

async function stillOnce(trial: Trial, client: AnyClient, what: string, { read, expected }: Mark): Promise<void> {
  const { value } = await trial.finalOf(client, read, [client.strongest]);
  const isOnce = trial.isSame(value, expected);
  hold(
    isOnce,
    () =>
      `${what} takes effect once: ${LATER_MS} ms after it has, the strongest read gives ${show(value)}, ` +
      `not ${show(expected)}`,
  );
}

/**
 * Cancelled at several times, of which one or another falls between its leaving and its answer: what is told not to have
 * been done is not done later either.
 */
export async function deniesTruly(trial: Trial): Promise<void> {
  await trial.withClient(async (client, binding) => {
    const marks = [...nextMarks(trial.subject, binding, CANCELS).entries()];
    await trial.finalOf(client, trial.subject.read, [client.strongest]);
    const denied = await Promise.all(
      marks.map(async ([turns, mark]) => {
        const leaving = client.invoke(mark.update);
        const failure = failureOf(leaving);
        for (let n = 0; n < turns; n++) await turn();
        leaving.cancel('contract suite');
        const error = await failure;
        return error === undefined || isCorrectableError(error, 'UNKNOWN') ? [] : [{ ...mark, told: tell(error) }];
      }),
    );
    if (denied.flat().length === 0) return;
    await new Promise((resolve) => setTimeout(resolve, LATER_MS));
    for (const { update, read, expected, told } of denied.flat()) {
      const { value } = await trial.finalOf(client, read, [client.strongest]);
      const isDone = trial.isSame(value, expected);
      hold(!isDone, () => `${nameOf(update)}, cancelled: told that it was not done (${told}), and it was done`);
    }
  });
}
