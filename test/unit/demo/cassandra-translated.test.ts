/**
 * A contract by means of a store's own operations: results, confirmations and failures arrive as
 * the contract has them.
 */
import { createClient, type Binding, type Operation } from 'correctables';
import { memory } from 'correctables/bindings/memory';
import { get, put } from 'correctables/operations';
import { expect, test } from 'vitest';
import { inOrderOf } from '../../../demo/shared/order-rows.ts';
import { translated, type Translations } from '../../../demo/shared/translate-operations.ts';

const length: Operation<number> = {
  name: 'length',
  args: { key: 'word' },
  access: 'read',
  key: 'word',
};
const write = (word: string): Operation<string> => ({
  name: 'write',
  args: { word },
  access: 'write',
});

const translations = {
  length: ({ key }: { key: string }) => ({
    operation: get(key),
    result: (word?: string) => word?.length ?? 0,
  }),
  write: ({ word }: { word: string }) => ({
    first: put('copy', word),
    operation: put('word', word),
    result: () => `wrote ${word}`,
  }),
} satisfies Translations;

test('translated: a read → every view translated', async () => {
  const store = createClient(translated(memory(), translations));
  await store.invoke(write('seven'));
  const views = [];
  for await (const { value, final } of store.invoke(length)) views.push({ value, final });
  // The weak replica of this store has not heard of the word yet.
  expect(views).toEqual([
    { value: 0, final: false },
    { value: 5, final: true },
  ]);
  await store.close();
});

test('translated: a confirmation without payload → the translated value confirmed', async () => {
  const inner: Binding<readonly ['weak', 'strong']> = {
    name: 'confirming',
    consistencyLevels: () => ['weak', 'strong'],
    supports: () => true,
    submitOperation: (_operation, _levels, sink) =>
      sink.confirm('strong', sink.view('seven' as never, 'weak')),
    close: async () => {},
  };
  const store = createClient(translated(inner, translations));
  const views = [];
  for await (const { value, final, confirms } of store.invoke(length))
    views.push({ value, final, confirms });
  expect(views.at(-1)).toEqual({ value: 5, final: true, confirms: true });
  await store.close();
});

test('translated: a write of two steps → the first is done before the second begins', async () => {
  const order: string[] = [];
  const inner = memory();
  const watched: typeof inner = {
    ...inner,
    name: inner.name,
    consistencyLevels: () => inner.consistencyLevels(),
    supports: (operation) => inner.supports(operation),
    close: () => inner.close(),
    submitOperation(operation, levels, sink, context) {
      order.push(`begin ${operation.key}`);
      const view: typeof sink.view = (value, level, details) => {
        if (level === 'strong') order.push(`end ${operation.key}`);
        return sink.view(value, level, details);
      };
      const confirm: typeof sink.confirm = (level, seq, details) => {
        order.push(`end ${operation.key}`);
        sink.confirm(level, seq, details);
      };
      inner.submitOperation(
        operation,
        levels,
        { view, confirm, fail: sink.fail.bind(sink) },
        context,
      );
    },
  };
  const store = createClient(translated(watched, translations));
  expect(await store.invoke(write('eight'))).toBe('wrote eight');
  expect(order).toEqual(['begin copy', 'end copy', 'begin word', 'end word']);
  await store.close();
});

test('translated: the first step fails → so does the operation, and the second is never made', async () => {
  const failing: Translations = {
    write: () => ({
      first: { name: 'unheard of', args: {}, access: 'write' },
      operation: put('word', 'nine'),
    }),
    word: () => ({ operation: get('word') }),
  };
  const store = createClient(translated(memory(), failing));
  await expect(store.invoke(write('nine'))).rejects.toMatchObject({ code: 'UNSUPPORTED' });
  expect(await store.invoke({ name: 'word', args: {}, access: 'read' })).toBeUndefined();
  await store.close();
});

test('rows in another order than asked for, one missing → in order, null for the missing one', () => {
  const row = (id: string): { id: string } => ({ id });
  expect(inOrderOf(['b', 'a', 'c', 'a'], [row('a'), row('b')])).toEqual([
    row('b'),
    row('a'),
    null,
    row('a'),
  ]);
});
