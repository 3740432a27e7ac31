/**
 * Functions over the operations of a contract: each handler gets its arguments as the schemas give
 * them back.
 */
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import {
  tiered,
  skipLevel,
  withDetails,
  type TierContext,
} from '../../../src/bindings/tiered/index.ts';
import { createHandler, defineContract, isDomainError } from '../../../src/contract/index.ts';
import { createClient } from '../../../src/index.ts';
import { get } from '../../../src/operations/index.ts';

const articles = defineContract('articles', {
  article: {
    access: 'read',
    args: z.object({ id: z.string().transform(Number) }),
    result: z.string(),
  },
  latest: { access: 'read', args: z.object({}), result: z.string() },
  rename: {
    access: 'write',
    args: z.object({ id: z.string(), title: z.string() }),
    result: z.string(),
  },
});

test('an operation → its handler, with the arguments that the schema makes, what the caller hands on, and itself', () => {
  const article = vi.fn(() => 'Storm');
  const ask = createHandler(articles, { article });
  const operation = articles.article({ id: '7' });
  expect(ask(operation, 'context')).toBe('Storm');
  expect(article.mock.calls).toEqual([[{ id: 7 }, 'context', operation]]);
});

test('arguments that do not fit, operations of no contract → refused before any handler', () => {
  const article = vi.fn(() => '');
  const ask = createHandler(articles, { article }, article);
  const wrong = { ...articles.article({ id: '7' }), args: { id: 7 } };
  expect(() => ask(wrong, undefined)).toThrow(
    expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'args.id' }),
  );
  expect(() => ask(get('k'), undefined)).toThrow(expect.objectContaining({ code: 'UNSUPPORTED' }));
  expect(article).not.toHaveBeenCalled();
});

test('an operation without a handler → what is done otherwise, or UNSUPPORTED with its name', () => {
  const otherwise = vi.fn(() => skipLevel);
  const latest = articles.latest({});
  expect(createHandler(articles, {}, otherwise)(latest, 'context')).toBe(skipLevel);
  expect(otherwise.mock.calls).toEqual([[latest, 'context']]);
  const rejection = expect.objectContaining({
    code: 'UNSUPPORTED',
    message: expect.stringContaining("'latest'"),
  });
  expect(() => createHandler(articles, {})(latest, 'context')).toThrow(rejection);
});

test('methods of a class are handlers, and have their object', () => {
  class Shelf {
    readonly #title = 'Storm';
    latest(): string {
      return this.#title;
    }
  }
  expect(createHandler(articles, new Shelf())(articles.latest({}), undefined)).toBe('Storm');
});

test('an operation that is named like a method of objects → none of the contract', () => {
  const operation = { name: 'toString', args: {}, access: 'read' } as const;
  const rejection = expect.objectContaining({ code: 'UNSUPPORTED' });
  expect(() => createHandler(articles, {})(operation, undefined)).toThrow(rejection);
});

test('tiers of levels → typed handlers; a cache that has some operations only is skipped for the others', async () => {
  const titles = new Map([['7', 'Storm nears']]);
  const store = createClient(
    tiered(['cache', 'origin'], {
      cache: createHandler(
        articles,
        { article: ({ id }, { level }) => `${id} of ${level}` },
        () => skipLevel,
      ),
      origin: createHandler(articles, {
        article: async ({ id }, { signal }) => `${titles.get(String(id))} ${signal.aborted}`,
        latest: () => 'Cup final',
        rename: ({ id, title }) => titles.set(id, title).get(id) ?? '',
      }),
    }),
  );
  const seen = async (views: AsyncIterable<{ level: string; value: unknown }>) => {
    const lines: string[] = [];
    for await (const { level, value } of views) lines.push(`${level}: ${String(value)}`);
    return lines;
  };
  expect(await seen(store.invoke(articles.article({ id: '7' })))).toEqual([
    'cache: 7 of cache',
    'origin: Storm nears false',
  ]);
  expect(await seen(store.invokeWeak(articles.latest({})))).toEqual(['origin: Cup final']);
  expect(await store.invoke(articles.rename({ id: '7', title: 'Storm passes' }))).toBe(
    'Storm passes',
  );
  await store.close();
});

const bank = defineContract('bank', {
  balance: { access: 'read', args: z.object({}), result: z.object({ cents: z.int() }) },
  withdraw: {
    access: 'write',
    args: z.object({ cents: z.int() }),
    result: z.null(),
    errors: { notEnough: z.object({ balance: z.int() }) },
  },
});

