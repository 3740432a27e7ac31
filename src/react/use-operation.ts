/** The hook for a write in a component. */
import * as React from 'react';
import type { AnyClient, InvokeOptions } from '../correctable/client/client.ts';
import type { Correctable } from '../correctable/correctable.ts';
import type { CorrectableError } from '../correctable/errors.ts';
import type { Levels } from '../correctable/level-types.ts';
import { hasMethods } from '../correctable/validate.ts';
import type { Operation, ResultOf } from '../correctable/operation.ts';
import type { AnyView, View } from '../correctable/view.ts';
import { useClient, type ClientOptions } from './client-context.ts';
import { getFields, IDLE } from './fields.ts';
import { getReads } from './reads.ts';
import type { ClientLevels, FinalLevelFor, RegisteredClient } from './types.ts';

/**
 * Names a read that the write changes. Until the write has its final, the page shows `apply(value)`
 * in place of the value of the read, at the level `optimistic`. If the write fails, the page shows
 * the earlier value again. In either case, the read is then refreshed.
 */
export type AffectRead = <T>(read: Operation<T>, apply?: (value: T) => T) => void;

/** Options of `useOperation`, whose operation is built from the arguments `A`. */
export interface UseOperationOptions<
  C extends AnyClient,
  A extends unknown[],
> extends ClientOptions<C> {
  /**
   * Names the reads on the page that the write changes. Default: those of the same key, which are
   * refreshed
   */
  readonly affects?: ((affect: AffectRead, ...args: A) => void) | undefined;
  /** Options of each invocation, for example `timeoutMs`. */
  readonly invoke?: Omit<InvokeOptions, 'session'> | undefined;
}

/** The latest run of a `useOperation`. */
export type OperationState<V extends AnyView = AnyView> =
  | OperationStateWith<undefined, false, CorrectableError | undefined>
  | OperationStateWith<undefined, true, undefined>
  | (V extends AnyView
      ? V['final'] extends true
        ? OperationStateWith<V, false, undefined>
        : OperationStateWith<V, true, undefined> | OperationStateWith<V, false, CorrectableError>
      : never);

/**
 * One state of a run. It has the view `V`, and is either pending, or failed with `error`, or done.
 */
export interface OperationStateWith<V extends AnyView | undefined, P extends boolean, E> {
  /** The latest view of the result. */
  readonly view: V;
  readonly value: V extends AnyView ? V['value'] : undefined;
  readonly level: V extends AnyView ? V['level'] : undefined;
  readonly final: V extends AnyView ? V['final'] : false;
  /** Whether the final view has the value of the preliminary one. */
  readonly confirmed: boolean;
  /**
   * Whether the final view has another value than the preliminary one. Without a preliminary view
   * it is `false`.
   */
  readonly corrected: boolean;
  /** Whether the final view has not arrived yet. */
  readonly pending: P;
  readonly error: E;
}

/**
 * `A` if it is inferred from the builder alone. `NoInfer` does not work here: it would reject a
 * function with fewer parameters.
 */
type Fixed<A extends unknown[]> = [A][A extends unknown ? 0 : never];

/** The result of a builder: an operation, or a Correctable that the builder has begun. */
type Built = Operation | Correctable<unknown, Levels, string>;

type ViewFor<O, C extends AnyClient> =
  O extends Operation<infer T, infer R>
    ? View<T, ClientLevels<C>, FinalLevelFor<C, R>>
    : O extends Correctable<infer T, infer L, infer F>
      ? View<T, L, F>
      : never;

type CorrectableFor<O, C extends AnyClient> = O extends Operation
  ? Correctable<ResultOf<O>, ClientLevels<C>, ViewFor<O, C>['level']>
  : O;

/**
 * Returns a function that invokes the operation that `builder` creates from its arguments, and the
 * state of the latest run. `run` never cancels an earlier run, and the write goes on when the
 * component unmounts. It returns the Correctable.
 *
 * Once a write has its final, or its outcome is unknown, the reads of its key are refreshed.
 *
 * `builder` can also begin the work itself and return its Correctable, as `transaction` does. Then
 * the reads that `affects` names are refreshed, and no others.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if there is no client
 * @example
 * const [setOn, { pending, error }] = useOperation((on: boolean) => put('lamp', on), {
 *   affects: (affect, on) => affect(get<boolean>('lamp'), () => on),
 * });
 */
export function useOperation<
  A extends unknown[],
  O extends Built,
  C extends AnyClient = RegisteredClient,
>(
  builder: (...args: A) => O,
  options: UseOperationOptions<C, Fixed<A>> = {},
): readonly [run: (...args: A) => CorrectableFor<O, C>, state: OperationState<ViewFor<O, C>>] {
  const { client, session } = useClient(options);
  const [state, setState] = React.useState(() => getFields(undefined, IDLE));
  const props = { builder, options, client, session };
  const current = React.useRef<Current>(props);
  React.useInsertionEffect(() => {
    Object.assign(current.current, props);
  });
  const run = React.useCallback((...args: A) => {
    const correctable = invoke(current.current, args, (error) => {
      if (current.current.latest === correctable)
        setState(
          getFields(correctable.latest, {
            isRequesting: correctable.state === 'pending',
            error,
          }),
        );
    });
    current.current.latest = correctable;
    setState(getFields(undefined, { isRequesting: true, error: undefined }));
    return correctable;
  }, []);
  return [run, state] as never;
}

/** The arguments of the last call of the hook, and its latest run. */
interface Current {
  readonly builder: (...args: never) => Built;
  readonly options: UseOperationOptions<AnyClient, never>;
  readonly client: AnyClient;
  readonly session: ClientOptions['session'];
  latest?: Correctable<unknown, Levels, string>;
}

function invoke(
  { builder, options, client, session }: Current,
  args: readonly unknown[],
  onChange: (error?: CorrectableError) => void,
): Correctable<unknown, Levels, string> {
  const reads = getReads(client);
  const settlers: ((isUndone: boolean) => void)[] = [];
  const built = builder(...(args as never));
  const affect: AffectRead = (target, apply) => {
    const read = reads.all.get(reads.locate(target, session));
    if (read) settlers.push(read.addChange(apply as (value: unknown) => unknown));
  };
  options.affects?.(affect, ...(args as never));
  const correctable = isCorrectable(built)
    ? built
    : client.invoke(built, { ...options.invoke, session });
  const key = isCorrectable(built) ? undefined : built.key;
  const close = (error?: CorrectableError): void => {
    const isUndone = error && error.code !== 'UNKNOWN';
    for (const read of reads.all.values())
      if (!isUndone && key && read.operation.key === key) read.invalidate();
    for (const settle of settlers) settle(!!isUndone);
    onChange(error);
  };
  correctable.subscribe({
    next: () => onChange(),
    complete: close,
    error: close,
  });
  return correctable;
}

function isCorrectable(built: Built): built is Correctable<unknown, Levels, string> {
  return hasMethods(built, 'subscribe', 'speculate');
}
