/**
 * Faults of a transaction layer, planted between it and any store that has `readVersions` and
 * `commit`. Histories with them must be found faulty, or the checkers prove nothing.
 */
import {
  CorrectableError,
  isCorrectableError,
  type Binding,
  type InvocationContext,
  type Sink,
} from '../../../src/index.ts';
import type { Operation } from '../../../src/correctable/operation.ts';
import type {
  CommitArgs,
  ReadVersionsArgs,
  VersionedValue,
} from '../../../src/operations/index.ts';
import type { Random } from '../../../src/server/service/collections/random.ts';
import type { Transact } from './run-list-append.ts';

export type PlantedFault =
  /** The commit does not check the version of the key that was read first. */
  | 'unchecked version'
  /** A read does not look again at what the same run read before. */
  | 'no second read'
  /** What the function throws is reported without a look at what it has read. */
  | 'no validation'
  /** A transaction whose commit is of unknown outcome runs again. */
  | 'unknown run again';

export const PLANTED_FAULTS: readonly PlantedFault[] = [
  'unchecked version',
  'no second read',
  'no validation',
  'unknown run again',
];

/**
 * Returns the binding with a fault. For `unknown run again`, use `runUnknownAgain` and
 * `loseAnswers`.
 */
export function plantFault<B extends Binding>(binding: B, fault: PlantedFault): B {
  return replaceSubmit(binding, (inner, { operation, levels, sink, context }) => {
    const { name, args } = operation;
    if (name === 'commit' && fault === 'unchecked version') {
      const { reads, writes } = args as CommitArgs;
      return inner.submitOperation(
        withArgs(operation, { reads: reads.slice(1), writes }),
        levels,
        sink,
        context,
      );
    }
    if (name !== 'readVersions') return inner.submitOperation(operation, levels, sink, context);

    const { keys, known } = args as ReadVersionsArgs;
    const unchanged = keys.map((_, at): VersionedValue | undefined => {
      const version = known?.[at] ?? null;
      return version === null ? undefined : { version };
    });
    const isValidation = unchanged.every((value) => value !== undefined);
    if (fault === 'no validation' && isValidation)
      return void sink.view(unchanged, levels.at(-1)!, { final: true });
    if (fault !== 'no second read' || isValidation)
      return inner.submitOperation(operation, levels, sink, context);

    const unknown = keys.filter((_, at) => unchanged[at] === undefined);
    const complete = (values: unknown): VersionedValue[] => {
      const fresh = [...(values as readonly VersionedValue[])];
      return unchanged.map((value) => value ?? fresh.shift()!);
    };
    const completing: Sink = {
      ...pass(sink),
      view: (value, ...how) => sink.view(complete(value), ...how),
    };
    return inner.submitOperation(
      withArgs(operation, { keys: unknown }),
      levels,
      completing,
      context,
    );
  });
}

/** Loses the answers of a tenth of the commits that write, so their outcome is unknown. */
export function loseAnswers<B extends Binding>(binding: B, random: Random): B {
  return replaceSubmit(binding, (inner, { operation, levels, sink, context }) => {
    const isWrite = operation.name === 'commit' && (operation.args as CommitArgs).writes.length > 0;
    const isLost = isWrite && random.chance(0.1);
    if (!isLost) return inner.submitOperation(operation, levels, sink, context);

    const strongest = levels.at(-1);
    const lose = (): void =>
      sink.fail(new CorrectableError('UNKNOWN', 'The answer to the commit was lost.'));
    const losing: Sink = {
      ...pass(sink),
      view: (value, level, details) =>
        level === strongest ? (lose(), 0) : sink.view(value, level, details),
      confirm: (level, seq, details) =>
        level === strongest ? lose() : sink.confirm(level, seq, details),
    };
    return inner.submitOperation(operation, levels, losing, context);
  });
}

/** Runs a transaction of unknown outcome again, which is the last of the planted faults. */
export function runUnknownAgain(transact: Transact): Transact {
  return async (...args) => {
    for (;;) {
      try {
        return await transact(...args);
      } catch (error) {
        if (!isCorrectableError(error, 'UNKNOWN')) throw error;
      }
    }
  };
}

interface Submission {
  readonly operation: Operation<unknown>;
  readonly levels: readonly string[];
  readonly sink: Sink;
  readonly context: InvocationContext;
}

/**
 * A handle of its own, since a client would open one of the binding and pass by what is replaced.
 */
function replaceSubmit<B extends Binding>(
  binding: B,
  submit: (inner: Binding, submission: Submission) => void | PromiseLike<void>,
): B {
  const inner = (binding.openHandle?.() ?? binding) as B;
  const submitOperation: Binding['submitOperation'] = (operation, levels, sink, context) =>
    submit(inner, { operation, levels, sink: sink as Sink, context });
  return new Proxy(inner, {
    get: (_, name) => {
      if (name === 'submitOperation') return submitOperation;
      if (name === 'openHandle') return undefined;
      const value: unknown = Reflect.get(inner, name, inner);
      return typeof value === 'function' ? value.bind(inner) : value;
    },
  });
}

function withArgs(
  operation: Operation<unknown>,
  args: CommitArgs | ReadVersionsArgs,
): Operation<unknown> {
  return { ...operation, args };
}

/** A sink need not be an object of its own methods. */
function pass(sink: Sink): Sink {
  return {
    view: (...args) => sink.view(...args),
    confirm: (...args) => sink.confirm(...args),
    fail: (...args) => sink.fail(...args),
  };
}
