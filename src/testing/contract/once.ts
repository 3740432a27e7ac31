/** What the contract suite holds a binding to that says `executesOnce`: a gateway submits again what it does not know of. */
import type { Binding } from '../../correctable/binding.ts';
import { hold, nameOf, show } from './breach.ts';
import { nextMarks } from './histories.ts';
import { Listener } from './listener.ts';
import type { Mark, Trial } from './trial.ts';

const twice = 'submitted twice with one operationId';

/** A repeat is known when the first has ended, and while it is under way; what has another name is no repeat. */
export async function executesOnce(trial: Trial): Promise<void> {
  await trial.withBinding(async (binding) => {
    if (binding.executesOnce !== true) return;
    await repeats(trial, binding, trial.subject, false);
    const [first, second, ...others] = nextMarks(trial.subject, binding, 4);
    if (first === undefined || second === undefined) return;
    await tellsClientsApart(trial, binding, others);
    await repeats(trial, binding, first, false);
    await repeats(trial, binding, second, true);
  });
}

async function repeats(trial: Trial, binding: Binding, mark: Mark, isUnderWay: boolean): Promise<void> {
  const { update, read, expected } = mark;
  const name = nextName();
  const first = submitAs(binding, update, name);
  if (!isUnderWay) await ended(trial, first);
  const again = submitAs(binding, update, name);
  await ended(trial, first);
  await ended(trial, again);
  const client = trial.clientOf(binding);
  const { value } = await trial.finalOf(client, read, [client.strongest]);
  const when = isUnderWay ? `${twice}, the first still under way` : twice;
  hold(
    trial.isSame(value, expected),
    () =>
      `executesOnce is true, but ${nameOf(update)}, ${when}, is done twice: ` +
      `${nameOf(read)} gives ${show(value)}, not ${show(expected)}`,
  );
  const [told, toldAgain] = [first.final, again.final];
  if (told === undefined || told.level !== toldAgain?.level) return;
  hold(
    trial.isSame(toldAgain.value, told.value),
    () =>
      `executesOnce is true, but ${nameOf(update)}, ${when}, gives ${show(told.value)}, then ${show(toldAgain.value)}`,
  );
}

/** Every client counts from 1. */
async function tellsClientsApart(trial: Trial, binding: Binding, marks: readonly Mark[]): Promise<void> {
  for (const { update } of marks) await ended(trial, submitAs(binding, update, nextName()));
  const client = trial.clientOf(binding);
  const what = 'executesOnce is true, but an update is taken for that of another client with the same sequence';
  for (const mark of marks) await trial.shows(client, mark, what);
}

function submitAs(binding: Binding, update: Mark['update'], client: string): Listener {
  const origin = { client, sequence: 1, acknowledged: 0 };
  return Listener.submit(binding, update, undefined, { operationId: `${client}-1`, origin });
}

async function ended(trial: Trial, { closed, operation }: Listener): Promise<void> {
  await trial.within(closed, `${nameOf(operation)}: neither a final view nor a failure`);
}

function nextName(): string {
  return `contract-${Math.random().toString(36).slice(2)}`;
}
