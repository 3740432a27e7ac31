/** Functions over the operations of a contract: each handler gets its arguments as the schemas give them back. */
import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { tiered, noAnswer } from '../../../../src/bindings/primary-backup/index.ts';
import { byContract, defineContract } from '../../../../src/contract/index.ts';
import { createClient } from '../../../../src/index.ts';
import { get } from '../../../../src/operations/index.ts';

const articles = defineContract('articles', {
  article: { effect: 'read', args: z.object({ id: z.string().transform(Number) }), result: z.string() },
  latest: { effect: 'read', args: z.object({}), result: z.string() },
  rename: { effect: 'update', args: z.object({ id: z.string(), title: z.string() }), result: z.string() },
});

test('an operation → its handler, with the arguments that the schema makes, what the caller hands on, and itself', () => {
  const article = vi.fn(() => 'Storm');
  const ask = byContract(articles, { article });
  const operation = articles.article({ id: '7' });
  expect(ask(operation, 'context')).toBe('Storm');
  expect(article.mock.calls).toEqual([[{ id: 7 }, 'context', operation]]);
});

test('arguments that do not fit, operations of no contract → refused before any handler', () => {
  const article = vi.fn();
  const ask = byContract(articles, { article }, article);
  const wrong = { ...articles.article({ id: '7' }), args: { id: 7 } };
  expect(() => ask(wrong, undefined)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'args.id' }));
  expect(() => ask(get('k'), undefined)).toThrow(expect.objectContaining({ code: 'UNSUPPORTED' }));
  expect(article).not.toHaveBeenCalled();
});

test('an operation without a handler → what is done otherwise, or UNSUPPORTED with its name', () => {
  const otherwise = vi.fn(() => noAnswer);
  const latest = articles.latest({});
  expect(byContract(articles, {}, otherwise)(latest, 'context')).toBe(noAnswer);
  expect(otherwise.mock.calls).toEqual([[latest, 'context']]);
  const refusal = expect.objectContaining({ code: 'UNSUPPORTED', message: expect.stringContaining("'latest'") });
  expect(() => byContract(articles, {})(latest, 'context')).toThrow(refusal);
});

test('an operation that is named like a method of objects → none of the contract', () => {
  const operation = { name: 'toString', args: {}, effect: 'read' } as const;
  const refusal = expect.objectContaining({ code: 'UNSUPPORTED' });
  expect(() => byContract(articles, {})(operation, undefined)).toThrow(refusal);
});

test('tiers of levels → typed handlers; a cache that has some operations only is skipped for the others', async () => {
  const titles = new Map([['7', 'Storm nears']]);
  const store = createClient(
    tiered(['cache', 'origin'], {
      cache: byContract(articles, { article: ({ id }, { level }) => `${id} of ${level}` }, () => noAnswer),
      origin: byContract(articles, {
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
