/**
 * Bindings that keep their contract until something comes together: load, others that leave, a
 * repeat, a level that is down.
 */
import type { InvocationContext, Operation, Sink } from '../../src/index.ts';
import { CorrectableError } from '../../src/index.ts';
import type { ConformanceSubject, HistoryStep, OpenedBinding } from '../../src/testing/index.ts';
import {
  FAR_BEHIND,
  SLOW,
  add,
  Tally,
  total,
  type Call,
  type Count,
  type Level,
  type Planted,
} from './buggy-bindings.ts';

const isUpdate = ({ operation }: Call): boolean => operation.access === 'write';

/** A tally that knows which call a submission has made, and with which context. */
abstract class Noting extends Tally {
  protected abstract note(call: Call, context: InvocationContext): void;

  override submitOperation<T>(
    operation: Operation<T>,
    levels: readonly Level[],
    sink: Sink<T, Level>,
    context: InvocationContext,
  ): void {
    super.submitOperation(operation, levels, sink, context);
    this.note([...this.calls].at(-1)!, context);
  }
}

class LabelsWeakStrong extends Tally {
  protected override answerWeak(call: Call): void {
    if (call.levels.includes('strong') || isUpdate(call)) super.answerWeak(call);
    else call.sink.view(this.read(call, this.backup).total, 'strong');
  }
}

class LosesUnderLoad extends Tally {
  protected override apply(call: Call): void {
    if ([...this.calls].filter(isUpdate).length <= 10) super.apply(call);
  }
}

/** Answers the updates all the same. */
class DropsWithReads extends Tally {
  readonly #dropped = new Set<Call>();

  protected override listen(call: Call): void {
    const leave = (): void => {
      for (const item of this.calls)
        if (item.operation.key === call.operation.key) this.#dropped.add(item);
      this.leave(call);
    };
    call.signal.addEventListener('abort', leave);
    call.release = () => call.signal.removeEventListener('abort', leave);
  }

  protected override apply(call: Call): void {
    if (!this.#dropped.has(call)) super.apply(call);
  }
}

class EndsUpdatesTogether extends Noting {
  protected note(call: Call, { signal }: InvocationContext): void {
    if (!isUpdate(call)) return;
    const end = (): void => {
      for (const item of [...this.calls].filter((other) => other !== call && isUpdate(other))) {
        this.leave(item);
        item.sink.fail(new CorrectableError('UNKNOWN', 'connection reset'));
      }
    };
    signal.addEventListener('abort', end);
    call.release = () => signal.removeEventListener('abort', end);
  }
}

/** A read that joins another one in flight gets the result of that one. */
class JoinsOlderReads extends Noting {
  readonly #asked = new Map<Call, Count>();

  protected note(call: Call): void {
    if (isUpdate(call)) return;
    const isEqual = (other: Call): boolean =>
      other !== call && !isUpdate(other) && this.keyOf(other) === this.keyOf(call);
    const older = [...this.calls].find(isEqual);
    this.#asked.set(call, (older && this.#asked.get(older)) ?? this.read(call, this.primary));
  }

  protected override deliverFinal(call: Call, count: Count): void {
    super.deliverFinal(call, this.#asked.get(call) ?? count);
  }
}

/** Keeps, as it is meant, what was submitted by which name: the answer too, for who comes later. */
export class Once extends Noting {
  readonly isExactlyOnce = true;
  protected readonly first = new Map<unknown, Call>();
  protected readonly repeats = new Map<Call, Call>();
  protected readonly answers = new Map<Call, Count>();

  protected nameOf({ operationId }: InvocationContext): unknown {
    return operationId;
  }

  protected note(call: Call, context: InvocationContext): void {
    const name = this.nameOf(context);
    if (name === undefined || !isUpdate(call)) return;
    const first = this.first.get(name);
    if (first === undefined) this.first.set(name, call);
    else this.repeats.set(call, first);
  }

  protected override apply(call: Call): void {
    if (this.repeats.has(call)) return;
    super.apply(call);
    this.answers.set(call, this.read(call, this.primary));
  }

  protected override answerWeak(call: Call): void {
    if (!this.repeats.has(call)) super.answerWeak(call);
  }

