/** What the contract suite holds the updates of a binding to: done once, whatever was requested and whoever leaves. */
import { isCorrectableError } from '../../correctable/errors.ts';
import { failureOf } from './answers.ts';
import { hold, nameOf, tell } from './breach.ts';
import { Listener } from './listener.ts';
import type { Trial } from './trial.ts';
import type { OpenBinding } from './subject.ts';

/** So many updates are made at once: with one, a guess is hardly ever overtaken. */
const MANY = 20;
/** A read whose weaker levels keep it waiting for longer is not waited for: nobody says that it must not. */
const HANGS_MS = 1_000;

export async function showsUpdates(trial: Trial): Promise<void> {
  const { update, read, expected } = trial.subject;
  await trial.withClient(async (client) => {
    await trial.finalOf(client, update);
    const { value } = await trial.finalOf(client, read, [client.strongest]);
    trial.same(
      value,
      expected,
      `${nameOf(read)} at ${client.strongest}, after ${nameOf(update)}: the final view is wrong`,
    );
  });
}

export async function levelsChooseViewsOnly(trial: Trial): Promise<void> {
  await trial.withClient(async (client) => {
    const { update } = trial.subject;
    await trial.finalOf(client, update, [client.weakest]);
    await trial.untilShown(client, `an update that was asked for ${client.weakest} alone`);
  });
}

export async function answersUpdates(trial: Trial): Promise<void> {
  const { update } = trial.subject;
  await trial.withClient(async (client) => {
    // An update may have no stronger level than this: then its answer says so, whatever is asked for.
    const strongest = await trial.finalOf(client, update, [client.strongest]);
    const reached = client.levels.indexOf(strongest.level);
    for (const [rank, level] of client.levels.entries()) {
      const updates = Array.from({ length: MANY }, () => trial.viewsOf(client, update, [level]));
      const asked = `${nameOf(update)}, asked for ${level}`;
      for (const views of await Promise.all(updates)) {
        hold(views.length === 1, () => `${asked}: ${views.length} views, not one`);
        const told = views[0]!.level;
        const isStrongEnough = client.levels.indexOf(told) >= Math.min(rank, reached);
        hold(isStrongEnough, () => `${asked}: answered at ${told}, which is weaker`);
      }
    }
  });
}

/** Where an update was made, its caller is told: that a guess could not be had is no reason to be silent, or to fail. */
export async function answersWithoutWeak(trial: Trial, open: () => Promise<OpenBinding>): Promise<void> {
  const { update } = trial.subject;
  await trial.withClient(async (client) => {
    for (const level of [...client.levels.slice(0, -1), undefined]) {
      const views = await trial.viewsOf(client, update, level === undefined ? undefined : [level]);
      const told = views.map((view) => view.level);
      trial.same(
        told,
        [client.strongest],
        `${nameOf(update)}, asked for ${level ?? 'all levels'}: the levels of its views`,
      );
    }
  }, open);
}

/** A weaker level that fails fails itself, not the read (C6). One that hangs may keep those waiting that are asked after it. */
export async function readsWithoutWeak(trial: Trial, open: () => Promise<OpenBinding>): Promise<void> {
  const { update, read, expected } = trial.subject;
  await trial.withBinding(async (binding) => {
    const client = trial.clientOf(binding);
    await trial.finalOf(client, update);
    const leaving = new AbortController();
    const reading = Listener.submit(binding, read, undefined, { signal: leaving.signal });
    let timer: ReturnType<typeof setTimeout> | undefined;
    const hangs = new Promise<void>((resolve) => (timer = setTimeout(resolve, HANGS_MS)));
    await Promise.race([reading.closed, hangs]);
    clearTimeout(timer);
    const { error, final } = reading;
    leaving.abort(new Error('contract suite'));
    hold(error === undefined, () => `${nameOf(read)}: fails with its weaker levels: ${tell(error)}`, error);
    if (final === undefined) return;
    trial.same(final.value, expected, `${nameOf(read)}, without weaker levels: the final view is wrong`);
    hold(final.level === client.strongest, () => `${nameOf(read)}, without weaker levels: final at ${final.level}`);
  }, open);
}

export async function runsCancelledUpdates(trial: Trial): Promise<void> {
  const { update, read } = trial.subject;
  await trial.withClient(async (client) => {
    // Once the store has answered, what is submitted is on its way: before that it may not have left.
    await trial.finalOf(client, read, [client.strongest]);
    const leaving = client.invoke(update);
    // A binding may answer at once: then there is nothing under way that could be left.
    const isDone = leaving.state === 'final';
    leaving.cancel('contract suite');
    const error = await failureOf(leaving);
    const isTold = isDone || isCorrectableError(error, 'UNKNOWN');
    hold(isTold, () => `an update that was cancelled: not UNKNOWN, but ${tell(error)}`);
    await trial.untilShown(client, 'an update that was cancelled under way');
  });
}
