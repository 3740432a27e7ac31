/**
 * Checks the updates of a binding: each is executed once, for all requested levels, and even if its
 * caller cancels it.
 */
import { isCorrectableError } from '../../correctable/errors.ts';
import { getFailure } from './levels.ts';
import {
  assertCode,
  assertHolds,
  formatError,
  formatOperation,
  formatValue,
  type MarkedWrite,
  type OpenedBinding,
  type TestContext,
} from './test-context.ts';
import { ViewRecorder } from './view-recorder.ts';
import type { Binding } from '../../correctable/binding.ts';
import type { Operation } from '../../correctable/operation.ts';
import { createMarks } from './histories.ts';

/**
 * The number of concurrent updates. With one, the final view hardly ever overtakes the preliminary
 * one.
 */
const CONCURRENT_WRITES = 20;
/** A read whose weaker levels take longer is not awaited, because no rule forbids that. */
const HANG_TIMEOUT_MS = 1_000;

export async function showsWrites(context: TestContext): Promise<void> {
  await context.withClient(async (client) => {
    await context.getFinal(client, context.subject.write);
    await context.assertShows(client, context.subject, 'the final view is wrong');
  });
}

export async function levelsChooseViewsOnly(context: TestContext): Promise<void> {
  await context.withClient(async (client) => {
    const { write } = context.subject;
    await context.getFinal(client, write, [client.weakest]);
    await context.waitUntilShown(client, `a write that was asked for ${client.weakest} alone`);
  });
}

export async function completesWrites(context: TestContext): Promise<void> {
  const { write } = context.subject;
  await context.withClient(async (client) => {
    // An update may have no stronger level than this one. Then its view has this level, whatever is
    // requested.
    const strongest = await context.getFinal(client, write, [client.strongest]);
    const reached = client.levels.indexOf(strongest.level);
    for (const [rank, level] of client.levels.entries()) {
      const updates = Array.from({ length: CONCURRENT_WRITES }, () =>
        context.collectViews(client, write, [level]),
      );
      const requested = `${formatOperation(write)}, asked for ${level}`;
      for (const views of await Promise.all(updates)) {
        assertHolds(views.length === 1, () => `${requested}: ${views.length} views, not one`);
        const reported = views[0]!.level;
        const isStrongEnough = client.levels.indexOf(reported) >= Math.min(rank, reached);
        assertHolds(isStrongEnough, () => `${requested}: answered at ${reported}, which is weaker`);
      }
    }
  });
}

/**
 * Checks that the caller of an executed update gets its result, even if the preliminary view fails.
 */
export async function completesWithoutWeakLevels(
  context: TestContext,
  open: () => Promise<OpenedBinding>,
): Promise<void> {
  const { write } = context.subject;
  await context.withClient(async (client) => {
    for (const level of [...client.levels.slice(0, -1), undefined]) {
      const views = await context.collectViews(
        client,
        write,
        level === undefined ? undefined : [level],
      );
      const reported = views.map((view) => view.level);
      context.assertSame(
        reported,
        [client.strongest],
        `${formatOperation(write)}, asked for ${level ?? 'all levels'}: the levels of its views`,
      );
    }
  }, open);
}

/**
 * Checks that the failure of a weaker level does not fail the read (COR-6). A level that hangs may
 * delay the levels that are called after it.
 */
export async function readsWithoutWeakLevels(
  context: TestContext,
  open: () => Promise<OpenedBinding>,
): Promise<void> {
  const { write, read, expected } = context.subject;
  await context.withBinding(async (binding) => {
    const client = context.createClient(binding);
    await context.getFinal(client, write);
    const leaving = new AbortController();
    const reading = ViewRecorder.submit(binding, read, undefined, {
      signal: leaving.signal,
    });
    let timer: ReturnType<typeof setTimeout> | undefined;
    const hangs = new Promise<void>((resolve) => (timer = setTimeout(resolve, HANG_TIMEOUT_MS)));
    await Promise.race([reading.closed, hangs]);
    clearTimeout(timer);
    const { error, final } = reading;
    leaving.abort(new Error('contract suite'));
    assertHolds(
      error === undefined,
      () => `${formatOperation(read)}: fails with its weaker levels: ${formatError(error)}`,
      error,
    );
    if (final === undefined) return;
    context.assertSame(
      final.value,
      expected,
      `${formatOperation(read)}, without weaker levels: the final view is wrong`,
    );
    assertHolds(
      final.level === client.strongest,
      () => `${formatOperation(read)}, without weaker levels: final at ${final.level}`,
    );
  }, open);
}

