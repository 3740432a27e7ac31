/**
 * Runs sequences of operations on one object. The effect of an update shows in the results of later
 * operations.
 */
import type { Binding } from '../../correctable/binding.ts';
import { structurallyEqual } from '../../correctable/structural-equality.ts';
import type { Operation } from '../../correctable/operation.ts';
import { dequeue, enqueue, get, peek, put } from '../../operations/index.ts';
import type { AnyView } from '../../correctable/view.ts';
import { assertHolds, formatOperation, formatValue, runConcurrently } from './test-context.ts';
import type {
  AnyClient,
  ConformanceSubject,
  HistoryStep,
  MarkedWrite,
  TestContext,
} from './test-context.ts';
import { isVersionOlder } from './view-recorder.ts';

/** The number of objects with concurrent histories. */
const OBJECTS = 4;

export type History = (object: string) => readonly HistoryStep[];

/** Stores may outlive a test or a run, so each object is used once. */
const runId = Math.random().toString(36).slice(2, 8);
let objectCount = 0;

/** Runs the history of one object. Each step requests all levels, or only the strongest one. */
export async function followsOneHistory(
  context: TestContext,
  isOnlyStrongest: boolean,
): Promise<void> {
  await context.withClient(async (client, binding) => {
    await runConcurrently(createHistories(context.subject, binding), (history) =>
      followHistory(
        { trial: context, client, binding, isOnlyStrongest },
        history(createObjectName()),
      ),
    );
  });
}

/**
 * Runs the histories of several objects concurrently, each one step behind another, so that no two
 * of them have the same result.
 */
export async function followsManyHistories(context: TestContext): Promise<void> {
  await context.withClient(async (client, binding) => {
    await runConcurrently(createHistories(context.subject, binding), async (history) => {
      const all = Array.from({ length: OBJECTS }, () => history(createObjectName()));
      if (!isSingleObject(all))
        await followAll({ trial: context, client, binding, isOnlyStrongest: false }, all);
    });
  });
}

/**
 * Runs equal steps concurrently. Together they must have the results that they have in sequence, in
 * any order.
 */
export async function followsEqualSteps(context: TestContext): Promise<void> {
  await context.withClient(async (client, binding) => {
    for (const history of createHistories(context.subject, binding)) {
      for (const steps of groupEqualSteps(history(createObjectName())))
        await runStepsConcurrently(context, client, steps);
    }
  });
}

async function runStepsConcurrently(
  context: TestContext,
  client: AnyClient,
  steps: readonly HistoryStep[],
): Promise<void> {
  const finals = await Promise.all(
    steps.map(({ operation }) => context.getFinal(client, operation)),
  );
  const values = finals.map(({ value }) => value);
  const left = [...values];
  for (const step of steps.filter((item) => 'expected' in item)) {
    const at = left.findIndex((value) => context.isSame(value, step.expected));
    const answers = `its final views are ${values.map(formatValue).join(', ')}`;
    const requested = `${formatOperation(step.operation)}, ${steps.length} at once`;
    assertHolds(
      at >= 0,
      () => `${requested}: ${answers}, and none of those left is ${formatValue(step.expected)}`,
    );
    left.splice(at, 1);
  }
}

/** Groups consecutive steps that do the same. */
function groupEqualSteps(steps: readonly HistoryStep[]): HistoryStep[][] {
  const runs: HistoryStep[][] = [];
  for (const step of steps) {
    const before = runs.at(-1);
    if (before !== undefined && isSameOperation(before[0]!.operation, step.operation))
      before.push(step);
    else runs.push([step]);
  }
  return runs;
}

export function isSameOperation(a: Operation, b: Operation): boolean {
  return a.name === b.name && structurallyEqual(a.args, b.args);
}

interface HistoryPlace {
  readonly trial: TestContext;
  readonly client: AnyClient;
  readonly binding: Binding;
  readonly isOnlyStrongest: boolean;
}

/** The results of one object's history so far. */
class HistoryFollower {
  readonly #place: HistoryPlace;
  /** The newest version of the final views of each operation. */
  readonly #versions = new Map<string, unknown>();
  #doneSteps: string[] = [];

  constructor(place: HistoryPlace) {
    this.#place = place;
  }

