/** The hook for a read in a component. */
import * as React from 'react';
import type { AnyClient } from '../correctable/client/client.ts';
import type { CorrectableError } from '../correctable/errors.ts';
import type { Levels, Weakest } from '../correctable/level-types.ts';
import type { Operation } from '../correctable/operation.ts';
import type { AnyView, FinalView, PreliminaryView, ViewFrom } from '../correctable/view.ts';
import { useClient, type ClientOptions } from './client-context.ts';
import type { Witness } from './commit-witness.ts';
import { createObserver } from './observer.ts';
import { getReads } from './reads.ts';
import { DEFAULT_KEEP_MS, type OPTIMISTIC, type Wakeable, type SharedRead } from './shared-read.ts';
import type { ClientLevels, FinalLevelFor, RegisteredClient } from './types.ts';

/** Options of `useCorrectable`. */
export interface UseCorrectableOptions<
  C extends AnyClient,
  K extends string,
  S extends boolean = boolean,
> extends ClientOptions<C> {
  /**
   * The weakest level to show: the component suspends until a view has it, or is final. Default:
   * the weakest
   */
  readonly until?: K | undefined;
  /**
   * How long the view is kept after the last component that uses it is unmounted, in milliseconds.
   * A component that is mounted before then shows the view at once, and requests only stronger
   * levels. Default: 30 000
   */
  readonly keepMs?: number | undefined;
  /**
   * Whether the component suspends until its first view. With `false` it renders without a view
   * meanwhile, and gets the `error` if the read fails. A server then renders only views that were
   * prefetched. Default: true
   */
  readonly suspend?: S | undefined;
}

/**
 * The state of a read for one component when it rendered. The component renders again if a field
 * changes that it has used.
 */
export type CorrectableResult<V extends AnyView = AnyView> = V extends AnyView
  ? {
      readonly view: V;
      readonly value: V['value'];
      readonly level: V['level'];
      readonly final: V['final'];
      /** Whether the final view has the value of the view before it. */
      readonly confirmed: V['final'] extends false ? false : boolean;
      /**
       * Whether the final view has another value than the view before it. If there was none, it is
       * `false`.
       */
      readonly corrected: V['final'] extends false ? false : boolean;
      /** Whether a stronger view was requested and has not arrived yet. */
      readonly pending: boolean;
      /** Why the last request failed, while an earlier view stays on the page. */
      readonly error: CorrectableError | undefined;
      /** Requests a new view at the strongest level, unless a request is in flight. */
      readonly refresh: () => void;
    }
  : never;

/**
 * The state of a hook with `suspend: false` that has no view yet: it waits, has failed, or both if
 * it was refreshed.
 */
export interface WaitingResult {
  readonly view: undefined;
  readonly value: undefined;
  readonly level: undefined;
  readonly final: false;
  readonly confirmed: false;
  readonly corrected: false;
  readonly pending: boolean;
  readonly error: CorrectableError | undefined;
  readonly refresh: () => void;
}

/** The state of a hook without an operation. */
export interface IdleResult extends WaitingResult {
  readonly pending: false;
  readonly error: undefined;
}

/**
 * A view at the level `K` or a stronger one, or the final one, which may be weaker if the operation
 * has no such level.
 */
type ViewUntil<T, L extends Levels, F extends string, K extends string> =
  | ViewFrom<T, L, F, K>
  | FinalView<T, L, F>
  | OptimisticView<T, L, K>;

/**
 * A value that a write in flight has changed on the page. Components that show the weakest level
 * get it.
 */
type OptimisticView<T, L extends Levels, K extends string> =
  Weakest<L> extends K ? PreliminaryView<T, readonly [typeof OPTIMISTIC]> : never;

/**
 * The result of `useCorrectable` for the operation `O`, the client `C`, `until: K` and `suspend:
 * S`.
 */
export type ResultFor<O, C extends AnyClient, K extends string, S extends boolean = true> =
  O extends Operation<infer T, infer R>
    ?
        | CorrectableResult<ViewUntil<T, ClientLevels<C>, FinalLevelFor<C, R>, K>>
        | (S extends true ? never : WaitingResult)
    : IdleResult;

/**
 * Shows a read: suspends until its first view, then follows it to the final one. The operation is
 * the key: all components whose operation has the same name and arguments share one request. When
 * the last of them is unmounted, the request is canceled. With `null` in place of the operation,
 * nothing is requested.
 *
 * If the read fails before there is a view, the error goes to the nearest error boundary. If it
 * fails later, the view stays, with the `error` beside it. With `suspend: false`, the component
 * renders at once, and `view` is `undefined` until there is a view. A failure before that sets
 * `error`, and does not go to an error boundary.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if there is no client, or if the operation is a
 * write; `UNKNOWN_LEVEL` if the client does not have the level `until`
 * @example
 * function Stock({ book }: { book: string }) {
 *   const { value, final } = useCorrectable(get<number>(`stock:${book}`));
 *   return <p>{value} left{final ? '' : ', probably'}</p>;
 * }
 */
export function useCorrectable<
  const O extends Operation | null,
  C extends AnyClient = RegisteredClient,
  K extends ClientLevels<C>[number] = Weakest<ClientLevels<C>>,
  S extends boolean = true,
>(operation: O, options: UseCorrectableOptions<C, K, S> = {}): ResultFor<O, C, K, S> {
  const { until, keepMs = DEFAULT_KEEP_MS, suspend = true } = options;
  const { client, session, witness } = useClient(options);
  const reads = getReads(client);
  const rank = reads.getRank(until);
  const id = operation ? reads.locate(operation, session) : '';
  // Keep the read in the component, so that a hidden component still has it, however long it is
  // hidden.
  const [read, observer] = React.useMemo(() => {
    const read = operation ? reads.get(operation, session, id) : undefined;
    return [read, createObserver(read, rank, keepMs)] as const;
  }, [reads, id, rank, keepMs]);
  if (read && suspend) suspendUntil(read, rank, keepMs, witness);
  const { subscribe, getSnapshot, getServerSnapshot, getResult } = observer;
  const snapshot = React.useSyncExternalStore(subscribe, getSnapshot, getServerSnapshot);
  return getResult(snapshot) as unknown as ResultFor<O, C, K, S>;
}

/** React 18 has no `use`, and bundlers complain about an import that is missing. */
const use = /* @__PURE__ */ Reflect.get(React, 'use') as ((awaited: Wakeable) => void) | undefined;

function suspendUntil(
  read: SharedRead,
  rank: number,
  keepMs: number,
  witness: Witness | undefined,
): void {
  const awaited = read.await(rank, keepMs, witness);
  // A component that has called `use` to wait has to call `use` again once there is a view.
  if (awaited && use) use(awaited);
  else if (awaited?.status === 'pending') throw awaited as unknown;
}
