/** Implements the operations of an application's contract by the statements of a store. */
import {
  CorrectableError,
  type Binding,
  type InvocationContext,
  type Levels,
  type Operation,
  type Sink,
} from 'correctables';

/** The translation of an operation of the contract. */
export interface Translation {
  /** An update that must be executed first. */
  readonly first?: Operation;
  /** An operation of the store. */
  readonly operation: Operation;
  /** Converts the store's result to that of the contract. Default: the same result */
  readonly result?: (value: never) => unknown;
}

export type Translations = Readonly<Record<string, (args: never) => Translation>>;

/** Creates a binding that has the operations of `translations`. Closing it closes `binding`. */
export function translated<L extends Levels>(
  binding: Binding<L>,
  translations: Translations,
): Binding<L> {
  return {
    name: binding.name,
    consistencyLevels: () => binding.consistencyLevels(),
    supports: ({ name }) => Object.hasOwn(translations, name),
    submitOperation(operation, levels, sink, context) {
      const translate = translations[operation.name] as
        | ((args: unknown) => Translation)
        | undefined;
      if (translate === undefined) {
        throw new CorrectableError('UNSUPPORTED', `the store has no operation ${operation.name}`);
      }
      const { first, operation: own, result } = translate(operation.args);
      const views =
        result === undefined ? sink : resultSink(sink, result as (value: unknown) => never);
      const submit = (): void | PromiseLike<void> =>
        binding.submitOperation(own, levels, views as Sink<unknown, L[number]>, context);
      if (first === undefined) return submit();
      carriedOut(binding, first, context)
        .then(submit)
        .catch((error: unknown) => sink.fail(error));
      return undefined;
    },
    close: () => binding.close(),
  };
}

/** Resolves when an update has its final view. */
function carriedOut<L extends Levels>(
  binding: Binding<L>,
  update: Operation,
  context: InvocationContext,
): Promise<void> {
  const level = binding.consistencyLevels().at(-1) as L[number];
  return new Promise((resolve, reject) => {
    const done = (): number => {
      resolve();
      return 0;
    };
    binding.submitOperation(update, [level], { view: done, confirm: done, fail: reject }, context);
  });
}

function resultSink<T, Level extends string>(
  sink: Sink<T, Level>,
  result: (value: unknown) => T,
): Sink<unknown, Level> {
  return {
    view: (value, level, details) => sink.view(result(value), level, details),
    confirm: (level, seq, details) => sink.confirm(level, seq, details),
    fail: (error, level) => sink.fail(error, level),
  };
}
