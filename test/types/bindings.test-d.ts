/**
 * Bindings whose levels are functions: levels in their order, one function each, arguments by the
 * contract.
 */
import { expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import {
  cacheAside,
  getLagMs,
  withDetails,
  tiered,
  skipLevel,
  versionSessions,
  type TierContext,
} from '../../src/bindings/tiered/index.ts';
import { signedTokens } from '../../src/bindings/tiered/node.ts';
import { createHandler, defineContract } from '../../src/contract/index.ts';
import { createClient, type Binding, type Operation } from '../../src/index.ts';
import { get } from '../../src/operations/index.ts';

const articles = defineContract('articles', {
  article: {
    access: 'read',
    args: z.object({ id: z.string().transform(Number) }),
    result: z.string(),
  },
  rename: {
    access: 'write',
    args: z.object({ id: z.string(), title: z.string() }),
    result: z.null(),
  },
});

test('levels: the tuple of the names, in their order', () => {
  const binding = tiered(['cache', 'origin'], {
    cache: () => skipLevel,
    origin: async () => withDetails(1, { version: 2 }),
  });
  expectTypeOf(binding).toEqualTypeOf<Binding<readonly ['cache', 'origin']>>();
  const client = createClient(binding);
  expectTypeOf(client.weakest).toEqualTypeOf<'cache'>();
  expectTypeOf(client.strongest).toEqualTypeOf<'origin'>();
  const read = client.invoke(get<number>('k'));
  expectTypeOf(read.when('cache'))
    .resolves.toHaveProperty('level')
    .toEqualTypeOf<'cache' | 'origin'>();
  expectTypeOf(read.when('origin')).resolves.toHaveProperty('level').toEqualTypeOf<'origin'>();
  // @ts-expect-error there is no such level
  void read.when('weak');
});

test('levels: a function for each, and for no other', () => {
  // @ts-expect-error the origin has none
  tiered(['cache', 'origin'], { cache: () => 1 });
  // @ts-expect-error there is no such level
  tiered(['origin'], { origin: () => 1, cahce: () => 1 });
  // @ts-expect-error an object has no order
  tiered({ cache: () => 1, origin: () => 1 });
  // @ts-expect-error at least one
  tiered([], {});
  // @ts-expect-error no such mode
  tiered(['origin'], { origin: () => 1 }, { mode: 'both' });
});

test('levels: what a function gets', () => {
  tiered(['origin'], {
    origin: (operation, context) => {
      expectTypeOf(operation).toEqualTypeOf<Operation>();
      expectTypeOf(context).toEqualTypeOf<TierContext>();
    },
  });
});

test('sessions and freshEnough: the levels stay those of the tiers', () => {
  const sessions = versionSessions({ per: 'store', tokens: signedTokens({ tokenKey: 'x' }) });
  expectTypeOf(sessions.stats.behindSession).toEqualTypeOf<number>();
  const binding = tiered(
    ['cache', 'origin'],
    { cache: () => skipLevel, origin: () => 1 },
    {
      sessions,
      freshEnough: (view, operation) => {
        expectTypeOf(operation).toEqualTypeOf<Operation>();
        return view.level === 'cache' && getLagMs(view) < 500;
      },
    },
  );
  expectTypeOf(binding).toEqualTypeOf<Binding<readonly ['cache', 'origin']>>();
  // @ts-expect-error no such scope
  versionSessions({ per: 'row' });
  // @ts-expect-error sessions are made by versionSessions
  tiered(['origin'], { origin: () => 1 }, { sessions: true });
});

test('cacheAside: two tiers, whatever their levels are called', () => {
  const origin = createHandler(articles, { article: ({ id }) => String(id) });
  const options = { get: async () => null, set: () => 1, delete: async () => 1, ttlMs: 1_000 };
  const tiers = cacheAside({ ...options, origin });
  tiered(['cache', 'origin'], tiers);
  const { cache, origin: primary } = tiers;
  tiered(['redis', 'replica', 'primary'], { redis: cache, replica: () => skipLevel, primary });
  // @ts-expect-error the level "cache" has no function
  tiered(['redis', 'origin'], tiers);
  // @ts-expect-error a text, or none
  cacheAside({ ...options, origin, get: () => 5 });
  // @ts-expect-error the origin is missing
  cacheAside(options);
});

test('byContract: arguments as the schema gives them back, the context of the tier', () => {
  tiered(['origin'], {
    origin: createHandler(
      articles,
      {
        article: ({ id }, context, operation) => {
          expectTypeOf(id).toEqualTypeOf<number>();
          expectTypeOf(context).toEqualTypeOf<TierContext>();
          expectTypeOf(operation).toEqualTypeOf<Operation>();
          return 'title';
        },
        rename: (args) => {
          expectTypeOf(args).toEqualTypeOf<{ id: string; title: string }>();
          return null;
        },
      },
      (_operation, context) => expectTypeOf(context).toEqualTypeOf<TierContext>(),
    ),
  });
  const alone = createHandler(articles, { article: ({ id }) => String(id) });
  expectTypeOf(alone).toEqualTypeOf<(operation: Operation, context: unknown) => unknown>();
  // @ts-expect-error no such operation
  createHandler(articles, { artikel: () => 1 });
  // @ts-expect-error the identifier is a number
  createHandler(articles, { article: ({ id }: { id: string }) => id });
});

test('createHandler: results of the type of the contract, also later, with details, or none', () => {
  createHandler(articles, {
    article: async () => 'title',
    rename: () => withDetails(null, { version: 1 }),
  });
  createHandler(articles, { article: ({ id }) => (id > 7 ? 'title' : skipLevel) });
  createHandler(articles, {
    article: async ({ id }) => (id > 7 ? withDetails('title') : skipLevel),
  });
  // @ts-expect-error an article is a text
  createHandler(articles, { article: () => 42 });
  // @ts-expect-error also in a promise
  createHandler(articles, { article: async () => 42 });
  // @ts-expect-error also with details
  createHandler(articles, { article: () => withDetails(42) });
});

test('createHandler: the errors that the contract declares for the operation', () => {
  const bank = defineContract('bank', {
    withdraw: {
      access: 'write',
      args: z.object({ cents: z.int() }),
      result: z.null(),
      errors: { notEnough: z.object({ balance: z.int() }) },
    },
  });
  tiered(['origin'], {
    origin: createHandler(bank, {
      withdraw: (_args, { errors, level }) => {
        expectTypeOf(level).toEqualTypeOf<string>();
        expectTypeOf(errors.notEnough({ balance: 3 }).domain.data).toEqualTypeOf<{
          balance: number;
        }>();
        // @ts-expect-error the balance is a number
        errors.notEnough({ balance: 'none' });
        // @ts-expect-error no such error
        throw errors.frozen({});
      },
    }),
  });
});
