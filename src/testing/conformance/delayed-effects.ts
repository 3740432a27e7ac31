/** Checks abandoned updates: after some time, the data still match the reported outcomes. */
import { isCorrectableError } from '../../correctable/errors.ts';
import { getFailure } from './levels.ts';
import {
  assertHolds,
  formatOperation,
  formatValue,
  formatError,
  waitForNextTurn,
  type AnyClient,
  type MarkedWrite,
  type TestContext,
} from './test-context.ts';
import { createMark, createMarks } from './histories.ts';

/**
 * A queue or a timer executes a repeated or late update within this time. There is no event to wait
 * for.
 */
const DELAYED_EFFECT_MS = 250;
/**
 * The number of canceled updates. Each is canceled one turn of the event loop later than the one
 * before.
 */
const CANCELED_WRITES = 8;

/** Runs all checks that have to wait, concurrently. Each uses an object of its own. */
export async function keepsReportedOutcomes(context: TestContext): Promise<void> {
  const { subject } = context;
  await context.withBinding(async (binding, { secondBinding }) => {
    const client = context.createClient(binding);
    const cancelled = 'a write that was cancelled in flight';
    await context.getFinal(client, subject.read, [client.strongest]);
    const leaving = client.invoke(subject.write);
    leaving.cancel('contract suite');
    await getFailure(leaving);
    await context.waitUntilShown(client, cancelled);
    const weak = createMark(subject, binding);
    const single = `a write that was asked for ${client.weakest} alone`;
    if (weak !== undefined) {
      await context.getFinal(client, weak.write, [client.weakest]);
      await context.waitUntilShown(client, single, weak);
    }
    const closed = createMark(subject, binding);
    const other = binding.openHandle === undefined ? await secondBinding?.() : binding;
    const reported =
      closed && other && (await findOutcomeAtClose(context, context.createClient(other), closed));
    await new Promise((resolve) => setTimeout(resolve, DELAYED_EFFECT_MS));
    await checkStillOnce(context, client, cancelled, subject);
    if (weak !== undefined) await checkStillOnce(context, client, single, weak);
    if (reported === undefined) return;
    await checkNotDone(
      context,
      client,
      closed!,
      `in flight at close(): reported as not done (${reported})`,
    );
  });
}

/**
 * Returns the error that proves that the update was not executed, or `undefined` if it may have
 * been.
 */
async function findOutcomeAtClose(
  context: TestContext,
  client: AnyClient,
  { write }: MarkedWrite,
): Promise<string | undefined> {
  const failure = getFailure(client.invoke(write));
  await context.withTimeout(client.close(), 'close() does not come to an end');
  const error = await failure;
  return error === undefined || isCorrectableError(error, 'UNKNOWN')
    ? undefined
    : formatError(error);
}

async function checkStillOnce(
  context: TestContext,
  client: AnyClient,
  description: string,
  { read, expected }: MarkedWrite,
): Promise<void> {
  const { value } = await context.getFinal(client, read, [client.strongest]);
  const isOnce = context.isSame(value, expected);
  assertHolds(
    isOnce,
    () =>
      `${description} takes effect once: ${DELAYED_EFFECT_MS} ms after it has, the strongest read gives ${formatValue(value)}, ` +
      `not ${formatValue(expected)}`,
  );
}

async function checkNotDone(
  context: TestContext,
  client: AnyClient,
  { write, read, expected }: MarkedWrite,
  description: string,
): Promise<void> {
  const { value } = await context.getFinal(client, read, [client.strongest]);
  const isDone = context.isSame(value, expected);
  assertHolds(
    !isDone,
    () => `${formatOperation(write)}, ${description}, but done within ${DELAYED_EFFECT_MS} ms`,
  );
}

/**
 * Cancels updates at several times. An update that was reported as not executed must not be
 * executed later either.
 */
export async function reportsAbortsTruthfully(context: TestContext): Promise<void> {
  await context.withClient(async (client, binding) => {
    const tags = [...createMarks(context.subject, binding, CANCELED_WRITES).entries()];
    await context.getFinal(client, context.subject.read, [client.strongest]);
    const denied = await Promise.all(
      tags.map(async ([turns, mark]) => {
        const leaving = client.invoke(mark.write);
        const failure = getFailure(leaving);
        for (let n = 0; n < turns; n++) await waitForNextTurn();
        leaving.cancel('contract suite');
        const error = await failure;
        return error === undefined || isCorrectableError(error, 'UNKNOWN')
          ? []
          : [{ ...mark, failure: formatError(error) }];
      }),
    );
    if (denied.flat().length === 0) return;
    await new Promise((resolve) => setTimeout(resolve, DELAYED_EFFECT_MS));
    for (const { failure, ...mark } of denied.flat())
      await checkNotDone(context, client, mark, `cancelled: reported as not done (${failure})`);
  });
}
