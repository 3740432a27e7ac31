/** What is done to one object in turn, and what that gives: what an update has done is known by what comes after it. */
import type { Binding } from '../../correctable/binding.ts';
import { structurallyEqual } from '../../correctable/equal.ts';
import type { Operation } from '../../correctable/operation.ts';
import { dequeue, enqueue, get, peek, put } from '../../operations/index.ts';
import type { AnyView } from '../../correctable/view.ts';
import { hold, nameOf, show, sideBySide } from './trial.ts';
import type { AnyClient, ContractSubject, HistoryStep, Mark, Trial } from './trial.ts';
import { isVersionOlder } from './listener.ts';

/** So many objects have their histories at the same time. */
const OBJECTS = 4;

export type History = (object: string) => readonly HistoryStep[];

/** Stores may outlive a test, and a run: no object is used twice. */
const run = Math.random().toString(36).slice(2, 8);
let objects = 0;

/** One object's history, every step asked for all levels, or for the strongest one alone. */
export async function keepsOneHistory(trial: Trial, isOnlyStrongest: boolean): Promise<void> {
  await trial.withClient(async (client, binding) => {
    await sideBySide(historiesOf(trial.subject, binding), (history) =>
      follow({ trial, client, binding, isOnlyStrongest }, history(nextObject())),
    );
  });
}

/** Several objects at once, each a step behind the one before it, so that no two of them have the same to say. */
export async function keepsManyHistories(trial: Trial): Promise<void> {
  await trial.withClient(async (client, binding) => {
    await sideBySide(historiesOf(trial.subject, binding), async (history) => {
      const all = Array.from({ length: OBJECTS }, () => history(nextObject()));
      if (!areOfOneObject(all)) await abreast({ trial, client, binding, isOnlyStrongest: false }, all);
    });
  });
}

/**
 * One object, equal steps that follow each other all at once: whichever comes first, together they have the answers that
 * they would have had in turn. Who confirms guesses without looking gives two of them the same.
 */
export async function keepsEqualSteps(trial: Trial): Promise<void> {
  await trial.withClient(async (client, binding) => {
    for (const history of historiesOf(trial.subject, binding)) {
      for (const steps of runsOf(history(nextObject()))) await atOnce(trial, client, steps);
    }
  });
}

async function atOnce(trial: Trial, client: AnyClient, steps: readonly HistoryStep[]): Promise<void> {
  const finals = await Promise.all(steps.map(({ operation }) => trial.finalOf(client, operation)));
  const values = finals.map(({ value }) => value);
  const left = [...values];
  for (const step of steps.filter((each) => 'expected' in each)) {
    const at = left.findIndex((value) => trial.isSame(value, step.expected));
    const answers = `its final views are ${values.map(show).join(', ')}`;
    const asked = `${nameOf(step.operation)}, ${steps.length} at once`;
    hold(at >= 0, () => `${asked}: ${answers}, and none of those left is ${show(step.expected)}`);
    left.splice(at, 1);
  }
}

/** Steps that follow each other and do the same, together. */
function runsOf(steps: readonly HistoryStep[]): HistoryStep[][] {
  const runs: HistoryStep[][] = [];
  for (const step of steps) {
    const before = runs.at(-1);
    if (before !== undefined && isSameOperation(before[0]!.operation, step.operation)) before.push(step);
    else runs.push([step]);
  }
  return runs;
}

export function isSameOperation(a: Operation, b: Operation): boolean {
  return a.name === b.name && structurallyEqual(a.args, b.args);
}

interface Place {
  readonly trial: Trial;
  readonly client: AnyClient;
  readonly binding: Binding;
  readonly isOnlyStrongest: boolean;
}

/** What the finals of one object's history have said so far. */
class Follower {
  readonly #place: Place;
  /** The newest version that a final view of each operation has had. */
  readonly #versions = new Map<string, unknown>();
  #done: string[] = [];

  constructor(place: Place) {
    this.#place = place;
  }

  async take(step: HistoryStep): Promise<void> {
    const { trial, client, isOnlyStrongest } = this.#place;
    const { operation } = step;
    const final = await trial.finalOf(client, operation, isOnlyStrongest ? [client.strongest] : undefined);
    const after = this.#done.length === 0 ? '' : `, after ${this.#done.join(', ')}`;
    const asked = isOnlyStrongest ? client.strongest : 'all levels';
    if ('expected' in step) {
      trial.same(
        final.value,
        step.expected,
        `${nameOf(operation)}, asked for ${asked}${after}: the final view is wrong`,
      );
    }
    this.#judgeVersion(nameOf(operation), final);
    this.#done.push(operation.effect === 'update' ? `${operation.name} ${show(operation.args)}` : operation.name);
  }

