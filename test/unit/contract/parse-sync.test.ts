/**
 * Schemas that answer later are refused, whatever they do, and no promise of theirs is left to
 * reject alone.
 */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import * as mini from 'zod/mini';
import { parseArgsWith } from '../../../src/contract/operation-registry.ts';
import { isAsyncSchema, createResultCheck } from '../../../src/contract/parse-sync.ts';

/** An unhandled rejection fails the run of these tests. */
const later = async (): Promise<never> => {
  await Promise.resolve();
  throw new Error('the user service is away');
};

const SYNTACTIC: Record<string, (name: z.ZodString) => z.core.$ZodType> = {
  'a refinement': (name) => name.refine(async () => later()),
  'a transform': (name) => name.transform(async () => later()),
  'an overwrite': (name) => name.overwrite((async () => later()) as never),
  'a schema of its own': () => z.custom(async () => later()),
  'a promise': () => z.promise(z.string()),
  'a default': (name) => name.default((async () => later()) as never),
  'a lazy schema': (name) => z.lazy(() => name.refine(async () => later())),
};

const BY_RESULT: Record<string, (name: z.ZodString) => z.core.$ZodType> = {
  'a refinement': (name) => name.refine(() => later()),
  'a transform': (name) => name.transform(() => later()),
  'a check': (name) => name.superRefine(async () => later()),
  'a schema of its own': () => z.custom(() => later() as never),
  'a union': (name) => z.union([name.refine(() => later()), z.string()]),
  'a codec': () =>
    z.codec(z.string(), z.number(), { decode: () => later(), encode: () => later() }),
};

describe.each(Object.entries(SYNTACTIC))('schema with %s that is an async function', (_, of) => {
  const schema = z.object({ user: of(z.string()) });

  test('arguments → UNSUPPORTED, known before anything is run', () => {
    expect(isAsyncSchema(schema)).toBe(true);
    expect(() => parseArgsWith(schema, { user: 'x' }, 'put')).toThrow(
      expect.objectContaining({ code: 'UNSUPPORTED', field: 'args' }) as Error,
    );
  });

  test('result → UNSUPPORTED', () => {
    const check = createResultCheck({ put: { result: schema } });
    expect(() => check('put', { user: 'x' })).toThrow(
      expect.objectContaining({ code: 'UNSUPPORTED', field: 'result' }) as Error,
    );
  });
});

describe.each(Object.entries(BY_RESULT))('schema with %s that gives a promise', (_, of) => {
  test.each(['as it is', 'compiled'])('%s → UNSUPPORTED', (way) => {
    const value = z.object({ user: of(z.string()) });
    expect(isAsyncSchema(value)).toBe(false);
    const schema = way === 'compiled' ? mini.compile(value) : value;
    expect(() => parseArgsWith(schema, { user: 'x' }, 'put')).toThrow(
      expect.objectContaining({ code: 'UNSUPPORTED', field: 'args' }) as Error,
    );
  });
});

test('schema that answers later, elsewhere in the application → may be awaited', async () => {
  const schema = z.string().refine(() => Promise.resolve(true));
  expect(() => parseArgsWith(schema, 'x', 'put')).toThrow(/asynchronous/);
  expect(await schema.parseAsync('x')).toBe('x');
});

test('schema that refers to what is not there yet → is looked at again', () => {
  const list = z.object({
    item: z.lazy(() => item),
    get rest() {
      return z.array(list).or(end);
    },
  });
  expect(isAsyncSchema(list)).toBe(false);
  const item = z.string().refine(async () => true);
  expect(isAsyncSchema(list)).toBe(false);
  const end = z.null();
  expect(isAsyncSchema(list)).toBe(true);
});

test('schema that makes ever new ones → ends', () => {
  const endless = (): z.ZodType => z.lazy(() => z.object({ next: endless().optional() }));
  expect(isAsyncSchema(endless())).toBe(false);
});

test('result that is a promise → INVALID_VALUE, and may reject', () => {
  const check = createResultCheck({ put: { result: z.any() } });
  expect(() => check('put', later())).toThrow(
    expect.objectContaining({ code: 'INVALID_VALUE' }) as Error,
  );
});

test('result whose schema throws → INVALID_VALUE with the cause', () => {
  const check = createResultCheck({
    put: { result: z.any().refine((value: { rows: [] }) => value.rows.length < 5) },
  });
  expect(() => check('put', null)).toThrow(
    expect.objectContaining({
      code: 'INVALID_VALUE',
      field: 'result',
      cause: expect.any(TypeError),
    }) as Error,
  );
});
