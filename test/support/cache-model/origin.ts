/**
 * The store behind the cache, played by hand: it executes, answers and fails submissions when the
 * schedule requires it.
 */
import type {
  Binding,
  BindingSession,
  InvocationContext,
  Sink,
} from '../../../src/correctable/binding.ts';
import { isOlder } from '../../../src/correctable/binding.ts';
import { CorrectableError } from '../../../src/correctable/errors.ts';
import type { Operation } from '../../../src/correctable/operation.ts';
import { Count, type History } from './history.ts';
import {
  READS,
  UPDATES,
  updateKind,
  type ObjectName,
  type ReadKind,
  type Shown,
  type UpdateKind,
} from './operations.ts';
import type { CacheOptions } from './options.ts';

export const LEVELS = ['tentative', 'weak', 'strong'] as const;
type StoreLevels = typeof LEVELS;
type Level = StoreLevels[number];
type Todo = readonly ['execute' | 'answer', Level];

/** A value that was never written: guesses show it. */
export const GUESSED = -1;

/** The page that submits operations and is told how the store handles them. */
export interface Submitter {
  readonly principal: string;
  /** Whether the page was closed. Results are then ignored. */
  readonly isGone: boolean;
  began(submission: Submission): void;
  /** Called before an update is answered at a weaker level. */
  answersEarly(submission: Submission): void;
  /**
   * Called before the result is delivered. `shown` is the content of a read, its own or the one
   * that it decides.
   */
  answers(submission: Submission, level: string, shown: Shown | undefined): void;
  /** A callback of the page has thrown an error, which must not happen. */
  threw(error: unknown): void;
}

/** One operation that reached the store. */
export class Submission {
  readonly what: ReadKind | UpdateKind;
  readonly by: Submitter;
  readonly principal: string;
  readonly operation: Operation;
  readonly session: OriginSession | undefined;
  /** The idempotency key of an update, with its user. */
  readonly key: string | undefined;
  /** Whether an update with this idempotency key was executed before. */
  isReplay = false;
  readonly sink: Sink;
  /** The remaining steps of the operation, in order. */
  readonly todo: Todo[];
  /** The state that a level shows, once it was executed at that level. */
  readonly executedAt = new Map<Level, number>();
  /** When the operation began, on the counter of the checker. */
  began = 0;
  /** When the operation was first answered at a weaker level, on the counter of the checker. */
  earlyAt = 0;
  /** When its final view was given, in milliseconds; `undefined` before. */
  finalAtMs: number | undefined;
  /**
   * The number and content of the latest view that was no confirmation. A confirmation refers to
   * it.
   */
  given: { readonly seq: number; readonly text: string } | undefined;

  constructor(
    by: Submitter,
    operation: Operation,
    levels: readonly Level[],
    sink: Sink,
    context: InvocationContext,
  ) {
    this.by = by;
    this.principal = by.principal;
    this.operation = operation;
    this.what = kindOf(operation);
    this.session = context.session as OriginSession | undefined;
    const { idempotencyKey } = context;
    this.key = idempotencyKey === undefined ? undefined : `${this.principal}/${idempotencyKey}`;
    this.sink = sink;
    this.todo = this.isUpdate ? updateTodo(levels) : readTodo(levels);
  }

  get isUpdate(): boolean {
    return this.operation.access === 'write';
  }

  /** The read whose content is in the result. */
  get read(): ReadKind | undefined {
    return 'decides' in this.what ? this.what.decides : this.what;
  }
}

/** The session state of the store: how much of the history the session has seen. */
class OriginSession implements BindingSession {
  seen: number;

  constructor(seen: number) {
    this.seen = seen;
  }

  get tokens(): readonly string[] {
    return [String(this.seen)];
  }
}

export class Origin {
  readonly underWay: Submission[] = [];
  readonly #history: History;
  readonly #setting: CacheOptions;
  /** By key: the state after an update that was executed under it. */
  readonly #executedAt = new Map<string, number>();
  /** The state of the replica that gives weak views. */
  #replica: number;

  constructor(history: History, setting: CacheOptions) {
    this.#history = history;
    this.#setting = setting;
    this.#replica = history.now;
  }

  /** The binding of one page. */
  bindingOf(by: Submitter): Binding<StoreLevels> {
    return {
      name: 'origin',
      hasIdempotencyKeys: true,
      consistencyLevels: () => LEVELS,
      supports: () => true,
      isOlder: (version, than) => isBefore(version, than),
      submitOperation: (operation, levels, sink, context) => {
        const submission = new Submission(by, operation, levels, sink as Sink, context);
        this.underWay.push(submission);
        by.began(submission);
      },
      openSession: (tokens) => new OriginSession(Number(tokens?.[0] ?? 0)),
      close: async () => {
        const closed = (isUpdate: boolean): CorrectableError =>
          new CorrectableError(isUpdate ? 'UNKNOWN' : 'UNAVAILABLE', 'the page closed the store');
        for (const submission of this.underWay.filter((item) => item.by === by))
          this.#fail(submission, closed);
      },
    };
  }

  /** The replica applies the next write, or all writes. */
  replicate(all: boolean): void {
    this.#replica = all ? this.#history.now : Math.min(this.#history.now, this.#replica + 1);
  }

  /** Executes the next step of an operation, or all remaining steps. */
  go(submission: Submission, all: boolean, lag: number): void {
    for (let step = submission.todo.shift(); step !== undefined; step = submission.todo.shift()) {
      const [description, level] = step;
      if (description === 'execute') this.#execute(submission, level, lag);
      else this.#answer(submission, level);
      if (!all) break;
    }
    if (submission.todo.length === 0) this.#over(submission);
  }

