/** Converts a read to the options of a query. Each view goes into the cache when it arrives. */
import type {
  DataTag,
  QueryFunctionContext,
  QueryKey,
  QueryObserverOptions,
} from '@tanstack/query-core';
import { isOlder } from '../correctable/binding.ts';
import type { Client, CorrectableForLevels, InvokeOptions } from '../correctable/client/client.ts';
import type { Correctable } from '../correctable/correctable.ts';
import { check, type CorrectableError } from '../correctable/errors.ts';
import type {
  ContractFinalLevels,
  FinalLevel,
  FinalLevels,
  Levels,
} from '../correctable/level-types.ts';
import type { Operation } from '../correctable/operation.ts';
import type { AnyView, FinalView, View } from '../correctable/view.ts';
import { toJsonField } from '../protocol/codec/json-values.ts';

/**
 * Options of `correctableQuery`: those of `invoke` without the signal, because the query has its
 * own.
 */
export interface CorrectableQueryOptions<K extends string = string> extends Omit<
  InvokeOptions<K>,
  'signal'
> {
  /**
   * The first part of the query's key. Give each store its own if a page has several. Default:
   * `correctables`
   */
  readonly keyPrefix?: string | undefined;
}

/**
 * Adapters of TanStack Query infer the type of the error from these. The package never sets them.
 * If you set one of these options, the others keep the type.
 */
type ErrorHints<V> = Readonly<
  Pick<QueryObserverOptions<V, CorrectableError>, 'retry' | 'retryDelay' | 'throwOnError'>
>;

/** Options of a query whose data is the latest view. Spread it to add options of TanStack Query. */
export interface CorrectableQuery<V> extends ErrorHints<V> {
  /**
   * The prefix, the name of the operation, its arguments and, if you chose some, the levels.
   * Invalidate by its parts: `['correctables', 'get']` has every `get`.
   */
  readonly queryKey: DataTag<QueryKey, V, CorrectableError>;
  readonly queryFn: (context: QueryFunctionContext) => Promise<V>;
}

type ViewOf<C> = C extends Correctable<infer T, infer L, infer F> ? View<T, L, F> : never;

/**
 * Returns the options of a query that reads `operation` once and has a view at each level as its
 * data, one after the other. The query has data, and is still fetching, from the first view on. It
 * stops fetching with the final view. If the last component that uses it unmounts, the read is
 * canceled.
 *
 * A preliminary view never counts as fresh, for any `staleTime` but `'static'`. If it is weaker
 * than the view that the page shows, or has an older version, it is skipped.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if the operation is an update, because a query may
 * run any number of times; `INVALID_VALUE` if its arguments are no plain data
 * @example
 * const { data, isFetching, error } = useQuery(correctableQuery(store, get('stock:book')));
 * return <p>{data?.value} {isFetching ? '…' : data?.level}</p>;
 */
export function correctableQuery<
  T,
  const L extends Levels,
  C extends boolean,
  const S extends readonly [L[number], ...L[number][]],
  R extends FinalLevels = FinalLevels,
>(
  client: Client<L, C>,
  operation: Operation<T, R>,
  options: CorrectableQueryOptions<L[number]> & { readonly levels: S },
): CorrectableQuery<ViewOf<CorrectableForLevels<T, L, S, ContractFinalLevels<R, C>>>>;
export function correctableQuery<
  T,
  const L extends Levels,
  C extends boolean,
  R extends FinalLevels = FinalLevels,
>(
  client: Client<L, C>,
  operation: Operation<T, R>,
  options?: CorrectableQueryOptions<L[number]> & {
    readonly levels?: undefined;
  },
): CorrectableQuery<View<T, L, FinalLevel<L, L, ContractFinalLevels<R, C>>>>;
export function correctableQuery<T>(
  client: Client<Levels>,
  operation: Operation<T>,
  options: CorrectableQueryOptions & {
    readonly levels?: readonly [string, ...string[]] | undefined;
  } = {},
): CorrectableQuery<AnyView<T>> {
  check(client?.invoke, 'client', 'give one, as correctableQuery(store, get(key))');
  const advice =
    'give a read, as get(key). A query may run again at any time: invoke an update in a mutation';
  check(operation?.access === 'read', 'operation', advice);
  const { keyPrefix = 'correctables', ...invokeOptions } = options;
  // TanStack Query writes keys as JSON. That has no bigint, and the same text for a date and a
  // string.
  const key = [
    keyPrefix,
    operation.name,
    toJsonField(operation.args, 'args'),
    ...(options.levels ? [options.levels] : []),
  ];
  const read = (signal: AbortSignal): Correctable<T, Levels, string> =>
    client.invoke(operation, { ...invokeOptions, signal } as InvokeOptions);
  return {
    queryKey: key as readonly unknown[] as CorrectableQuery<AnyView<T>>['queryKey'],
    queryFn: (context) => fetchViews(context, read, client.levels),
  };
}

/**
 * Puts each preliminary view into the cache, and returns the final one. A view that is weaker or
 * older than the one on the page is skipped: the page would go back at each refetch.
 */
async function fetchViews<T>(
  { client: queryClient, queryKey, signal }: QueryFunctionContext,
  read: (signal: AbortSignal) => Correctable<T, Levels, string>,
  levels: Levels,
): Promise<FinalView<T, Levels, string>> {
  // A component that unmounts at once, as in StrictMode, cancels the query before anything was
  // submitted.
  await Promise.resolve();
  if (signal.aborted) throw signal.reason;
  const { queryHash } = queryClient.defaultQueryOptions({ queryKey });
  const getQuery = () => queryClient.getQueryCache().get<AnyView<T>>(queryHash);
  // Mark the view as old and invalid. So a page that is shown again, or hydrated, requests a
  // stronger view.
  const show = (view: AnyView<T>): void => {
    queryClient.setQueryData<AnyView<T>>(queryKey, view, { updatedAt: 0 });
    getQuery()?.invalidate();
  };
  const getRank = (view?: AnyView<T>): number => (view ? levels.indexOf(view.level) : -1);
  let latest: AnyView<T> | undefined;
  // Restores the view after a cancellation: TanStack Query then drops the mark, and before version
  // 5.95 also a first view.
  const keepLatest = (): void => {
    const query = getQuery();
    if (!latest || !query) return;
    if (query.state.data) query.invalidate();
    else show(latest);
  };
  signal.addEventListener('abort', keepLatest, { once: true });
  const views = read(signal);
  views.onUpdate((_value, view) => {
    const shown = getQuery()?.state.data;
    const isWorse = getRank(view) < getRank(shown) || isOlder(view.version, shown?.version);
    if (!signal.aborted && !isWorse) show((latest = view));
  });
  return views.settle();
}
