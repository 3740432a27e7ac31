/**
 * One fingerprint for one meaning, whichever zod of the peer range an end has, and another for
 * another meaning.
 */
import { expect, test } from 'vitest';
import type { core } from 'zod';
import manifest from '../../../package.json' with { type: 'json' };
import oldestManifest from 'zod-oldest/package.json' with { type: 'json' };
import { hashOperation } from '../../../src/contract/schema-hash.ts';
import { CHECKED, COMMON, VERSIONS } from '../../support/zod-schemas.ts';

const hashOf = (args: core.$ZodType): string => hashOperation({ access: 'read', args });
const versions = Object.values(VERSIONS);

/** The fingerprints of each meaning, by each zod. */
const hashes: readonly (readonly [meaning: string, hashes: readonly string[]])[] = [
  ...Object.entries(COMMON).map(
    ([meaning, make]) =>
      [
        meaning,
        versions.flatMap(({ full, mini }) => [hashOf(make(full)), hashOf(make(mini as never))]),
      ] as const,
  ),
  ...Object.entries(CHECKED).map(
    ([meaning, [full, mini]]) =>
      [meaning, versions.flatMap((z) => [hashOf(full(z.full)), hashOf(mini(z.mini))])] as const,
  ),
];

test('the oldest zod → is the first of the peer range', () => {
  expect(manifest.peerDependencies.zod).toBe(`^${oldestManifest.version}`);
});

test.each(hashes)(
  '%s → one fingerprint by the oldest and the newest zod, and by zod/mini',
  (_, item) => {
    expect(new Set(item).size).toBe(1);
  },
);

test('schemas that mean something else → fingerprints that all differ', () => {
  const meanings = new Map<string | undefined, string[]>();
  for (const [meaning, [hash]] of hashes)
    meanings.set(hash, [...(meanings.get(hash) ?? []), meaning]);
  const alike = [...meanings.values()].filter((group) => group.length > 1);
  expect(alike).toEqual([]);
});

const { full: z } = VERSIONS.newest;
const a = z.object({ t: z.literal('a') });
const b = z.object({ t: z.literal('b') });

test.each<[what: string, one: core.$ZodType, other: core.$ZodType]>([
  [
    'fields in another order',
    z.object({ a: z.int(), b: z.null() }),
    z.object({ b: z.null(), a: z.int() }),
  ],
  ['values in another order', z.enum(['a', 'b']), z.enum(['b', 'a'])],
  ['an enum and its literals', z.enum(['a', 'b']), z.literal(['a', 'b'])],
  [
    'options with a discriminator',
    z.discriminatedUnion('t', [a, b]),
    z.discriminatedUnion('t', [b, a]),
  ],
  ['checks in another order', z.string().min(1).max(2), z.string().max(2).min(1)],
  ['options that are off', z.iso.datetime({ offset: false, local: false }), z.iso.datetime()],
  ['a union of one', z.union([z.string()]), z.string()],
  [
    'texts for readers',
    z.string().check(z.describe('a name'), z.meta({ title: 'Name' })),
    z.string(),
  ],
])('%s → one fingerprint', (_, item, other) => {
  expect(hashOf(item)).toBe(hashOf(other));
});

test.each<[what: string, one: core.$ZodType, other: core.$ZodType]>([
  ['one option or all', z.xor([z.string(), z.int()]), z.union([z.string(), z.int()])],
  ['exactly optional', z.exactOptional(z.string()), z.optional(z.string())],
  ['a loose record', z.looseRecord(z.string(), z.int()), z.record(z.string(), z.int())],
  ['a format of your own', z.stringFormat('mine', /^a/), z.stringFormat('mine', /^b/)],
  ['a check after a change', z.string().min(1).trim().max(2), z.string().trim().min(1).max(2)],
  [
    'a codec',
    z.codec(z.string(), z.int(), { decode: Number, encode: String }),
    z.pipe(z.string(), z.int() as never),
  ],
])('%s → another fingerprint', (_, item, other) => {
  expect(hashOf(item)).not.toBe(hashOf(other));
});

test('a domain as in http addresses → one fingerprint, though zod has changed its pattern', () => {
  const protocol = /^https?$/;
  const older = /^([a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?\.)+[a-zA-Z]{2,}$/;
  expect(hashOf(z.url({ protocol, hostname: older }))).toBe(hashOf(z.httpUrl()));
  expect(hashOf(z.url({ protocol, hostname: /^example\.com$/ }))).not.toBe(hashOf(z.httpUrl()));
});
