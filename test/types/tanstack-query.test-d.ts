/**
 * What the types of `correctables/tanstack-query` promise: a view as the data, and a
 * `CorrectableError`, whatever is added.
 */
import { QueryClient } from '@tanstack/query-core';
import { queryOptions, useQueries, useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { expectTypeOf, test } from 'vitest';
import type { Client, CorrectableError, Operation } from '../../src/index.ts';
import { correctableQuery } from '../../src/tanstack-query/index.ts';

type Two = readonly ['weak', 'strong'];
declare const client: Client<Two, false>;
declare const STOCK: Operation<number>;
type Failure = CorrectableError | null;

// The type checker alone sees these functions: nothing calls them.
const create = () => correctableQuery(client, STOCK);

test('useQuery → the view and the error', () => {
  const read = () => useQuery(create());
  type Read = ReturnType<typeof read>;
  expectTypeOf<NonNullable<Read['data']>['value']>().toEqualTypeOf<number>();
  expectTypeOf<NonNullable<Read['data']>['level']>().toEqualTypeOf<Two[number]>();
  expectTypeOf<Read['error']>().toEqualTypeOf<Failure>();
});

test('select → what it selects, and the error', () => {
  const read = () => useQuery({ ...create(), select: (view) => view.value });
  expectTypeOf<ReturnType<typeof read>['data']>().toEqualTypeOf<number | undefined>();
  expectTypeOf<ReturnType<typeof read>['error']>().toEqualTypeOf<Failure>();
});

test('an option that may name the error → the others still do', () => {
  const times = () => useQuery({ ...create(), retry: 2 });
  const never = () => useQuery({ ...queryOptions(create()), retry: false });
  const chosen = () =>
    useQuery({ ...create(), retry: (count, error) => count < 3 && error.retryable });
  const delayed = () =>
    useQuery({ ...create(), retryDelay: (_count, error) => error.retryAfterMs ?? 1_000 });
  const thrown = () =>
    useQuery({ ...create(), throwOnError: (error) => error.code === 'FORBIDDEN' });
  expectTypeOf<ReturnType<typeof times>['error']>().toEqualTypeOf<Failure>();
  expectTypeOf<ReturnType<typeof never>['error']>().toEqualTypeOf<Failure>();
  expectTypeOf<ReturnType<typeof chosen>['error']>().toEqualTypeOf<Failure>();
  expectTypeOf<ReturnType<typeof delayed>['error']>().toEqualTypeOf<Failure>();
  expectTypeOf<ReturnType<typeof thrown>['error']>().toEqualTypeOf<Failure>();
});

test('useSuspenseQuery → as useQuery, with data', () => {
  const read = () =>
    useSuspenseQuery({ ...create(), retry: (count, error) => count < 3 && error.retryable });
  expectTypeOf<ReturnType<typeof read>['data']['value']>().toEqualTypeOf<number>();
  expectTypeOf<ReturnType<typeof read>['error']>().toEqualTypeOf<Failure>();
});

test('useQueries → the view and the error of each', () => {
  const read = () => useQueries({ queries: [create(), { ...create(), retry: 2 }] });
  type Read = ReturnType<typeof read>;
  expectTypeOf<NonNullable<Read[0]['data']>['value']>().toEqualTypeOf<number>();
  expectTypeOf<Read[0]['error']>().toEqualTypeOf<Failure>();
  expectTypeOf<Read[1]['error']>().toEqualTypeOf<Failure>();
  const list = (books: readonly string[]) => useQueries({ queries: books.map(create) });
  expectTypeOf<ReturnType<typeof list>[number]['error']>().toEqualTypeOf<Failure>();
});

test('fetchQuery → its retry gets the error', () => {
  const fetch = () =>
    new QueryClient().fetchQuery({
      ...create(),
      retry: (count, error) => count < 3 && error.retryable,
    });
  expectTypeOf<Awaited<ReturnType<typeof fetch>>['value']>().toEqualTypeOf<number>();
});