describe('results', () => {
  const wrong = (result: unknown) => () => result as { cents: number };
  const invalid = expect.objectContaining({
    code: 'INVALID_VALUE',
    field: 'result.cents',
  }) as Error;

  test.each([
    ['a value', { cents: 'many' }],
    ['a value with details', withDetails({ cents: 'many' }, { version: 1 })],
  ])('%s that does not fit the contract → INVALID_VALUE with the path', (_name, result) => {
    expect(() =>
      createHandler(bank, { balance: wrong(result) })(bank.balance({}), undefined),
    ).toThrow(invalid);
    expect(() => createHandler(bank, {}, wrong(result))(bank.balance({}), undefined)).toThrow(
      invalid,
    );
  });

  test('a promise of one that does not fit → rejects', async () => {
    const ask = createHandler(bank, { balance: async () => wrong({ cents: 0.5 })() });
    await expect(ask(bank.balance({}), undefined)).rejects.toThrow(invalid);
  });

  test('one of an update → reports that the update may have been applied', () => {
    const ask = createHandler(bank, { withdraw: () => 7 as never });
    const uncertain = expect.objectContaining({
      code: 'INVALID_VALUE',
      retryable: false,
      message: expect.stringMatching(/may have been applied\.$/) as string,
    }) as Error;
    expect(() => ask(bank.withdraw({ cents: 1 }), undefined)).toThrow(uncertain);
  });

  test('ones that fit → leave as the schema returns them; details and skipped levels stay', () => {
    const more = { cents: 1, owner: 'ada' };
    const ask = (result: unknown) =>
      createHandler(bank, { balance: wrong(result) })(bank.balance({}), undefined);
    expect(ask(more)).toEqual({ cents: 1 });
    expect(ask(withDetails(more, { version: 7 }))).toEqual(
      withDetails({ cents: 1 }, { version: 7 }),
    );
    expect(ask(skipLevel)).toBe(skipLevel);
  });

  test('checksResults: false → leave as they are', () => {
    const ask = createHandler(bank, { balance: wrong('much') }, undefined, {
      checksResults: false,
    });
    expect(ask(bank.balance({}), undefined)).toBe('much');
  });

  test('of a tier → only its level fails', async () => {
    const tiers = {
      cache: createHandler(bank, { balance: wrong({ cents: 'many' }) }),
      origin: createHandler(bank, { balance: () => ({ cents: 7 }) }),
    };
    const onError = vi.fn();
    const store = createClient(tiered(['cache', 'origin'], tiers, { onError }));
    expect(await store.invoke(bank.balance({}))).toEqual({ cents: 7 });
    expect(onError).toHaveBeenCalledExactlyOnceWith(
      invalid,
      expect.objectContaining({ level: 'cache' }),
    );
    await store.close();
  });
});

describe('errors', () => {
  const { withdraw } = bank.operations;

  test('a context with functions, frozen or not → the handler gets them as they are, beside errors', () => {
    // Like a query builder: a function with functions.
    const db = Object.assign(() => 'rows', { raw: () => 'raw rows' });
    class Context {
      readonly db = db;
      readonly #user = 'ada';
      getUser(): string {
        return this.#user;
      }
    }
    const context = new Context();
    Object.freeze(context);
    const ask = createHandler<typeof bank.operations, Context>(bank, {
      withdraw: (_args, given) => {
        expect(given.db).toBe(db);
        expect(given.db.raw()).toBe('raw rows');
        expect(given.getUser()).toBe('ada');
        expect(given).toHaveProperty('errors.notEnough');
        expect({ ...given }).toEqual({
          db,
          errors: { notEnough: expect.any(Function) as unknown },
        });
        return null;
      },
    });
    expect(ask(bank.withdraw({ cents: 7 }), context)).toBe(null);
    expect(Object.keys(context)).toEqual(['db']);
  });

  test('one that the contract declares → reaches the client, typed', async () => {
    const origin = createHandler<typeof bank.operations, TierContext>(bank, {
      withdraw: (_args, { errors, level, signal }) => {
        expect([level, signal.aborted]).toEqual(['origin', false]);
        throw errors.notEnough({ balance: 3 });
      },
    });
    const store = createClient(tiered(['origin'], { origin }));
    const error: unknown = await store
      .invoke(bank.withdraw({ cents: 7 }))
      .catch((failure: unknown) => failure);
    expect(isDomainError(error, withdraw, 'notEnough') && error.domain.data).toEqual({
      balance: 3,
    });
    expect(error).toMatchObject({ code: 'DOMAIN', retryable: false });
    await store.close();
  });

  test('data that do not fit → INVALID_VALUE with the path', () => {
    const ask = createHandler(bank, {
      withdraw: (_args, { errors }) => {
        throw errors.notEnough({ balance: 'none' as never });
      },
    });
    const invalid = expect.objectContaining({
      code: 'INVALID_VALUE',
      field: 'result.balance',
    }) as Error;
    expect(() => ask(bank.withdraw({ cents: 7 }), undefined)).toThrow(invalid);
  });
});
