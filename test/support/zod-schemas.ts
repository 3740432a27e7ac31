/**
 * Schemas by what they mean, as they are written with any 4.x of zod: in `zod`, and in `zod/mini`.
 */
import * as newest from 'zod';
import * as newestMini from 'zod/mini';
import * as oldest from 'zod-oldest';
import * as oldestMini from 'zod-oldest/mini';

export type Full = typeof newest;
export type Mini = typeof newestMini;

/** The two are typed as the newest has them. */
export const VERSIONS: Readonly<
  Record<'oldest' | 'newest', { readonly full: Full; readonly mini: Mini }>
> = {
  oldest: { full: oldest as unknown as Full, mini: oldestMini as unknown as Mini },
  newest: { full: newest, mini: newestMini },
};

/** What is the same in both. */
type Common = Pick<Full, keyof Full & keyof Mini>;
type Make<Z> = (z: Z) => newest.core.$ZodType;

const literals = (z: Common): Full => z as Full;

/** Written alike in both. No two mean the same. */
export const COMMON: Readonly<Record<string, Make<Common>>> = {
  string: (z) => z.string(),
  number: (z) => z.number(),
  int: (z) => z.int(),
  int32: (z) => z.int32(),
  float32: (z) => z.float32(),
  bigint: (z) => z.bigint(),
  int64: (z) => z.int64(),
  boolean: (z) => z.boolean(),
  date: (z) => z.date(),
  null: (z) => z.null(),
  undefined: (z) => z.undefined(),
  void: (z) => z.void(),
  any: (z) => z.any(),
  unknown: (z) => z.unknown(),
  never: (z) => z.never(),
  nan: (z) => z.nan(),
  symbol: (z) => z.symbol(),
  file: (z) => z.file(),
  email: (z) => z.email(),
  'email of a pattern': (z) => z.email({ pattern: /^.+@here$/ }),
  uuid: (z) => z.uuid(),
  uuidv4: (z) => z.uuidv4(),
  guid: (z) => z.guid(),
  url: (z) => z.url(),
  'url of a host': (z) => z.url({ hostname: /^here$/ }),
  nanoid: (z) => z.nanoid(),
  cuid: (z) => z.cuid(),
  cuid2: (z) => z.cuid2(),
  ulid: (z) => z.ulid(),
  xid: (z) => z.xid(),
  ksuid: (z) => z.ksuid(),
  emoji: (z) => z.emoji(),
  ipv4: (z) => z.ipv4(),
  ipv6: (z) => z.ipv6(),
  cidrv4: (z) => z.cidrv4(),
  cidrv6: (z) => z.cidrv6(),
  base64: (z) => z.base64(),
  base64url: (z) => z.base64url(),
  e164: (z) => z.e164(),
  jwt: (z) => z.jwt(),
  'jwt of an algorithm': (z) => z.jwt({ alg: 'HS256' }),
  datetime: (z) => z.iso.datetime(),
  'datetime with an offset': (z) => z.iso.datetime({ offset: true }),
  'datetime to the millisecond': (z) => z.iso.datetime({ precision: 3 }),
  'iso date': (z) => z.iso.date(),
  'iso time': (z) => z.iso.time(),
  duration: (z) => z.iso.duration(),
  literals: (z) => z.literal(['a', 'b']),
  'a literal': (z) => z.literal('a'),
  'a number as a literal': (z) => z.literal(1),
  enum: (z) => z.enum(['a', 'c']),
  'enum of TypeScript': (z) => z.enum({ One: 1, Two: 2, 1: 'One', 2: 'Two' }),
  array: (z) => z.array(z.string()),
  'array of numbers': (z) => z.array(z.number()),
  tuple: (z) => z.tuple([z.string(), z.int()]),
  'tuple in another order': (z) => z.tuple([z.int(), z.string()]),
  'tuple with more': (z) => z.tuple([z.string(), z.int()], z.int()),
  record: (z) => z.record(z.string(), z.int()),
  'record of all keys': (z) => z.record(z.enum(['a', 'b']), z.int()),
  'record of some keys': (z) => z.partialRecord(z.enum(['a', 'b']), z.int()),
  map: (z) => z.map(z.string(), z.int()),
  set: (z) => z.set(z.string()),
  union: (z) => z.union([z.string(), z.int()]),
  'union in another order': (z) => z.union([z.int(), z.string()]),
  'discriminated union': (z) =>
    z.discriminatedUnion('t', [
      z.object({ t: z.literal('a') }),
      z.object({ t: z.literal('b'), n: z.int() }),
    ]),
  intersection: (z) => z.intersection(z.object({ a: z.string() }), z.object({ b: z.string() })),
  object: (z) => z.object({ a: z.string() }),
  'object of another field': (z) => z.object({ b: z.string() }),
  'strict object': (z) => z.strictObject({ a: z.string() }),
  'loose object': (z) => z.looseObject({ a: z.string() }),
  'optional field': (z) => z.object({ a: z.optional(z.string()) }),
  nullable: (z) => z.nullable(z.string()),
  nullish: (z) => z.nullish(z.string()),
  readonly: (z) => z.readonly(z.string()),
  nonoptional: (z) => z.nonoptional(z.optional(z.string())),
  prefault: (z) => z.prefault(z.string(), 'a'),
  catch: ({ catch: make, string }) => make(string(), 'a'),
  lazy: (z) => z.lazy(() => z.string()),
  'object in itself': (z) => {
    const tree = z.object({
      get kids(): newest.core.$ZodType {
        return z.array(tree);
      },
    });
    return tree;
  },
  json: (z) => z.json(),
  'template literal': (z) => z.templateLiteral(['a', z.int()]),
  pipe: (z) => z.pipe(z.string(), z.transform((text: string) => text.length) as never),
  stringbool: (z) => z.stringbool(),
  coerced: (z) => literals(z).coerce.number(),
  instance: (z) => z.instanceof(Uint8Array),
};

