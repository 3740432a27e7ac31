/** Checks the values of weaker views: they may be old, but must be values of this object. */
import type { Levels } from '../../correctable/level-types.ts';
import type { Operation } from '../../correctable/operation.ts';
import {
  assertHolds,
  formatOperation,
  formatValue,
  runConcurrently,
  type AnyClient,
  type HistoryStep,
  type MarkedWrite,
  type TestContext,
} from './test-context.ts';
import {
  isSingleObject,
  createHistories,
  isSameOperation,
  createMarks,
  createObjectName,
  type History,
} from './histories.ts';

/**
 * The number of updates of an object. If a store returns wrong values, it does so within this
 * number.
 */
const WRITES = 3;
/**
 * The number of updates of the first object before the second one is read, which must not show
 * values of the first.
 */
const WRITES_AHEAD = 2;

/** An object before its first read. */
interface UnreadObject {
  readonly read: Operation;
  readonly writes: readonly Operation[];
  /** The values that the object has had, as far as views at the strongest level have shown them. */
  readonly knownValues: unknown[];
}

/**
 * Checks that any level shows only past or present values of the strongest. A second object shows
 * mixed-up data.
 */
export async function showsPastValues(context: TestContext): Promise<void> {
  await context.withClient(async (client, binding) => {
    await runConcurrently(createHistories(context.subject, binding), (history) =>
      checkTwoObjects(context, client, history),
    );
  });
}

async function checkTwoObjects(
  context: TestContext,
  client: AnyClient,
  history: History,
): Promise<void> {
  const steps = [history(createObjectName()), history(createObjectName())];
  const [first, second] = steps.map((item) => createUnreadObject(item));
  if (!first || !second) return;
  if (isSingleObject(steps)) {
    await followObject(context, client, first);
    await followObject(context, client, {
      ...second,
      knownValues: first.knownValues,
    });
    return;
  }
  let goOn: () => void;
  const isAhead = new Promise<void>((resolve) => (goOn = resolve));
  await runConcurrently([first, second], async (object) => {
    if (object === first)
      await followObject(context, client, first, () => goOn()).finally(() => goOn());
    else await isAhead.then(() => followObject(context, client, second));
  });
}

function createUnreadObject(steps: readonly HistoryStep[]): UnreadObject | undefined {
  const operations = steps.map(({ operation }) => operation);
  const read = operations.find(({ access }) => access === 'read');
  const writes = operations.filter(({ access }) => access === 'write').slice(0, WRITES);
  return read && { read, writes, knownValues: [] };
}

async function followObject(
  context: TestContext,
  client: AnyClient,
  { read, writes, knownValues }: UnreadObject,
  onAhead?: () => void,
): Promise<void> {
  knownValues.push(await readAndCheck(context, client, read, knownValues));
  for (const [at, update] of writes.entries()) {
    if (at === WRITES_AHEAD) onAhead?.();
    await context.getFinal(client, update);
    knownValues.push(await readAndCheck(context, client, read, knownValues));
  }
}

/**
 * Returns the result of the strongest read. Every weaker view must have this value or a known one.
 */
async function readAndCheck(
  context: TestContext,
  client: AnyClient,
  read: Operation,
  before: readonly unknown[],
): Promise<unknown> {
  const { value: newest } = await context.getFinal(client, read, [client.strongest]);
  const known = [...before, newest];
  const alone = client.levels.slice(0, -1).map((level): [string] => [level]);
  for (const levels of [client.levels, ...alone])
    await checkValues(context, client, { operation: read, known, levels });
  return newest;
}

/**
 * The number of objects that are read just after their update, because weaker copies may be up to
 * date by chance.
 */
const OBJECTS = 4;

/**
 * Checks that a view that has the strongest level shows every update that was acknowledged before,
 * whatever was requested.
 */
export async function reportsReachedLevels(context: TestContext): Promise<void> {
  await context.withClient(async (client, binding) => {
    for (const mark of createMarks(context.subject, binding, OBJECTS))
      await checkReachedLevels(context, client, mark);
  });
}

async function checkReachedLevels(
  context: TestContext,
  client: AnyClient,
  { write, read, expected }: MarkedWrite,
): Promise<void> {
  await context.getFinal(client, write);
  const requests = [...client.levels.map((level): [string] => [level]), client.levels];
  await runConcurrently(requests, async (levels) => {
    for (const { level, value } of await context.collectViews(client, read, levels)) {
      if (level !== client.strongest) continue;
      const requested = `${formatOperation(read)}, asked for ${levels.join(', ')}, after ${formatOperation(write)}`;
      assertHolds(
        context.isSame(value, expected),
        () =>
          `${requested}: a view delivered at ${level} is ${formatValue(value)}, not ${formatValue(expected)}`,
      );
    }
  });
}

/**
 * Checks preliminary views of repeated equal updates. Each must be one of the results so far. The
 * updates come from histories.
 */
export async function guessesPastValues(context: TestContext): Promise<void> {
  await context.withClient(async (client, binding) => {
    await runConcurrently(createHistories(context.subject, binding), async (history) => {
      await followWrites(context, client, takeEqualWrites(history(createObjectName())));
      await checkPreliminaryOnly(context, client, takeEqualWrites(history(createObjectName())));
    });
  });
}

/** Returns the steps before another update, or before a step without a known result. */
function takeEqualWrites(steps: readonly HistoryStep[]): HistoryStep[] {
  const updates = steps.filter(({ operation }) => operation.access === 'write');
  const end = updates.findIndex(
    (step) => !('expected' in step) || !isSameOperation(step.operation, updates[0]!.operation),
  );
  return end < 0 ? updates : updates.slice(0, end);
}

async function followWrites(
  context: TestContext,
  client: AnyClient,
  steps: readonly HistoryStep[],
): Promise<void> {
  const known: unknown[] = [];
  for (const { operation, expected } of steps) {
    known.push(expected);
    await checkValues(context, client, {
      operation,
      known,
      levels: client.levels,
    });
  }
}

/** If only the preliminary view is requested, it is the only view that the caller gets. */
async function checkPreliminaryOnly(
  context: TestContext,
  client: AnyClient,
  [first]: readonly HistoryStep[],
): Promise<void> {
  if (first === undefined) return;
  const { operation, expected } = first;
  const levels: Levels = [client.weakest];
  await checkValues(context, client, { operation, known: [expected], levels });
}

interface ValuesCheck {
  readonly operation: Operation;
  /** The values that its views may have. */
  readonly known: readonly unknown[];
  readonly levels: Levels;
}

async function checkValues(
  context: TestContext,
  client: AnyClient,
  { operation, known, levels }: ValuesCheck,
): Promise<void> {
  for (const { level, value } of await context.collectViews(client, operation, levels)) {
    const was = known.some((item) => context.isSame(value, item));
    const requested = `${formatOperation(operation)}, asked for ${levels.join(', ')}`;
    const those = (): string => known.map(formatValue).join(', ');
    assertHolds(
      was,
      () =>
        `${requested}: the view at ${level} is ${formatValue(value)}, which it has never given: ${those()}`,
    );
  }
}
