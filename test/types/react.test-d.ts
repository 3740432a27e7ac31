/**
 * What the types of `correctables/react` promise: the value, the levels and the states are
 * inferred.
 */
import { expectTypeOf, test } from 'vitest';
import type {
  AnyClient,
  Client,
  Correctable,
  CorrectableError,
  Operation,
} from '../../src/index.ts';
import { put } from '../../src/operations/index.ts';
import {
  prefetch,
  useCorrectable,
  useOperation,
  type OperationStateWith,
  type Register,
} from '../../src/react/index.ts';
import { transaction } from '../../src/transactions/index.ts';

type Three = readonly ['weak', 'causal', 'strong'];
declare const client: Client<Three, false>;
declare const isSuspending: boolean;
declare const STOCK: Operation<number>;

// The type checker alone sees these functions: nothing calls them.
const read = () => useCorrectable(STOCK, { client });

test('useCorrectable → the value of the operation, and the levels of the client', () => {
  type Read = ReturnType<typeof read>;
  expectTypeOf<Read['value']>().toEqualTypeOf<number>();
  expectTypeOf<Read['level']>().toEqualTypeOf<Three[number] | 'optimistic'>();
  expectTypeOf<Read['view']['confirms']>().toExtend<boolean | undefined>();
  expectTypeOf<Read['error']>().toEqualTypeOf<CorrectableError | undefined>();
});

test('useCorrectable, final and confirmed → narrow each other', () => {
  const check = (): void => {
    const result = read();
    if (result.final) expectTypeOf(result.confirmed).toEqualTypeOf<boolean>();
    else {
      expectTypeOf(result.confirmed).toEqualTypeOf<false>();
      expectTypeOf(result.view.final).toEqualTypeOf<false>();
    }
  };
  expectTypeOf(check).toBeFunction();
});

test('useCorrectable, until: a level → that one and stronger ones', () => {
  const check = () => useCorrectable(STOCK, { client, until: 'causal' });
  type Preliminary = Extract<ReturnType<typeof check>, { readonly final: false }>;
  expectTypeOf<Preliminary['level']>().toEqualTypeOf<'causal'>();
  // @ts-expect-error: the client has no such level
  expectTypeOf(() => useCorrectable(STOCK, { client, until: 'linearizable' })).toBeFunction();
});

test('useCorrectable suspends → there is a view; suspend: false → there may be none', () => {
  const without = () => useCorrectable(STOCK, { client, suspend: false });
  expectTypeOf<ReturnType<typeof read>['view']>().toExtend<object>();
  expectTypeOf<ReturnType<typeof without>['value']>().toEqualTypeOf<number | undefined>();
  type Waiting = Extract<ReturnType<typeof without>, { readonly view: undefined }>;
  expectTypeOf<Waiting['final']>().toEqualTypeOf<false>();
  expectTypeOf<Waiting['level']>().toEqualTypeOf<undefined>();
  expectTypeOf<Waiting['pending']>().toEqualTypeOf<boolean>();
  const either = () => useCorrectable(STOCK, { client, suspend: isSuspending });
  expectTypeOf<ReturnType<typeof either>>().toEqualTypeOf<ReturnType<typeof without>>();
});

test('useCorrectable, null → idle; an operation or null → either', () => {
  const idle = () => useCorrectable(null, { client });
  expectTypeOf<ReturnType<typeof idle>['value']>().toEqualTypeOf<undefined>();
  expectTypeOf<ReturnType<typeof idle>['pending']>().toEqualTypeOf<false>();
  const either = (operation: Operation<number> | null) => useCorrectable(operation, { client });
  expectTypeOf<ReturnType<typeof either>['value']>().toEqualTypeOf<number | undefined>();
});

test('without a registered client → any level', () => {
  expectTypeOf<Register>().toEqualTypeOf<{}>();
  const check = () => useCorrectable(STOCK);
  expectTypeOf<ReturnType<typeof check>['level']>().toEqualTypeOf<string>();
  expectTypeOf(prefetch).parameter(0).toEqualTypeOf<AnyClient>();
});

test('useOperation → run takes the arguments of the builder, and states exclude each other', () => {
  const check = () => useOperation((count: number) => put('stock', count), { client });
  type Run = ReturnType<typeof check>[0];
  type State = ReturnType<typeof check>[1];
  expectTypeOf<Parameters<Run>>().toEqualTypeOf<[count: number]>();
  expectTypeOf<ReturnType<Run>>().toExtend<Correctable<unknown, Three, string>>();
  type Pending = Extract<State, { readonly pending: true }>;
  expectTypeOf<Pending['error']>().toEqualTypeOf<undefined>();
  expectTypeOf<Pending['final']>().toEqualTypeOf<false>();
  type Done = Extract<State, { readonly final: true }>;
  expectTypeOf<Done['pending']>().toEqualTypeOf<false>();
  expectTypeOf<Done['error']>().toEqualTypeOf<undefined>();
  expectTypeOf<OperationStateWith<undefined, true, undefined>>().toExtend<State>();
  // @ts-expect-error: the argument is a number
  expectTypeOf((run: Run) => run('twelve')).toBeFunction();
});

test('useOperation of a transaction → its value and the levels of its client', () => {
  const check = () =>
    useOperation((count: number) => transaction(client, () => count > 3), { client });
  type Run = ReturnType<typeof check>[0];
  expectTypeOf<Parameters<Run>>().toEqualTypeOf<[count: number]>();
  expectTypeOf<ReturnType<Run>>().toEqualTypeOf<Correctable<boolean, Three>>();
  expectTypeOf<ReturnType<typeof check>[1]['value']>().toEqualTypeOf<boolean | undefined>();
});

test('affects → knows the value of the read that it changes', () => {
  const check = () =>
    useOperation((count: number) => put('stock', count), {
      client,
      affects: (affect, count) => {
        expectTypeOf(count).toEqualTypeOf<number>();
        affect(STOCK, (value) => {
          expectTypeOf(value).toEqualTypeOf<number>();
          return count;
        });
        // @ts-expect-error: the read has a number
        affect(STOCK, () => 'twelve');
      },
    });
  expectTypeOf(check).toBeFunction();
});

test('affects → may ignore the arguments of the builder', () => {
  const check = () => [
    useOperation(() => put('stock', 1), { client, affects: (affect) => affect(STOCK) }),
    useOperation((count: number) => put('stock', count), {
      client,
      affects: (affect) => affect(STOCK),
    }),
  ];
  expectTypeOf(check).toBeFunction();
  const withArgument = () =>
    useOperation((count: number) => put('stock', count), {
      client,
      affects: (affect) => affect(STOCK),
    });
  expectTypeOf<Parameters<ReturnType<typeof withArgument>[0]>>().toEqualTypeOf<[count: number]>();
});