  protected override deliverFinal(call: Call, count: Count): void {
    super.deliverFinal(call, this.answers.get(this.repeats.get(call) ?? call) ?? count);
  }
}

class OnceBySequence extends Once {
  protected override nameOf({ origin }: InvocationContext): unknown {
    return origin?.sequence;
  }
}

class OnceIfEnded extends Once {
  protected override note(call: Call, context: InvocationContext): void {
    super.note(call, context);
    const first = this.repeats.get(call);
    if (first !== undefined && this.calls.has(first)) this.repeats.delete(call);
  }
}

class OnceWithoutAnswer extends Once {
  protected override deliverFinal(call: Call, count: Count): void {
    if (this.repeats.has(call)) call.sink.view(null, 'strong');
    else super.deliverFinal(call, count);
  }
}

class FailsReadsWithWeak extends Tally {
  protected override answerWeak(call: Call): void {
    if (isUpdate(call)) return;
    this.leave(call);
    call.sink.fail(new CorrectableError('UNAVAILABLE', 'the backup is down'));
  }

  protected override levelsOf(requested: readonly Level[]): readonly Level[] {
    return requested.includes('strong') ? requested : ['strong'];
  }
}

class WaitsForHanging extends Tally {
  protected override answerWeak(): void {}

  protected override answerStrong(call: Call): void {
    if (isUpdate(call)) super.answerStrong(call);
  }
}

class GuessesGarbageOfUpdates extends Tally {
  protected override answerWeak(call: Call): void {
    if (isUpdate(call)) call.guess = call.sink.view('502 Bad Gateway', 'weak', {});
    else super.answerWeak(call);
  }
}

/**
 * Shows nothing older than what a session has written and seen: by key, the total that it has to
 * show at least.
 */
export class SessionTally extends Noting {
  protected readonly sessions = new Map<Call, Map<string, number>>();
  readonly #seen = new WeakMap<object, Map<string, number>>();

  openSession(): object {
    const session = {};
    this.#seen.set(session, new Map());
    return session;
  }

  protected note(call: Call, { session }: InvocationContext): void {
    const seen = session && this.#seen.get(session);
    if (seen !== undefined) this.sessions.set(call, seen);
  }

  protected keep(seen: Map<string, number>, key: string, count: number): void {
    seen.set(key, Math.max(count, seen.get(key) ?? 0));
  }

  protected keepRead(seen: Map<string, number>, key: string, count: number): void {
    this.keep(seen, key, count);
  }

  protected override apply(call: Call): void {
    super.apply(call);
    const seen = this.sessions.get(call);
    if (seen !== undefined) this.keep(seen, this.keyOf(call), this.read(call, this.primary).total);
  }

  protected override deliverFinal(call: Call, count: Count): void {
    const seen = this.sessions.get(call);
    if (seen !== undefined && !isUpdate(call)) this.keepRead(seen, this.keyOf(call), count.total);
    super.deliverFinal(call, count);
  }

  protected override answerWeak(call: Call): void {
    const seen = this.sessions.get(call);
    const key = this.keyOf(call);
    if (seen === undefined || isUpdate(call)) super.answerWeak(call);
    else if (this.read(call, this.backup).total >= (seen.get(key) ?? 0)) {
      this.keepRead(seen, key, this.read(call, this.backup).total);
      super.answerWeak(call);
    } else if (!call.levels.includes('strong'))
      this.deliverFinal(call, this.read(call, this.primary));
  }
}

class KeepsLastWrite extends SessionTally {
  protected override keep(seen: Map<string, number>, key: string, count: number): void {
    seen.clear();
    super.keep(seen, key, count);
  }

  protected override keepRead(): void {}
}

class ForgetsReads extends SessionTally {
  protected override keepRead(): void {}
}

class ChangesDeliveredValues extends Tally {
  readonly #delivered = new Map<Call, { n: number }>();

  protected override answerWeak(call: Call): void {
    const { total: count } = this.read(call, this.backup);
    const reported = { n: isUpdate(call) ? count + 1 : count };
    this.#delivered.set(call, reported);
    call.sink.view(reported, 'weak', {});
  }