/** Written otherwise in each of the two. */
export const CHECKED: Readonly<Record<string, readonly [full: Make<Full>, mini: Make<Mini>]>> = {
  'bounds of a length': [
    (z) => z.string().min(1).max(2),
    (z) => z.string().check(z.maxLength(2), z.minLength(1)),
  ],
  'another bound of a length': [
    (z) => z.string().min(1).max(3),
    (z) => z.string().check(z.minLength(1), z.maxLength(3)),
  ],
  'a length': [(z) => z.array(z.string()).length(3), (z) => z.array(z.string()).check(z.length(3))],
  'at least': [(z) => z.number().min(1), (z) => z.number().check(z.minimum(1))],
  'more than': [(z) => z.number().gt(1), (z) => z.number().check(z.gt(1))],
  'less than': [(z) => z.number().lt(1), (z) => z.number().check(z.lt(1))],
  'multiple of': [(z) => z.number().multipleOf(2), (z) => z.number().check(z.multipleOf(2))],
  'after a day': [(z) => z.date().min(new Date(0)), (z) => z.date().check(z.minimum(new Date(0)))],
  'a size': [(z) => z.set(z.string()).size(2), (z) => z.set(z.string()).check(z.size(2))],
  pattern: [(z) => z.string().regex(/^a/), (z) => z.string().check(z.regex(/^a/))],
  prefix: [(z) => z.string().startsWith('a'), (z) => z.string().check(z.startsWith('a'))],
  suffix: [(z) => z.string().endsWith('a'), (z) => z.string().check(z.endsWith('a'))],
  part: [(z) => z.string().includes('a'), (z) => z.string().check(z.includes('a'))],
  lowercase: [(z) => z.string().lowercase(), (z) => z.string().check(z.lowercase())],
  'trimmed, then bounded': [
    (z) => z.string().trim().min(1),
    (z) => z.string().check(z.trim(), z.minLength(1)),
  ],
  'bounded, then trimmed': [
    (z) => z.string().min(1).trim(),
    (z) => z.string().check(z.minLength(1), z.trim()),
  ],
  refined: [(z) => z.string().refine(() => true), (z) => z.string().check(z.refine(() => true))],
  default: [(z) => z.string().default('a'), (z) => z._default(z.string(), 'b')],
  catchall: [
    (z) => z.object({ a: z.string() }).catchall(z.int()),
    (z) => z.catchall(z.object({ a: z.string() }), z.int()),
  ],
};