  async onFinal(step: HistoryStep): Promise<void> {
    const { trial: context, client, isOnlyStrongest } = this.#place;
    const { operation } = step;
    const final = await context.getFinal(
      client,
      operation,
      isOnlyStrongest ? [client.strongest] : undefined,
    );
    const after = this.#doneSteps.length === 0 ? '' : `, after ${this.#doneSteps.join(', ')}`;
    const requested = isOnlyStrongest ? client.strongest : 'all levels';
    if ('expected' in step) {
      context.assertSame(
        final.value,
        step.expected,
        `${formatOperation(operation)}, asked for ${requested}${after}: the final view is wrong`,
      );
    }
    this.#checkVersion(formatOperation(operation), final);
    this.#doneSteps.push(
      operation.access === 'write'
        ? `${operation.name} ${formatValue(operation.args)}`
        : operation.name,
    );
  }

  #checkVersion(operation: string, view: AnyView): void {
    const { version } = view;
    const newest = this.#versions.get(operation);
    const versions = (): string =>
      `${operation}: goes back in versions: a final view of ${formatValue(version)}`;
    assertHolds(
      !view.final || view.regressed !== true,
      () => `${versions()} after a newer preliminary one`,
    );
    const isOlder = isVersionOlder(this.#place.binding, version, newest);
    assertHolds(!isOlder, () => `${versions()} after an earlier one of ${formatValue(newest)}`);
    if (version !== undefined) this.#versions.set(operation, version);
  }
}

async function followHistory(place: HistoryPlace, steps: readonly HistoryStep[]): Promise<void> {
  const follower = new HistoryFollower(place);
  for (const step of steps) await follower.onFinal(step);
}

async function followAll(
  place: HistoryPlace,
  histories: readonly (readonly HistoryStep[])[],
): Promise<void> {
  const followers = histories.map((steps, behind) => ({
    steps,
    behind,
    follower: new HistoryFollower(place),
  }));
  const ticks = Math.max(...followers.map(({ steps, behind }) => steps.length + behind));
  for (let tick = 0; tick < ticks; tick++) {
    const now = followers.flatMap(({ steps, behind, follower }) => {
      const step = steps[tick - behind];
      return step === undefined ? [] : [follower.onFinal(step)];
    });
    await Promise.all(now);
  }
}

/** Returns the histories of the author, or those of the portable operations. */
export function createHistories(
  { history, write, read, expected }: ConformanceSubject,
  binding: Binding,
): readonly History[] {
  if (history !== undefined) return [history];
  const portable = [createKeysHistory, createQueueHistory].filter((item) =>
    item('any').every(({ operation }) => binding.supports(operation)),
  );
  if (portable.length > 0) return portable;
  const reading = { operation: read, expected };
  return [() => [{ operation: write }, reading, reading, reading]];
}

function createKeysHistory(object: string): readonly HistoryStep[] {
  return [1, 2, 3, 4, 5, 6].flatMap((n) => {
    const value = `${object} ${n}`;
    const reading = { operation: get(object), expected: value };
    return [{ operation: put(object, value) }, reading, reading];
  });
}

/** Adds items, reads the first one, takes it, and takes one more at the end. */
const QUEUE_STEPS = [
  '+1',
  '?1',
  '+2',
  '+3',
  '?1',
  '-1',
  '?2',
  '-2',
  '+4',
  '?3',
  '+5',
  '+6',
  '-3',
  '-4',
  '-5',
  '-6',
];

function createQueueHistory(object: string): readonly HistoryStep[] {
  const steps = QUEUE_STEPS.map((step): HistoryStep => {
    const item = `${object} ${step.slice(1)}`;
    if (step.startsWith('+')) return { operation: enqueue(object, item) };
    return {
      operation: step.startsWith('?') ? peek(object) : dequeue(object),
      expected: { item },
    };
  });
  return [...steps, { operation: dequeue(object), expected: null }];
}

/** Returns whether the history is the same for every name, so that there is only one object. */
export function isSingleObject([
  first = [],
  ...others
]: readonly (readonly HistoryStep[])[]): boolean {
  return others.every((other) =>
    first.every(
      ({ operation }, at) =>
        other[at] !== undefined && isSameOperation(operation, other[at].operation),
    ),
  );
}

/**
 * Returns the first update of the history of a new object, if the second step is a read that shows
 * whether the update was executed.
 */
export function createMark(subject: ConformanceSubject, binding: Binding): MarkedWrite | undefined {
  const [history] = createHistories(subject, binding);
  const [first, second] = history!(createObjectName());
  const isMark =
    first?.operation.access === 'write' &&
    second?.operation.access === 'read' &&
    'expected' in second;
  const isOther = isMark && !isSameOperation(first.operation, subject.write);
  return isOther
    ? {
        write: first.operation,
        read: second.operation,
        expected: second.expected,
      }
    : undefined;
}

/**
 * Returns as many marks as possible, each for its own object. A mark is an update and its expected
 * result. Returns none if histories do not begin like this, or if there is only one object.
 */
export function createMarks(
  subject: ConformanceSubject,
  binding: Binding,
  count: number,
): readonly MarkedWrite[] {
  const tags = Array.from({ length: count }, () => createMark(subject, binding)).filter(
    (mark) => mark !== undefined,
  );
  const [first, second] = tags;
  if (first === undefined || second === undefined) return [];
  return isSameOperation(first.write, second.write) ? [] : tags;
}

export function createObjectName(): string {
  objectCount += 1;
  return `contract-${runId}-${objectCount}`;
}
