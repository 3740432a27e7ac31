/** What the contract suite holds the updates of a binding to: done once, whatever was requested and whoever leaves. */
import { isCorrectableError } from '../../correctable/errors.ts';
import { failureOf } from './answers.ts';
import { hold, nameOf, show, tell, type Mark, type OpenBinding, type Trial } from './trial.ts';
import { Listener } from './listener.ts';
import type { Binding } from '../../correctable/binding.ts';
import { nextMarks } from './histories.ts';

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

/** How a binding is to know that two submissions are one. */
interface Naming {
  readonly capability: 'executesOnce' | 'hasIdempotencyKeys';
  readonly part: 'operationId' | 'idempotencyKey';
  submit(binding: Binding, update: Mark['update'], name: string): Listener;
}

const BY_CLIENT: Naming = { capability: 'executesOnce', part: 'operationId', submit: submitAs };
const BY_KEY: Naming = { capability: 'hasIdempotencyKeys', part: 'idempotencyKey', submit: submitWithKey };

/** A repeat is known when the first has ended, and while it is under way; what has another name is no repeat. */
export async function executesOnce(trial: Trial): Promise<void> {
  await trial.withBinding(async (binding) => {
    if (binding.executesOnce !== true) return;
    await repeats(trial, binding, trial.subject, false, BY_CLIENT);
    const [first, second, ...others] = nextMarks(trial.subject, binding, 4);
    if (first === undefined || second === undefined) return;
    await tellsClientsApart(trial, binding, others);
    await repeats(trial, binding, first, false, BY_CLIENT);
    await repeats(trial, binding, second, true, BY_CLIENT);
  });
}

/** The same for whoever knows a key. */
export async function keepsKeys(trial: Trial): Promise<void> {
  await trial.withBinding(async (binding) => {
    if (binding.hasIdempotencyKeys !== true) return;
    await repeats(trial, binding, trial.subject, false, BY_KEY);
    const [next] = nextMarks(trial.subject, binding, 1);
    if (next !== undefined) await repeats(trial, binding, next, true, BY_KEY);
  });
}

async function repeats(
  trial: Trial,
  binding: Binding,
  mark: Mark,
  isUnderWay: boolean,
  { capability, part, submit }: Naming,
): Promise<void> {
  const { update, read, expected } = mark;
  const name = nextName();
  const first = submit(binding, update, name);
  if (!isUnderWay) await trial.ends(first);
  const again = submit(binding, update, name);
  await trial.ends(first);
  await trial.ends(again);
  // A gateway knows whether the store behind it has keys.
  if (isCorrectableError(first.error, 'UNSUPPORTED')) return;
  const client = trial.clientOf(binding);
  const { value } = await trial.finalOf(client, read, [client.strongest]);
  const twice = `submitted twice with one ${part}`;
  const when = isUnderWay ? `${twice}, the first still under way` : twice;
  hold(
    trial.isSame(value, expected),
    () =>
      `${capability} is true, but ${nameOf(update)}, ${when}, is done twice: ` +
      `${nameOf(read)} gives ${show(value)}, not ${show(expected)}`,
  );
  const [told, toldAgain] = [first.final, again.final];
  if (told === undefined || told.level !== toldAgain?.level) return;
  hold(
    trial.isSame(toldAgain.value, told.value),
    () =>
      `${capability} is true, but ${nameOf(update)}, ${when}, gives ${show(told.value)}, then ${show(toldAgain.value)}`,
  );
}

/** Every client counts from 1. */
async function tellsClientsApart(trial: Trial, binding: Binding, marks: readonly Mark[]): Promise<void> {
  for (const { update } of marks) await trial.ends(submitAs(binding, update, nextName()));
  const client = trial.clientOf(binding);
  const what = 'executesOnce is true, but an update is taken for that of another client with the same sequence';
  for (const mark of marks) await trial.shows(client, mark, what);
}

function submitAs(binding: Binding, update: Mark['update'], client: string): Listener {
  const origin = { client, sequence: 1, acknowledged: 0 };
  return Listener.submit(binding, update, undefined, { operationId: `${client}-1`, origin });
}

function submitWithKey(binding: Binding, update: Mark['update'], idempotencyKey: string): Listener {
  return Listener.submit(binding, update, undefined, { idempotencyKey });
}

function nextName(): string {
  return `contract-${Math.random().toString(36).slice(2)}`;
}
