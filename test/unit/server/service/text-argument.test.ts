/** Which arguments of an operation are text in every call. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import * as mini from 'zod/v4-mini';
import type { Schema } from '../../../../src/contract/schema-parts.ts';
import { describeArgumentProblem } from '../../../../src/server/service/text-argument.ts';

const recursive: Schema = z.object({
  key: z.lazy((): z.ZodType => z.union([z.string(), z.lazy(() => z.string())])),
});

test.each<[string, Schema]>([
  ['a string', z.object({ key: z.string() })],
  ['a string of zod/mini', mini.object({ key: mini.string() })],
  ['a format', z.object({ key: z.email() })],
  ['a brand', z.object({ key: z.string().brand('account') })],
  ['a template', z.object({ key: z.templateLiteral(['us/', z.string()]) })],
  ['one of several texts', z.object({ key: z.enum(['us', 'eu']) })],
  ['literals', z.object({ key: z.literal(['us', 'eu']) })],
  ['a union of texts', z.object({ key: z.union([z.literal('us'), z.string()]) })],
  ['a text with a default', z.object({ key: z.string().optional().default('us/ann') })],
  ['a text that is read-only', z.object({ key: z.string().readonly() })],
  ['a text that is no longer optional', z.object({ key: z.string().optional().nonoptional() })],
  [
    'a conversion to text',
    z.object({ key: z.number().pipe(z.transform(String)).pipe(z.string()) }),
  ],
  ['a conversion that only the types know', z.object({ key: z.number().transform(String) })],
  ['a text of a type of its own', z.object({ key: z.custom<`us/${string}`>() })],
  ['a lazy text', recursive],
  ['arguments with a refinement', z.object({ key: z.string() }).refine(() => true)],
  [
    'a union of arguments',
    z.union([z.object({ key: z.string() }), z.object({ key: z.literal('x'), n: z.int() })]),
  ],
  ['an intersection', z.intersection(z.object({ n: z.int() }), z.object({ key: z.string() }))],
])('%s is text in every call', (_, schema) => {
  expect(describeArgumentProblem(schema, 'key')).toBeUndefined();
});

test.each([
  ['keys.0', z.object({ keys: z.array(z.string()) })],
  ['writes.0.key', z.object({ writes: z.array(z.object({ key: z.string() })) })],
])('the text %s of the first item of a list', (path, schema) => {
  expect(describeArgumentProblem(schema, path)).toBeUndefined();
});

test.each([
  ['keys.1', z.object({ keys: z.array(z.string()) })],
  ['keys.0', z.object({ keys: z.array(z.int()) })],
  ['keys.0.key', z.object({ keys: z.array(z.string()) })],
  ['keys', z.object({ keys: z.array(z.string()) })],
])('%s is not text of the first item of a list', (path, schema) => {
  expect(describeArgumentProblem(schema, path)).toContain(
    `the argument '${path}' is not text in every call`,
  );
});

const endless = (): Schema => z.lazy(endless as () => z.ZodType);

test.each<[string, Schema]>([
  ['a number', z.object({ key: z.int() })],
  ['an optional text', z.object({ key: z.string().optional() })],
  ['a text or null', z.object({ key: z.string().nullable() })],
  ['a literal number', z.object({ key: z.literal(['us', 1]) })],
  ['a number of a TypeScript enum', z.object({ key: z.enum({ us: 1 } as never) })],
  ['a union with a number', z.object({ key: z.union([z.string(), z.int()]) })],
  ['a conversion to a number', z.object({ key: z.string().pipe(z.coerce.number()) })],
  ['anything', z.object({ key: z.unknown() })],
  ['an endless schema', z.object({ key: endless() as z.ZodType })],
])('%s is not text in every call', (_, schema) => {
  expect(describeArgumentProblem(schema, 'key')).toContain(
    "the argument 'key' is not text in every call",
  );
});

test.each<[string, Schema]>([
  ['other arguments', z.object({ other: z.string() })],
  ['arguments of any names', z.record(z.string(), z.string())],
  ['no object', z.string()],
  [
    'a union of which one has it',
    z.union([z.object({ key: z.string() }), z.object({ other: z.string() })]),
  ],
])('%s: there is no such argument', (_, schema) => {
  expect(describeArgumentProblem(schema, 'key')).toContain(
    "there is no argument 'key' in every call",
  );
});
