/** What the contract suite holds sessions to: whoever has one sees what it has written and seen, of every object. */
import type { Binding } from '../../correctable/binding.ts';
import { isCorrectableError } from '../../correctable/errors.ts';
import { hold, nameOf, show, tell, type AnyClient, type Mark, type Trial } from './trial.ts';
import { nextMarks } from './histories.ts';
import { isVersionOlder } from './listener.ts';

type Session = ReturnType<AnyClient['session']>;

export async function keepsSessions(trial: Trial): Promise<void> {
  await trial.withClient(async (client, binding) => {
    if (binding.openSession === undefined) {
      const error = errorOf(() => client.session());
      hold(isCorrectableError(error, 'UNSUPPORTED'), () => `session(): not UNSUPPORTED, but ${tell(error)}`);
      return;
    }
    await showsOwn(trial, client, binding);
    await showsAllOwn(trial, client, binding);
    await showsSeen(trial, client, binding);
  });
}

async function showsOwn(trial: Trial, client: AnyClient, binding: Binding): Promise<void> {
  const { update, read, expected } = trial.subject;
  using session = client.session();
  await client.invokeStrong(update, { session });
  let newest: unknown;
  for (const levels of [client.levels, client.levels, [client.weakest]]) {
    for await (const { level, value, version } of client.invoke(read, { session, levels: levels as [string] })) {
      const own = `${nameOf(read)}, in the session of the update: the view at ${level} does not show it`;
      trial.same(value, expected, own);
      const isOlder = isVersionOlder(binding, version, newest);
      const versions = (): string => `version ${show(version)} after ${show(newest)}`;
      hold(!isOlder, () => `${nameOf(read)}: the view at ${level} goes back in its session: ${versions()}`);
      newest = version ?? newest;
    }
  }
}

/** The last write is not the only one. */
async function showsAllOwn(trial: Trial, client: AnyClient, binding: Binding): Promise<void> {
  const marks = nextMarks(trial.subject, binding, 2);
  using session = client.session();
  for (const { update } of marks) await client.invokeStrong(update, { session });
  const what = 'in the session that wrote several objects: does not show what it wrote';
  for (const mark of marks) await looksWeak({ trial, client, session }, mark, what);
}

/** What somebody else has written, and the session has seen, stays seen. */
async function showsSeen(trial: Trial, client: AnyClient, binding: Binding): Promise<void> {
  for (const mark of nextMarks(trial.subject, binding, 2)) {
    using session = client.session();
    await client.invokeStrong(mark.update);
    const seen = await client.invokeStrong(mark.read, { session });
    if (!trial.isSame(seen, mark.expected)) continue;
    await looksWeak({ trial, client, session }, mark, 'goes back in its session, behind what it has read');
  }
}

interface Place {
  readonly trial: Trial;
  readonly client: AnyClient;
  readonly session: Session;
}

async function looksWeak({ trial, client, session }: Place, { read, expected }: Mark, what: string): Promise<void> {
  for await (const { level, value } of client.invoke(read, { session, levels: [client.weakest] })) {
    trial.same(value, expected, `${nameOf(read)}, asked for ${client.weakest}, ${what}: the view at ${level}`);
  }
}

function errorOf(call: () => unknown): unknown {
  try {
    call();
    return undefined;
  } catch (error) {
    return error;
  }
}
