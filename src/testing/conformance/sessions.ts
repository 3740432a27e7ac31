/**
 * Checks sessions: a client with a session sees everything that it has written and seen, of every
 * object.
 */
import type { Binding } from '../../correctable/binding.ts';
import {
  type AnyClient,
  assertCode,
  assertHolds,
  formatOperation,
  formatValue,
  type MarkedWrite,
  type PausedBinding,
  type TestContext,
  waitForNextTurn,
} from './test-context.ts';
import { createMarks } from './histories.ts';
import { isVersionOlder } from './view-recorder.ts';

type Session = ReturnType<AnyClient['session']>;

export async function keepsSessionGuarantees(context: TestContext): Promise<void> {
  await context.withClient(async (client, binding) => {
    if (binding.openSession === undefined) {
      return assertCode(
        getError(() => client.session()),
        'UNSUPPORTED',
        'session()',
      );
    }
    await checkReadsOwnWrite(context, client, binding);
    await checkReadsAllOwnWrites(context, client, binding);
    await checkMonotonicReads(context, client, binding);
  });
}

async function checkReadsOwnWrite(
  context: TestContext,
  client: AnyClient,
  binding: Binding,
): Promise<void> {
  const { write, read, expected } = context.subject;
  using session = client.session();
  await client.invokeStrong(write, { session });
  let newest: unknown;
  for (const levels of [client.levels, client.levels, [client.weakest]]) {
    for await (const { level, value, version } of client.invoke(read, {
      session,
      levels: levels as [string],
    })) {
      const own = `${formatOperation(read)}, in the session of the write: the view at ${level} does not show it`;
      context.assertSame(value, expected, own);
      const isOlder = isVersionOlder(binding, version, newest);
      const versions = (): string => `version ${formatValue(version)} after ${formatValue(newest)}`;
      assertHolds(
        !isOlder,
        () =>
          `${formatOperation(read)}: the view at ${level} goes back in its session: ${versions()}`,
      );
      newest = version ?? newest;
    }
  }
}

async function checkReadsAllOwnWrites(
  context: TestContext,
  client: AnyClient,
  binding: Binding,
): Promise<void> {
  const tags = createMarks(context.subject, binding, 2);
  using session = client.session();
  for (const { write } of tags) await client.invokeStrong(write, { session });
  const description = 'in the session that wrote several objects: does not show what it wrote';
  for (const mark of tags)
    await checkWeakRead({ trial: context, client, session }, mark, description);
}

/** Checks that writes of another client stay visible once the session has seen them. */
async function checkMonotonicReads(
  context: TestContext,
  client: AnyClient,
  binding: Binding,
): Promise<void> {
  for (const mark of createMarks(context.subject, binding, 2)) {
    using session = client.session();
    await client.invokeStrong(mark.write);
    const seen = await client.invokeStrong(mark.read, { session });
    if (!context.isSame(seen, mark.expected)) continue;
    await checkWeakRead(
      { trial: context, client, session },
      mark,
      'goes back in its session, behind what it has read',
    );
  }
}

/**
 * Checks that weaker levels deliver no view to a session while they are stale for it, and deliver
 * views again once they have caught up.
 */
export async function skipsStaleViews(
  context: TestContext,
  open: () => Promise<PausedBinding>,
): Promise<void> {
  const { write, read, expected } = context.subject;
  const paused = await open();
  await context.withClient(
    async (client) => {
      using session = client.session();
      await client.invokeStrong(write, { session });
      const place = { trial: context, client, session };
      const description = 'in the session of the write, while it is behind';
      await checkWeakRead(place, { write, read, expected }, description);
      const stale = await collectLevels(client, session, context);
      assertHolds(
        stale.length === 1,
        () =>
          `${formatOperation(read)}: while they are behind, weaker levels give a view in the session: ${stale.join(', ')}`,
      );

      await paused.resume();
      const givesUpAt = performance.now() + context.timeoutMs;
      while ((await collectLevels(client, session, context)).length === 1) {
        assertHolds(
          performance.now() < givesUpAt,
          `${formatOperation(read)}: weaker levels give no view in a session after they have caught up`,
        );
        await waitForNextTurn();
      }
    },
    async () => paused,
  );
}

/** Returns the levels of the views of a read. All must show the write. */
async function collectLevels(
  client: AnyClient,
  session: Session,
  context: TestContext,
): Promise<string[]> {
  const { read, expected } = context.subject;
  const levels: string[] = [];
  for await (const { level, value } of client.invoke(read, { session })) {
    const description = `${formatOperation(read)}, in the session of the write: the view at ${level} does not show it`;
    context.assertSame(value, expected, description);
    levels.push(level);
  }
  return levels;
}

interface SessionPlace {
  readonly trial: TestContext;
  readonly client: AnyClient;
  readonly session: Session;
}

async function checkWeakRead(
  { trial: context, client, session }: SessionPlace,
  { read, expected }: MarkedWrite,
  description: string,
): Promise<void> {
  for await (const { level, value } of client.invoke(read, {
    session,
    levels: [client.weakest],
  })) {
    context.assertSame(
      value,
      expected,
      `${formatOperation(read)}, asked for ${client.weakest}, ${description}: the view at ${level}`,
    );
  }
}

function getError(call: () => unknown): unknown {
  try {
    call();
    return undefined;
  } catch (error) {
    return error;
  }
}