export async function executesCanceledWrites(context: TestContext): Promise<void> {
  const { write, read } = context.subject;
  await context.withClient(async (client) => {
    // Once the store has answered, submitted operations are in flight. Before that they may not
    // have been sent.
    await context.getFinal(client, read, [client.strongest]);
    const leaving = client.invoke(write);
    // A binding may answer at once. Then no operation in flight can be cancelled.
    const isDone = leaving.state === 'final';
    leaving.cancel('contract suite');
    const error = await getFailure(leaving);
    if (!isDone) assertCode(error, 'UNKNOWN', 'a write that was cancelled');
    await context.waitUntilShown(client, 'a write that was cancelled in flight');
  });
}

/**
 * The context fields by which a binding may recognize a repeated submission. Each has the name of
 * the capability that the binding declares.
 */
const CAPABILITIES = {
  operationId: 'isExactlyOnce',
  idempotencyKey: 'hasIdempotencyKeys',
} as const;
type Identity = keyof typeof CAPABILITIES;

/**
 * Checks that a repeated submission is recognized, both after the first has ended and while it is
 * in flight. A submission with another name is no repetition.
 */
export async function checkExactlyOnce(context: TestContext): Promise<void> {
  await context.withBinding(async (binding) => {
    if (binding.isExactlyOnce !== true) return;
    await checkRepeat(context, binding, context.subject, false, 'operationId');
    const [first, second, ...others] = createMarks(context.subject, binding, 4);
    if (first === undefined || second === undefined) return;
    await distinguishesClients(context, binding, others);
    await checkRepeat(context, binding, first, false, 'operationId');
    await checkRepeat(context, binding, second, true, 'operationId');
  });
}

export async function keepsIdempotencyKeys(context: TestContext): Promise<void> {
  await context.withBinding(async (binding) => {
    if (binding.hasIdempotencyKeys !== true) return;
    await checkRepeat(context, binding, context.subject, false, 'idempotencyKey');
    const [next] = createMarks(context.subject, binding, 1);
    if (next !== undefined) await checkRepeat(context, binding, next, true, 'idempotencyKey');
  });
}

async function checkRepeat(
  context: TestContext,
  binding: Binding,
  mark: MarkedWrite,
  isUnderWay: boolean,
  part: Identity,
): Promise<void> {
  const { write, read, expected } = mark;
  const capability = CAPABILITIES[part];
  const name = createClientName();
  const first = submitNamed(binding, write, part, name);
  if (!isUnderWay) await context.ends(first);
  const again = submitNamed(binding, write, part, name);
  await context.ends(first);
  await context.ends(again);
  // Only the gateway knows whether the store behind it has keys.
  if (isCorrectableError(first.error, 'UNSUPPORTED')) return;
  const client = context.createClient(binding);
  const { value } = await context.getFinal(client, read, [client.strongest]);
  const twice = `submitted twice with one ${part}`;
  const when = isUnderWay ? `${twice}, the first still in flight` : twice;
  assertHolds(
    context.isSame(value, expected),
    () =>
      `${capability} is true, but ${formatOperation(write)}, ${when}, is done twice: ` +
      `${formatOperation(read)} gives ${formatValue(value)}, not ${formatValue(expected)}`,
  );
  const [reported, repeated] = [first.final, again.final];
  if (reported === undefined || reported.level !== repeated?.level) return;
  assertHolds(
    context.isSame(repeated.value, reported.value),
    () =>
      `${capability} is true, but ${formatOperation(write)}, ${when}, gives ${formatValue(reported.value)}, then ${formatValue(repeated.value)}`,
  );
}

/** Checks that the operations of two clients are distinguished. Both count from 1. */
async function distinguishesClients(
  context: TestContext,
  binding: Binding,
  tags: readonly MarkedWrite[],
): Promise<void> {
  for (const { write } of tags)
    await context.ends(submitNamed(binding, write, 'operationId', createClientName()));
  const client = context.createClient(binding);
  const description =
    'isExactlyOnce is true, but a write is taken for that of another client with the same sequence';
  for (const mark of tags) await context.assertShows(client, mark, description);
}

function submitNamed(
  binding: Binding,
  write: Operation,
  identity: Identity,
  name: string,
): ViewRecorder {
  const origin = { client: name, sequence: 1, acknowledged: 0 };
  const byClient = { operationId: `${name}-1`, origin };
  const named = identity === 'operationId' ? byClient : { idempotencyKey: name };
  return ViewRecorder.submit(binding, write, undefined, named);
}

function createClientName(): string {
  return `contract-${Math.random().toString(36).slice(2)}`;
}
