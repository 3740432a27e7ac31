/**
 * Wrong calls, as a program in JavaScript makes them: each ends in an error that names what does
 * not fit and shows how it is written, at every entry that is published. Entries are loaded without
 * their types, as such a program does.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { isCorrectableError } from '../../../src/index.ts';
import { mistakes } from './cases.ts';
import { binding, type Entry, type Mistake, type Untyped } from './untyped.ts';

const manifest = JSON.parse(
  readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
) as {
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
};

const published = Object.entries(manifest.exports).flatMap(([name, target]) =>
  typeof target === 'string'
    ? []
    : [[name, target.default.replace('./dist/', '').replace(/js$/, 'ts')] as const],
);

/** The error that the call ends with: thrown, rejected, or of a Correctable that closes. */
async function endOf(
  call: () => unknown,
): Promise<Error & { readonly field?: unknown; readonly code?: unknown }> {
  try {
    await call();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  return new Error('no error');
}

describe.each(published)('%s', async (entryName, source) => {
  const entry = (await import(`../../../src/${source}`)) as Entry;
  const known = mistakes[entryName] ?? {};

  test('every function and class is in the table', () => {
    const functions = Object.keys(entry).filter((name) => typeof entry[name] === 'function');
    expect(functions.filter((name) => !(name in known))).toEqual([]);
  });

  for (const [name, wrong] of Object.entries(known)) {
    if (typeof wrong === 'string') continue;
    const { code = 'INVALID_ARGUMENT', shows, whole, parts } = wrong;
    const rows = (of: readonly Mistake[]) =>
      of.map(([description, field, call, ends = code]) => ({
        what: description,
        field,
        call,
        ends,
      }));
    const refused = async ({ field, call, ends }: ReturnType<typeof rows>[number]) => {
      const error = await endOf(() => call(entry[name] as Untyped, entry));
      expect(error).toMatchObject({ code: ends });
      if (isCorrectableError(error)) expect(error.field).toBe(field);
      else expect(error.message).toContain(field);
      return error;
    };
    test.each(rows(whole))(`${name}: $what → $ends, which shows the right call`, async (row) => {
      expect((await refused(row)).message).toContain(shows);
    });
    test.each(rows(parts))(`${name}: $what → $ends, which names $field`, async (row) => {
      await refused(row);
    });
  }
});

test('an option that is misspelt, in the core → the message lists those that there are, and of which kind', async () => {
  const { createClient } = await import('../../../src/index.ts');
  // @ts-expect-error misspelt
  const error = await endOf(() => createClient(binding(), { timeoutMS: 5 }));
  expect(error.message).toMatch(
    /^timeoutMS: unknown option "timeoutMS"\. Did you mean "timeoutMs"\? Options: .*\bretry\b/,
  );
});

test('a deployment in the place of one of its sites → the message names the call that returns a site', async () => {
  const { createClient } = await import('../../../src/index.ts');
  const deployment = { sites: ['ireland'], site: () => binding(), close: async () => {} };
  const error = await endOf(() => createClient(deployment as never));
  expect(error).toMatchObject({
    field: 'binding',
    message: expect.stringContaining('deployment.site(name)'),
  });
});