  /** An operation fails. If it is an update, it may have been executed nevertheless. */
  fail(submission: Submission, hasEffect: boolean): void {
    if (hasEffect && submission.isUpdate && !submission.executedAt.has('strong'))
      this.#execute(submission, 'strong', 0);
    const wasDone = submission.executedAt.has('strong');
    this.#fail(submission, (isUpdate) => {
      const code = isUpdate && wasDone ? 'UNKNOWN' : 'UNAVAILABLE';
      return new CorrectableError(code, 'the store lost the connection');
    });
  }

  /** The store is lost, including all pending operations, and restored from a backup. */
  restoreBackup(): void {
    for (const submission of this.underWay.slice()) this.fail(submission, false);
    this.#history.restoreBackup();
    this.#executedAt.clear();
    this.replicate(true);
  }

  #fail(submission: Submission, errorOf: (isUpdate: boolean) => CorrectableError): void {
    this.#over(submission);
    if (!submission.by.isGone) submission.sink.fail(errorOf(submission.isUpdate));
  }

  #over(submission: Submission): void {
    const index = this.underWay.indexOf(submission);
    if (index >= 0) this.underWay.splice(index, 1);
  }

  #execute(submission: Submission, level: Level, lag: number): void {
    const { what: description, operation, session, key } = submission;
    const before = key === undefined ? undefined : this.#executedAt.get(key);
    if (before !== undefined) {
      submission.isReplay = true;
      submission.executedAt.set(level, before);
      return;
    }
    if ('decides' in description)
      this.#history.write(this.#parseFileNumbers(description, operation));
    if (key !== undefined) this.#executedAt.set(key, this.#history.now);
    // A single replica first applies what the session has seen, so that its views never go back.
    if (level !== 'strong') this.#replica = Math.max(this.#replica, session?.seen ?? 0);
    const at =
      level === 'strong' ? this.#history.now : Math.max(this.#weakAt(lag), session?.seen ?? 0);
    submission.executedAt.set(level, at);
    if (session !== undefined) session.seen = Math.max(session.seen, at);
  }

  /** Returns the state of the replica that answers. */
  #weakAt(lag: number): number {
    const { now, restoredAt } = this.#history;
    return this.#setting.replica === 'one' ? this.#replica : Math.max(now - lag, restoredAt, 1);
  }

  #parseFileNumbers(
    { objects }: UpdateKind,
    { name, args, key }: Operation,
  ): (readonly [ObjectName, number])[] {
    const value = args as { readonly value?: Shown } & Partial<Record<ObjectName, number>>;
    if (name === 'put') return [[key as ObjectName, value.value!.seen[key as ObjectName]!]];
    return objects.map((object) => [object, value[object] ?? this.#history.number()]);
  }

  #answer(submission: Submission, level: Level): void {
    const {
      what: description,
      operation,
      principal,
      sink,
      executedAt,
      isUpdate,
      read,
      given: input,
    } = submission;
    const isGuess = level === 'tentative';
    const at = executedAt.get(isUpdate ? 'strong' : level) ?? this.#replica;
    const seen = read && this.#history.shown(read, at, principal);
    const guess = read && {
      ...seen!,
      seen: Object.fromEntries(read.objects.map((object) => [object, GUESSED])),
    };
    const shown = isGuess ? guess : seen;
    const version = this.#history.version(this.#setting.versioning, read ?? READS[4]!, at, level);
    const details = isGuess || version === undefined ? {} : { version };
    if (submission.by.isGone) return;
    if (!isGuess && (!isUpdate || level === 'strong')) {
      const isPut = 'decides' in description && operation.name === 'put';
      const decided = isPut ? (operation.args as { readonly value: Shown }).value : shown;
      // The repeated answer to an update contains nothing new that the cache may keep.
      submission.by.answers(submission, level, submission.isReplay ? undefined : decided);
    }
    if (isUpdate && level === 'weak') submission.by.answersEarly(submission);
    const value = isUpdate && operation.name !== 'set' ? undefined : shown;
    const text = JSON.stringify(value);
    try {
      if (input !== undefined && input.text === text) sink.confirm(level, input.seq, details);
      else submission.given = { seq: sink.view(value, level, details), text };
    } catch (error) {
      submission.by.threw(error);
    }
  }
}

/** Throws where only one of two is a version of this class, as such classes do. */
function isBefore(version: unknown, than: unknown): boolean {
  const isCount = version instanceof Count || than instanceof Count;
  return isCount ? (version as Count).isBefore(than as Count) : isOlder(version, than);
}

function readTodo(levels: readonly Level[]): Todo[] {
  // A guess is made of nothing.
  return levels.flatMap((level): Todo[] => {
    const answer: Todo = ['answer', level];
    return level === 'tentative' ? [answer] : [['execute', level], answer];
  });
}

/** Executed once; its weak views come before or after. */
function updateTodo(levels: readonly Level[]): Todo[] {
  const early = levels
    .filter((level) => level !== 'strong')
    .map((level) => ['answer', level] as const);
  return [...early, ['execute', 'strong'], ['answer', 'strong']];
}

function kindOf({ name, args, key }: Operation): ReadKind | UpdateKind {
  const { keys } = args as { readonly keys?: readonly string[] };
  const objects =
    name === 'set' ? Object.keys(args as object) : (keys ?? (key === undefined ? [] : [key]));
  const full = name === 'swap' ? name : [name, ...objects].join(' ');
  const update = UPDATES.find((item) => item === full);
  return update === undefined ? READS.find((item) => item.name === full)! : updateKind(update);
}
