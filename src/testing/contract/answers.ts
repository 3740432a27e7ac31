/** What the contract suite holds the views of a binding to: which levels, in which order, and how they end. */
import type { Binding } from '../../correctable/binding.ts';
import type { Operation } from '../../correctable/operation.ts';
import { isCorrectableError } from '../../correctable/errors.ts';
import { hold, nameOf, tell, type OpenBinding, type Trial } from './trial.ts';
import { Listener } from './listener.ts';

/** So often a read is tried: a final view may overtake a preliminary one now and then. */
const READS = 20;

const UNKNOWN_OPERATION: Operation = { name: 'contract-suite:no-such-operation', args: {}, effect: 'read' };

export async function declaresLevels(trial: Trial): Promise<void> {
  await trial.withBinding(async (binding) => {
    const levels = binding.consistencyLevels();
    hold(levels.length > 0, 'consistencyLevels() is empty');
    hold(new Set(levels).size === levels.length, () => `consistencyLevels() names a level twice: ${levels.join(', ')}`);
    trial.same([...binding.consistencyLevels()], [...levels], 'consistencyLevels() changes');
  });
}

export async function ordersViews(trial: Trial): Promise<void> {
  const { update, read, expected } = trial.subject;
  await trial.withClient(async (client) => {
    await trial.finalOf(client, update);
    const views = await trial.viewsOf(client, read);
    const told = views.map(({ level }) => level).join(', ');
    const ranks = views.map(({ level }) => client.levels.indexOf(level));
    const inOrder = [...new Set(ranks)].sort((a, b) => a - b);
    trial.same(ranks, inOrder, `${nameOf(read)}: the levels of its views are not in order (${told})`);
    const final = views.at(-1)!;
    hold(final.level === client.strongest, () => `${nameOf(read)}: the final view is at ${final.level}, asked for all`);
    trial.same(final.value, expected, `${nameOf(read)}, asked for all levels: the final view is wrong`);
    const { drops } = client;
    const lost = (['unknown-level', 'not-requested', 'closed'] as const).filter((reason) => drops[reason] > 0);
    hold(lost.length === 0, () => `${nameOf(read)}: views that nobody can be shown (${lost.join(', ')})`);
  });
}

export async function answersEachLevel(trial: Trial): Promise<void> {
  const { update, read } = trial.subject;
  await trial.withClient(async (client) => {
    await trial.finalOf(client, update);
    for (const [rank, level] of client.levels.entries()) {
      const views = await trial.viewsOf(client, read, [level]);
      hold(views.length === 1, () => `${nameOf(read)}, asked for ${level}: ${views.length} views, not one`);
      const reached = views[0]!.level;
      hold(
        client.levels.indexOf(reached) >= rank,
        () => `${nameOf(read)}, asked for ${level}: answered at ${reached}, which is weaker`,
      );
    }
  });
}

/** What the binding says is heard for as long as the next operations take: a view that comes too late comes by then. */
export async function speaksInOrder(trial: Trial): Promise<void> {
  const { update, read } = trial.subject;
  await trial.withBinding(async (binding) => {
    const levels = binding.consistencyLevels();
    const requests = [levels, ...levels.map((level) => [level]), levels.slice(0, -1), levels.slice(1)];
    const listeners: Listener[] = [];
    for (const operation of [update, read]) {
      for (const requested of requests.filter(({ length }) => length > 0)) {
        const listener = Listener.submit(binding, operation, requested);
        listeners.push(listener);
        await trial.ends(listener, `, asked for ${requested.join(', ')}`);
      }
    }
    for (let n = 0; n < READS; n++) listeners.push(await readOnce(trial, binding));
    for (const listener of listeners) listener.judge();
  });
}

/** A level that never says anything is no level: whoever asks for it waits for the final one. */
export async function tellsPreliminaries(trial: Trial): Promise<void> {
  const { update, read } = trial.subject;
  await trial.withBinding(async (binding) => {
    const levels = binding.consistencyLevels();
    if (levels.length === 1) return;
    await trial.ends(Listener.submit(binding, update));
    for (let n = 0; n < READS; n++) {
      const { views } = await readOnce(trial, binding);
      if (views.some(({ isFinal }) => !isFinal)) return;
    }
    hold(false, `${nameOf(read)}, asked for ${levels.join(', ')}: never a preliminary view, ${READS} times in a row`);
  });
}

async function readOnce(trial: Trial, binding: Binding): Promise<Listener> {
  const { read } = trial.subject;
  const listener = Listener.submit(binding, read);
  await trial.ends(listener, ', asked for all levels');
  return listener;
}

/** After the failure nobody hears of a weaker view, and where nothing stronger can be had it is all there is. */
export async function hearsWeaker(trial: Trial, open: () => Promise<OpenBinding>): Promise<void> {
  const { read } = trial.subject;
  await trial.withClient(async (client) => {
    const error = await failureOf(client.invoke(read));
    hold(isCorrectableError(error), () => `${nameOf(read)}, whose strongest level is to fail: ${tell(error)}`);
    hold(
      error.lastView !== undefined,
      `${nameOf(read)}: fails before the view of a weaker level that was under way`,
      error,
    );
  }, open);
}

/** That a weaker level may have a view one day is no reason to be silent of a final that has failed. */
export async function endsUnanswered(trial: Trial, open: () => Promise<OpenBinding>): Promise<void> {
  const { read } = trial.subject;
  await trial.withBinding(async (binding) => {
    const listener = Listener.submit(binding, read);
    const what = 'whose strongest level has failed and whose weaker ones hang: waits for them without an end';
    await trial.within(listener.closed, `${nameOf(read)}, ${what}`);
    hold(listener.final === undefined, () => `${nameOf(read)}: a final view, but no level is to have one`);
  }, open);
}

export async function refusesUnknown(trial: Trial): Promise<void> {
  const { read } = trial.subject;
  await trial.withClient(async (client, binding) => {
    hold(!binding.supports(UNKNOWN_OPERATION), 'supports(): true for an operation that there is not');
    hold(binding.supports(read), () => `supports(): not true for ${nameOf(read)}`);
    const error = await failureOf(client.invoke(UNKNOWN_OPERATION));
    hold(isCorrectableError(error, 'UNSUPPORTED'), () => `an unknown operation: not UNSUPPORTED, but ${tell(error)}`);
  });
}

export async function failsTyped(trial: Trial, failing: Operation): Promise<void> {
  await trial.withClient(async (client) => {
    const error = await failureOf(client.invoke(failing));
    hold(error !== undefined, () => `${nameOf(failing)}: a final view, but it is to fail`);
    hold(isCorrectableError(error), () => `${nameOf(failing)}: fails with no CorrectableError, but ${tell(error)}`);
  });
}

/** What it fails with; `undefined` where it does not. */
export async function failureOf(operation: PromiseLike<unknown>): Promise<unknown> {
  return operation.then(
    () => undefined,
    (reason: unknown) => reason,
  );
}