  protected override deliverFinal(call: Call, count: Count): void {
    const reported = this.#delivered.get(call) ?? { n: 0 };
    reported.n = count.total;
    call.sink.view(reported, 'strong', { version: count.version });
  }
}

class DeniesWhatIsSent extends Noting {
  protected note(call: Call, context: InvocationContext): void {
    if (!isUpdate(call)) return;
    setImmediate(
      () => (context.submissionStatus = { mayHaveBeenSent: false, blockedBy: undefined }),
    );
  }
}

const objects = (object: string): HistoryStep[] =>
  [1, 2, 3].flatMap((n) => [
    { operation: add(object), expected: { n } },
    { operation: total(object), expected: { n } },
  ]);

const opened = (make: new () => Tally) => async (): Promise<OpenedBinding> => ({
  binding: new make(),
});

const inObjects: Partial<ConformanceSubject> = { history: objects, expected: { n: 1 } };

export const PLANTED_IN_CIRCUMSTANCES: Readonly<Record<string, Planted>> = {
  'labels a weak view that is requested alone as strong': {
    make: LabelsWeakStrong,
    delays: FAR_BEHIND,
    test: 'read: each level, just after a write → the strongest level shows it',
    message: 'a view delivered at strong is 0, not 1',
  },
  'loses writes under load': {
    make: LosesUnderLoad,
    test: 'write: many objects at once → each done once',
    message: 'acknowledged as one of 20 writes at once: the final view is wrong: 0, not 1',
  },
  'drops writes with a read that is aborted': {
    make: DropsWithReads,
    test: 'cancel: a read and a write leave → others are done all the same',
    message:
      'a write was acknowledged, while others were cancelled: the final view is wrong: 0, not 1',
  },
  'ends all writes with one that is aborted': {
    make: EndsUpdatesTogether,
    test: 'cancel: a read and a write leave → others are done all the same',
    message: 'ends with others that were cancelled: UNKNOWN: ',
  },
  'gives a read the result of an older one in flight': {
    make: JoinsOlderReads,
    delays: SLOW,
    test: 'read: begun after a write, with older reads in flight → shows it',
    message: 'begun after the write was acknowledged, with older reads in flight: wrong: 0, not 1',
  },
  'knows repeats by their sequence alone': {
    make: OnceBySequence,
    test: 'write: submitted twice under one name → done once, if the binding declares so',
    message:
      'isExactlyOnce is true, but a write is taken for that of another client with the same sequence: 0, not 1',
  },
  'knows repeats of what has ended alone': {
    make: OnceIfEnded,
    test: 'write: submitted twice under one name → done once, if the binding declares so',
    message: 'submitted twice with one operationId, the first still in flight, is done twice',
  },
  'has no answer for a repeat': {
    make: OnceWithoutAnswer,
    test: 'write: submitted twice under one name → done once, if the binding declares so',
    message: '"add" of "k", submitted twice with one operationId, gives 1, then null',
  },
  'fails reads with their weaker levels': {
    make: FailsReadsWithWeak,
    test: 'read: weaker levels fail → does not fail with them',
    message: '"total" of "k": fails with its weaker levels: UNAVAILABLE: the backup is down',
    more: { weakLevelFails: { fail: opened(FailsReadsWithWeak) } },
  },
  'waits for weaker levels that hang': {
    make: Tally,
    test: 'read: the strongest level fails, weaker ones hang → ends all the same',
    message:
      '"total" of "k", whose strongest level has failed and whose weaker ones hang: waits for them without an end',
    more: { neverResponds: opened(WaitsForHanging) },
  },
  'gives garbage as preliminary views of writes': {
    make: GuessesGarbageOfUpdates,
    test: 'write: preliminary views → what it has given, or would have',
    message:
      'asked for weak, strong: the view at weak is "502 Bad Gateway", which it has never given: 1',
  },
  'keeps the last write of a session alone': {
    make: KeepsLastWrite,
    delays: FAR_BEHIND,
    test: 'session: read after write → every view shows the write',
    message:
      'asked for weak, in the session that wrote several objects: does not show what it wrote: the view at weak: 0, not 1',
  },
  'forgets what a session has read': {
    make: ForgetsReads,
    delays: FAR_BEHIND,
    test: 'session: read after write → every view shows the write',
    message:
      'asked for weak, goes back in its session, behind what it has read: the view at weak: 0, not 1',
  },
  'changes values that it has delivered': {
    make: ChangesDeliveredValues,
    delays: FAR_BEHIND,
    test: 'sink: every call → a requested level or above, confirms only what was delivered',
    message: 'delivered as {"n":',
    more: inObjects,
  },
  'reports sent operations as not sent': {
    make: DeniesWhatIsSent,
    delays: SLOW,
    test: 'write: cancelled at any time → not done later if it was reported as not done',
    message: 'cancelled: reported as not done (ABORTED: ',
  },
};
