import { expect, test } from 'vitest';
import { z } from 'zod';
import { checkOperation, isListed, type Catalogue } from '../../../src/protocol/catalogue.ts';
import type { Operation } from '../../../src/correctable/operation.ts';

const catalogue: Catalogue = {
  name: 'shop',
  hash: 'f00',
  operations: {
    dequeue: { effect: 'update', args: z.object({ queue: z.string(), count: z.number().default(1) }) },
  },
};
const dequeue: Operation = { name: 'dequeue', effect: 'update', args: { queue: 'q', count: 2 }, key: 'q' };

test('listed operation → passes, with what the schema fills in', () => {
  expect(isListed(catalogue, dequeue)).toBe(true);
  expect(checkOperation(catalogue, { ...dequeue, args: { queue: 'q' } })).toEqual({
    ...dequeue,
    args: { queue: 'q', count: 1 },
  });
});

test('unlisted operation → UNSUPPORTED that names the listed ones', () => {
  for (const name of ['drop', 'constructor', '__proto__']) {
    expect(isListed(catalogue, { ...dequeue, name })).toBe(false);
    expect(() => checkOperation(catalogue, { ...dequeue, name })).toThrow(/only dequeue/);
  }
});

test('bad argument → INVALID_ARGUMENT naming the field', () => {
  const bad = { ...dequeue, args: { queue: 7 } };
  expect(() => checkOperation(catalogue, bad)).toThrow(
    expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'args.queue' }) as Error,
  );
});

test('other effect than the contract says → INVALID_ARGUMENT', () => {
  expect(() => checkOperation(catalogue, { ...dequeue, effect: 'read' })).toThrow(
    expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'effect' }) as Error,
  );
});
