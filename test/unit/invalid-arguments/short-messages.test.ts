/**
 * The build for pages in production (`scripts/short-messages.ts`): wrong calls end in the same
 * codes and fields as in the other build, and no text of an error is downloaded.
 */
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { afterAll, describe, expect, test } from 'vitest';
import entries from '../../../scripts/entries.json' with { type: 'json' };
import { shortenMessages } from '../../../scripts/short-messages.ts';
import { sampleCases } from '../../support/lane.ts';
import { mistakes } from './cases.ts';
import type { Entry, Untyped } from './untyped.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

const shortMessages: Plugin = {
  name: 'short-messages',
  setup: (bundling) => {
    bundling.onLoad({ filter: /\/src\/.*\.ts$/ }, async ({ path }) => ({
      contents: shortenMessages(await readFile(path, 'utf8')),
      loader: 'ts',
    }));
  },
};

await mkdir(join(root, 'build'), { recursive: true });
const folder = await mkdtemp(join(root, 'build/short-messages-'));
afterAll(() => rm(folder, { recursive: true }));

async function loadShort(source: string): Promise<Entry> {
  const outfile = join(folder, source.replaceAll('/', '-').replace('.ts', '.mjs'));
  await build({
    entryPoints: [`${root}${source}`],
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    outfile,
    plugins: [shortMessages],
  });
  return (await import(/* @vite-ignore */ pathToFileURL(outfile).href)) as Entry;
}

const published = entries
  .filter(({ runs }) => runs === 'anywhere')
  .map(({ subpath, source }) => [subpath, source]);

describe.each(sampleCases(published as [string, string][]))('%s', async (subpath, source) => {
  const entry = await loadShort(source);
  for (const [name, wrong] of Object.entries(mistakes[subpath] ?? {})) {
    if (typeof wrong === 'string') continue;
    const { code = 'INVALID_ARGUMENT', whole, parts } = wrong;
    for (const [what, field, call, ends = code] of [...whole, ...parts])
      test(`${name}: ${what} → the same code and field`, async () => {
        const error = await endOf(() => call(entry[name] as Untyped, entry));
        expect(error).toMatchObject({ code: ends, field });
      });
  }
});

async function endOf(call: () => unknown): Promise<unknown> {
  try {
    return await call();
  } catch (error) {
    return error;
  }
}

test('a text is left out by its place, with what is in it', () => {
  const code = `
    const CALL = "create({ name: 'x' })";
    check(isText(name), 'name', \`give a text, got \${typeof name}\`);
    throw new CorrectableError('TIMEOUT', isLate ? 'too late' : \`after \${ms} ms\`, { field: 'at' });
    const message = describeMiss(key);
    const problem = isRight ? undefined : 'must be right';
    show('give a text');
    fail(error.code, error.message);
  `;
  expect(shortenMessages(code)).toBe(`
    const CALL = '';
    check(isText(name), 'name', '');
    throw new CorrectableError('TIMEOUT', '', { field: 'at' });
    const message = '';
    const problem = isRight ? undefined : '';
    show('give a text');
    fail(error.code, error.message);
  `);
});

test('an error without a text has its code as its message', async () => {
  const { correctable } = await loadShort('src/index.ts');
  const error = await endOf(() => (correctable as Untyped)(['final'], undefined, { timeoutMs: 5 }));
  expect(error).toMatchObject({
    message: 'INVALID_ARGUMENT',
    code: 'INVALID_ARGUMENT',
    field: 'executor',
  });
});
