/**
 * Every option takes `undefined`, which means its default, also with `exactOptionalPropertyTypes`.
 */
import { expectTypeOf, test } from 'vitest';
import type { CassandraOptions } from '../../src/bindings/cassandra/index.ts';
import type { MemoryOptions } from '../../src/bindings/memory/index.ts';
import type { RemoteOptions } from '../../src/bindings/remote/index.ts';
import type { ZooKeeperBindingOptions } from '../../src/bindings/zookeeper/index.ts';
import type { FetchViewsOptions } from '../../src/http/index.ts';
import type { ClientOptions, CorrectableOptions, InvokeOptions } from '../../src/index.ts';
import type { BackoffOptions } from '../../src/policies/index.ts';
import type { HydrateProps, PrefetchOptions } from '../../src/react/index.ts';
import type { CorrectablesProviderProps } from '../../src/react/index.ts';
import type { EmbeddedOptions } from '../../src/server/index.ts';
import type { CorrectableQueryOptions } from '../../src/tanstack-query/index.ts';

/** The optional fields of `T` that refuse `undefined`. */
type Refusing<T> = {
  [K in keyof T]-?: object extends Pick<T, K>
    ? { readonly [P in K]: undefined } extends Pick<T, K>
      ? never
      : K
    : never;
}[keyof T];

test('the options of each entry → undefined is as good as none', () => {
  expectTypeOf<Refusing<ClientOptions>>().toEqualTypeOf<never>();
  expectTypeOf<Refusing<InvokeOptions>>().toEqualTypeOf<never>();
  expectTypeOf<Refusing<CorrectableOptions<number>>>().toEqualTypeOf<never>();
  expectTypeOf<Refusing<BackoffOptions>>().toEqualTypeOf<never>();
  expectTypeOf<Refusing<PrefetchOptions>>().toEqualTypeOf<never>();
  expectTypeOf<Refusing<HydrateProps>>().toEqualTypeOf<never>();
  expectTypeOf<Refusing<CorrectablesProviderProps>>().toEqualTypeOf<never>();
  expectTypeOf<Refusing<CorrectableQueryOptions>>().toEqualTypeOf<never>();
  expectTypeOf<Refusing<Omit<FetchViewsOptions, keyof RequestInit>>>().toEqualTypeOf<never>();
  expectTypeOf<Refusing<MemoryOptions<readonly ['a']>>>().toEqualTypeOf<never>();
  expectTypeOf<Refusing<CassandraOptions>>().toEqualTypeOf<never>();
  expectTypeOf<Refusing<ZooKeeperBindingOptions>>().toEqualTypeOf<never>();
  expectTypeOf<Refusing<RemoteOptions<readonly ['a']>>>().toEqualTypeOf<never>();
  expectTypeOf<Refusing<EmbeddedOptions<'a'>>>().toEqualTypeOf<never>();
});
