/** Functions over the operations of a contract: each handler gets its arguments as the schemas give them back. */
import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { tiered, skipLevel } from '../../../../src/bindings/tiered/index.ts';
import { createHandler, defineContract } from '../../../../src/contract/index.ts';
import { createClient } from '../../../../src/index.ts';
import { get } from '../../../../src/operations/index.ts';

const articles = defineContract('articles', {
  article: { access: 'read', args: z.object({ id: z.string().transform(Number) }), result: z.string() },
  latest: { access: 'read', args: z.object({}), result: z.string() },
  rename: { access: 'write', args: z.object({ id: z.string(), title: z.string() }), result: z.string() },
});

test('an operation → its handler, with the arguments that the schema makes, what the caller hands on, and itself', () => {
  const article = vi.fn(() => 'Storm');
  const ask = createHandler(articles, { article });
  const operation = articles.article({ id: '7' });
  expect(ask(operation, 'context')).toBe('Storm');
  expect(article.mock.calls).toEqual([[{ id: 7 }, 'context', operation]]);
});

test('arguments that do not fit, operations of no contract → refused before any handler', () => {
  const article = vi.fn();
  const ask = createHandler(articles, { article }, article);
  const wrong = { ...articles.article({ id: '7' }), args: { id: 7 } };
  expect(() => ask(wrong, undefined)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'args.id' }));
  expect(() => ask(get('k'), undefined)).toThrow(expect.objectContaining({ code: 'UNSUPPORTED' }));
  expect(article).not.toHaveBeenCalled();
});

test('an operation without a handler → what is done otherwise, or UNSUPPORTED with its name', () => {
  const otherwise = vi.fn(() => skipLevel);
  const latest = articles.latest({});
  expect(createHandler(articles, {}, otherwise)(latest, 'context')).toBe(skipLevel);
  expect(otherwise.mock.calls).toEqual([[latest, 'context']]);
  const rejection = expect.objectContaining({ code: 'UNSUPPORTED', message: expect.stringContaining("'latest'") });
  expect(() => createHandler(articles, {})(latest, 'context')).toThrow(rejection);
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
      cache: createHandler(articles, { article: ({ id }, { level }) => `${id} of ${level}` }, () => skipLevel),
      origin: createHandler(articles, {
        article: async ({ id }, { signal }) => `${titles.get(String(id))} ${signal.aborted}`,
        latest: () => 'Cup final',
        rename: ({ id, title }) => titles.set(id, title).get(id),
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
  expect(await store.invoke(articles.rename({ id: '7', title: 'Storm passes' }))).toBe('Storm passes');
  await store.close();
});
