/** Checks bindings with several operations in flight: each is executed as if it were alone. */
import type { Binding } from '../../correctable/binding.ts';
import { getFailure } from './levels.ts';
import {
  assertHolds,
  formatOperation,
  runConcurrently,
  formatError,
  waitForNextTurn,
  type AnyClient,
  type MarkedWrite,
  type TestContext,
} from './test-context.ts';
import { createMarks } from './histories.ts';

/** The number of concurrent updates, each of its own object. */
const CONCURRENT_WRITES = 20;
/**
 * The number of objects that are read while they are updated. The update of each one begins one
 * turn of the event loop later than that of the one before.
 */
const ROUNDS = 4;
/** The number of reads of an object that begin while it is updated. */
const READS = 8;

/**
 * Checks that each acknowledged update was executed once, whatever the number of concurrent ones.
 */
export async function executesConcurrentWrites(context: TestContext): Promise<void> {
  await context.withClient(async (client, binding) => {
    const tags = createMarks(context.subject, binding, CONCURRENT_WRITES);
    await Promise.all(tags.map(({ write }) => context.getFinal(client, write)));
    await runConcurrently(tags, (mark) =>
      context.assertShows(
        client,
        mark,
        `acknowledged as one of ${CONCURRENT_WRITES} writes at once: the final view is wrong`,
      ),
    );
  });
}

/**
 * Checks that a read begun after an acknowledged update shows it, not the answer of an older read
 * in flight.
 */
export async function readsAcknowledgedWrites(context: TestContext): Promise<void> {
  await context.withClient(async (client, binding) => {
    const tags = [...createMarks(context.subject, binding, ROUNDS).entries()];
    await runConcurrently(tags, ([turns, mark]) => readDuringWrite(context, client, mark, turns));
  });
}

async function readDuringWrite(
  context: TestContext,
  client: AnyClient,
  mark: MarkedWrite,
  turns: number,
): Promise<void> {
  const progress = { isDone: false };
  const reads: Promise<unknown>[] = [];
  const read = (): unknown =>
    reads.push(getFailure(client.invoke(mark.read, { levels: [client.strongest] })));
  // In these rounds, a read begins before the update.
  if (turns % 2 === 0) read();
  for (let n = 0; n < turns; n++) await waitForNextTurn();
  const update = context.getFinal(client, mark.write).finally(() => (progress.isDone = true));
  update.catch(() => undefined);
  for (let n = 0; n < READS && !progress.isDone; n++) {
    await waitForNextTurn();
    if (!progress.isDone) read();
  }
  await update;
  await context.assertShows(
    client,
    mark,
    'begun after the write was acknowledged, with older reads in flight: wrong',
  );
  await Promise.all(reads);
}

/**
 * Checks that a cancelled operation ends no other operation: neither an update of the same object,
 * nor updates of others.
 */
export async function isolatesCancellation(context: TestContext): Promise<void> {
  await context.withClient(async (client, binding) => {
    // Cancel at once, and one turn later, when the operation is in flight.
    for (const turns of [0, 1]) await checkCancellationIsolation(context, client, binding, turns);
  });
}

async function checkCancellationIsolation(
  context: TestContext,
  client: AnyClient,
  binding: Binding,
  turns: number,
): Promise<void> {
  const [read, stays, goes] = createMarks(context.subject, binding, 3);
  if (read === undefined || stays === undefined || goes === undefined) return;
  const staying = [read, stays].map(({ write }) => getFailure(client.invoke(write)));
  const leaving = [client.invoke(read.read), client.invoke(goes.write)];
  for (let n = 0; n < turns; n++) await waitForNextTurn();
  for (const item of leaving) item.cancel('contract suite');
  await Promise.all(leaving.map(getFailure));
  const ends = await Promise.all(staying);
  const failed = ends.findIndex((error) => error !== undefined);
  const description = 'ends with others that were cancelled';
  assertHolds(
    failed < 0,
    () =>
      `${formatOperation([read, stays][failed]!.write)}: ${description}: ${formatError(ends[failed])}`,
    ends[failed],
  );
  const when = 'a write was acknowledged, while others were cancelled: the final view is wrong';
  for (const mark of [read, stays]) await context.assertShows(client, mark, when);
}
