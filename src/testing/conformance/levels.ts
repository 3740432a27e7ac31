/** Checks the levels of a binding's views, their order, and their ends. */
import type { Binding } from '../../correctable/binding.ts';
import type { Operation } from '../../correctable/operation.ts';
import { isCorrectableError } from '../../correctable/errors.ts';
import {
  assertCode,
  assertHolds,
  formatError,
  formatOperation,
  type OpenedBinding,
  type TestContext,
} from './test-context.ts';
import { ViewRecorder } from './view-recorder.ts';

/** The maximum number of reads, because a final view may overtake a preliminary one. */
const READ_ATTEMPTS = 20;

const UNKNOWN_OPERATION: Operation = {
  name: 'conformance-suite:no-such-operation',
  args: {},
  access: 'read',
};

export async function declaresLevels(context: TestContext): Promise<void> {
  await context.withBinding(async (binding) => {
    const levels = binding.consistencyLevels();
    assertHolds(levels.length > 0, 'consistencyLevels() is empty');
    assertHolds(
      new Set(levels).size === levels.length,
      () => `consistencyLevels() names a level twice: ${levels.join(', ')}`,
    );
    context.assertSame(
      [...binding.consistencyLevels()],
      [...levels],
      'consistencyLevels() changes',
    );
  });
}

export async function ordersViews(context: TestContext): Promise<void> {
  const { write, read, expected } = context.subject;
  await context.withClient(async (client) => {
    await context.getFinal(client, write);
    const views = await context.collectViews(client, read);
    const reported = views.map(({ level }) => level).join(', ');
    const ranks = views.map(({ level }) => client.levels.indexOf(level));
    const inOrder = [...new Set(ranks)].sort((a, b) => a - b);
    context.assertSame(
      ranks,
      inOrder,
      `${formatOperation(read)}: the levels of its views are not in order (${reported})`,
    );
    const final = views.at(-1)!;
    assertHolds(
      final.level === client.strongest,
      () => `${formatOperation(read)}: the final view is at ${final.level}, asked for all`,
    );
    context.assertSame(
      final.value,
      expected,
      `${formatOperation(read)}, asked for all levels: the final view is wrong`,
    );
    const { drops } = client;
    const lost = (['unknown-level', 'not-requested', 'closed'] as const).filter(
      (reason) => drops[reason] > 0,
    );
    assertHolds(
      lost.length === 0,
      () => `${formatOperation(read)}: views that cannot be shown (${lost.join(', ')})`,
    );
  });
}

export async function deliversEachLevel(context: TestContext): Promise<void> {
  const { write, read } = context.subject;
  await context.withClient(async (client) => {
    await context.getFinal(client, write);
    for (const [rank, level] of client.levels.entries()) {
      const views = await context.collectViews(client, read, [level]);
      assertHolds(
        views.length === 1,
        () => `${formatOperation(read)}, asked for ${level}: ${views.length} views, not one`,
      );
      const reached = views[0]!.level;
      assertHolds(
        client.levels.indexOf(reached) >= rank,
        () =>
          `${formatOperation(read)}, asked for ${level}: answered at ${reached}, which is weaker`,
      );
    }
  });
}

/**
 * Checks all events of an operation while later operations run. A view that is too late arrives by
 * then.
 */
export async function deliversInOrder(context: TestContext): Promise<void> {
  const { write, read } = context.subject;
  await context.withBinding(async (binding) => {
    const levels = binding.consistencyLevels();
    const requests = [
      levels,
      ...levels.map((level) => [level]),
      levels.slice(0, -1),
      levels.slice(1),
    ];
    const listeners: ViewRecorder[] = [];
    for (const operation of [write, read]) {
      for (const requested of requests.filter(({ length }) => length > 0)) {
        const listener = ViewRecorder.submit(binding, operation, requested);
        listeners.push(listener);
        await context.ends(listener, `, asked for ${requested.join(', ')}`);
      }
    }
    for (let n = 0; n < READ_ATTEMPTS; n++) listeners.push(await readOnce(context, binding));
    for (const listener of listeners) listener.check();
  });
}

/**
 * Checks that each level has views. A caller that requests a level without any would wait for the
 * final view.
 */
export async function deliversPreliminaries(context: TestContext): Promise<void> {
  const { write, read } = context.subject;
  await context.withBinding(async (binding) => {
    const levels = binding.consistencyLevels();
    if (levels.length === 1) return;
    await context.ends(ViewRecorder.submit(binding, write));
    for (let n = 0; n < READ_ATTEMPTS; n++) {
      const { views } = await readOnce(context, binding);
      if (views.some(({ isFinal }) => !isFinal)) return;
    }
    assertHolds(
      false,
      `${formatOperation(read)}, asked for ${levels.join(', ')}: never a preliminary view, ${READ_ATTEMPTS} times in a row`,
    );
  });
}

async function readOnce(context: TestContext, binding: Binding): Promise<ViewRecorder> {
  const { read } = context.subject;
  const listener = ViewRecorder.submit(binding, read);
  await context.ends(listener, ', asked for all levels');
  return listener;
}

/**
 * After the failure, no weaker view is delivered. If no stronger level is left, the failure is the
 * last event.
 */
export async function deliversWeakerLevels(
  context: TestContext,
  open: () => Promise<OpenedBinding>,
): Promise<void> {
  const { read } = context.subject;
  await context.withClient(async (client) => {
    const error = await getFailure(client.invoke(read));
    assertHolds(
      isCorrectableError(error),
      () => `${formatOperation(read)}, whose strongest level is to fail: ${formatError(error)}`,
    );
    assertHolds(
      error.lastView !== undefined,
      `${formatOperation(read)}: fails before the view of a weaker level that was in flight`,
      error,
    );
  }, open);
}

/** A pending weaker level must not delay the failure of the final view without limit. */
export async function failsWithoutReply(
  context: TestContext,
  open: () => Promise<OpenedBinding>,
): Promise<void> {
  const { read } = context.subject;
  await context.withBinding(async (binding) => {
    const listener = ViewRecorder.submit(binding, read);
    const description =
      'whose strongest level has failed and whose weaker ones hang: waits for them without an end';
    await context.withTimeout(listener.closed, `${formatOperation(read)}, ${description}`);
    assertHolds(
      listener.final === undefined,
      () => `${formatOperation(read)}: a final view, but no level is to have one`,
    );
  }, open);
}

export async function rejectsUnknownOperations(context: TestContext): Promise<void> {
  const { read } = context.subject;
  await context.withClient(async (client, binding) => {
    assertHolds(
      !binding.supports(UNKNOWN_OPERATION),
      'supports(): true for an operation that there is not',
    );
    assertHolds(binding.supports(read), () => `supports(): not true for ${formatOperation(read)}`);
    const error = await getFailure(client.invoke(UNKNOWN_OPERATION));
    assertCode(error, 'UNSUPPORTED', 'an unknown operation');
  });
}

export async function failsWithTypedError(context: TestContext, failing: Operation): Promise<void> {
  await context.withClient(async (client) => {
    const error = await getFailure(client.invoke(failing));
    assertHolds(
      error !== undefined,
      () => `${formatOperation(failing)}: a final view, but it is to fail`,
    );
    assertHolds(
      isCorrectableError(error),
      () =>
        `${formatOperation(failing)}: fails with no CorrectableError, but ${formatError(error)}`,
    );
  });
}

export async function getFailure(operation: PromiseLike<unknown>): Promise<unknown> {
  return operation.then(
    () => undefined,
    (reason: unknown) => reason,
  );
}
