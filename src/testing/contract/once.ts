/** What the contract suite holds a binding to that says `executesOnce`: a gateway submits again what it does not know of. */
import type { Binding } from '../../correctable/binding.ts';
import { hold, nameOf, show } from './breach.ts';
import { nextMarks } from './histories.ts';
import { Listener } from './listener.ts';
import type { Mark, Stage } from './stage.ts';

const twice = 'submitted twice with one operationId';

/** A repeat is known when the first has ended, and while it is under way; what has another name is no repeat. */
export async function executesOnce(stage: Stage): Promise<void> {
  await stage.withBinding(async (binding) => {
    if (binding.executesOnce !== true) return;
    await repeats(stage, binding, stage.subject, false);
    const [first, second, ...others] = nextMarks(stage.subject, binding, 4);
    if (first === undefined || second === undefined) return;
    await tellsClientsApart(stage, binding, others);
    await repeats(stage, binding, first, false);
    await repeats(stage, binding, second, true);
  });
}

async function repeats(stage: Stage, binding: Binding, mark: Mark, isUnderWay: boolean): Promise<void> {
  const { update, read, expected } = mark;
  const name = nextName();
  const first = submitAs(binding, update, name);
  if (!isUnderWay) await ended(stage, first);
  const again = submitAs(binding, update, name);
  await ended(stage, first);
  await ended(stage, again);
  const client = stage.clientOf(binding);
  const { value } = await stage.finalOf(client, read, [client.strongest]);
  const when = isUnderWay ? `${twice}, the first still under way` : twice;
  hold(
    stage.isSame(value, expected),
    () =>
      `executesOnce is true, but ${nameOf(update)}, ${when}, is done twice: ` +
      `${nameOf(read)} gives ${show(value)}, not ${show(expected)}`,
  );
  const [told, toldAgain] = [first.final, again.final];
  if (told === undefined || told.level !== toldAgain?.level) return;
  hold(
    stage.isSame(toldAgain.value, told.value),
    () =>
      `executesOnce is true, but ${nameOf(update)}, ${when}, gives ${show(told.value)}, then ${show(toldAgain.value)}`,
  );
}

/** Every client counts from 1. */
async function tellsClientsApart(stage: Stage, binding: Binding, marks: readonly Mark[]): Promise<void> {
  for (const { update } of marks) await ended(stage, submitAs(binding, update, nextName()));
  const client = stage.clientOf(binding);
  const what = 'executesOnce is true, but an update is taken for that of another client with the same sequence';
  for (const mark of marks) await stage.shows(client, mark, what);
}

function submitAs(binding: Binding, update: Mark['update'], client: string): Listener {
  const origin = { client, sequence: 1, acknowledged: 0 };
  return Listener.submit(binding, update, undefined, { operationId: `${client}-1`, origin });
}

async function ended(stage: Stage, { closed, operation }: Listener): Promise<void> {
  await stage.within(closed, `${nameOf(operation)}: neither a final view nor a failure`);
}

function nextName(): string {
  return `contract-${Math.random().toString(36).slice(2)}`;
}