  #judgeVersion(operation: string, view: AnyView): void {
    const { version } = view;
    const newest = this.#versions.get(operation);
    const versions = (): string => `${operation}: goes back in versions: a final view of ${show(version)}`;
    hold(!view.final || view.regressed !== true, () => `${versions()} after a newer preliminary one`);
    const isOlder = isVersionOlder(this.#place.binding, version, newest);
    hold(!isOlder, () => `${versions()} after an earlier one of ${show(newest)}`);
    if (version !== undefined) this.#versions.set(operation, version);
  }
}

async function follow(place: Place, steps: readonly HistoryStep[]): Promise<void> {
  const follower = new Follower(place);
  for (const step of steps) await follower.take(step);
}

async function abreast(place: Place, histories: readonly (readonly HistoryStep[])[]): Promise<void> {
  const followers = histories.map((steps, behind) => ({ steps, behind, follower: new Follower(place) }));
  const ticks = Math.max(...followers.map(({ steps, behind }) => steps.length + behind));
  for (let tick = 0; tick < ticks; tick++) {
    const now = followers.flatMap(({ steps, behind, follower }) => {
      const step = steps[tick - behind];
      return step === undefined ? [] : [follower.take(step)];
    });
    await Promise.all(now);
  }
}

/** Those of the author, or those that the vocabulary gives. */
export function historiesOf(
  { history, update, read, expected }: ContractSubject,
  binding: Binding,
): readonly History[] {
  if (history !== undefined) return [history];
  const portable = [keysHistory, queueHistory].filter((each) =>
    each('any').every(({ operation }) => binding.supports(operation)),
  );
  if (portable.length > 0) return portable;
  const reading = { operation: read, expected };
  return [() => [{ operation: update }, reading, reading, reading]];
}

function keysHistory(object: string): readonly HistoryStep[] {
  return [1, 2, 3, 4, 5, 6].flatMap((n) => {
    const value = `${object} ${n}`;
    const reading = { operation: get(object), expected: value };
    return [{ operation: put(object, value) }, reading, reading];
  });
}

/** Adds items, looks at the first one, takes it, and takes once more in the end. */
const QUEUE_STEPS = ['+1', '?1', '+2', '+3', '?1', '-1', '?2', '-2', '+4', '?3', '+5', '+6', '-3', '-4', '-5', '-6'];

function queueHistory(object: string): readonly HistoryStep[] {
  const steps = QUEUE_STEPS.map((step): HistoryStep => {
    const item = `${object} ${step.slice(1)}`;
    if (step.startsWith('+')) return { operation: enqueue(object, item) };
    return { operation: step.startsWith('?') ? peek(object) : dequeue(object), expected: { item } };
  });
  return [...steps, { operation: dequeue(object), expected: null }];
}

/** The same is done whatever the object is called: there is only one. */
export function areOfOneObject([first = [], ...others]: readonly (readonly HistoryStep[])[]): boolean {
  return others.every((other) =>
    first.every(({ operation }, at) => other[at] !== undefined && isSameOperation(operation, other[at].operation)),
  );
}

/** The update with which the history of a new object begins, where a read follows that shows whether it was done. */
export function nextMark(subject: ContractSubject, binding: Binding): Mark | undefined {
  const [history] = historiesOf(subject, binding);
  const [first, second] = history!(nextObject());
  const isMark = first?.operation.effect === 'update' && second?.operation.effect === 'read' && 'expected' in second;
  const isOther = isMark && !isSameOperation(first.operation, subject.update);
  return isOther ? { update: first.operation, read: second.operation, expected: second.expected } : undefined;
}

/**
 * As many marks, each of an object of its own; none where the histories do not begin with an update and what shows it, or
 * where there is only one object.
 */
export function nextMarks(subject: ContractSubject, binding: Binding, count: number): readonly Mark[] {
  const marks = Array.from({ length: count }, () => nextMark(subject, binding)).filter((mark) => mark !== undefined);
  const [first, second] = marks;
  if (first === undefined || second === undefined) return [];
  return isSameOperation(first.update, second.update) ? [] : marks;
}

export function nextObject(): string {
  objects += 1;
  return `contract-${run}-${objects}`;
}
