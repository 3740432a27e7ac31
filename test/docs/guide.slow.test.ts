/** Pages of the documentation: their code runs and prints what they say. */
import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { output } from './bundle.ts';
import { pageNames, parsePage, readPage } from './guide.ts';

/** What the page takes from a test runner: it prints which tests failed, and why. */
const RUNNER = `
import { deepStrictEqual } from 'node:assert/strict';
const bodies: [string, () => Promise<void>][] = [];
const describe = (_: string, body: () => void) => body();
const test = (name: string, body: () => Promise<void>) => bodies.push([name, body]);
const expect = (actual: unknown) => ({ toEqual: (expected: unknown) => deepStrictEqual(actual, expected) });
`;
const REPORT = `
for (const [name, body] of bodies) await body().catch((error: unknown) => console.log('FAILED', name, error));
console.log(bodies.length > 20 ? 'judged' : 'not judged');
`;

const pages = await pageNames();

// Each is a process of its own, some of which wait.
describe.concurrent('guide', { timeout: 300_000 }, () => {
  test.each(pages)('%s → its code prints the output of the page', async (name) => {
    const { program, printed } = await readPage(name);
    expect(printed).not.toBe('');
    expect(await output(program, `${name}.md.ts`)).toBe(printed);
  });

  test('write-your-own → its binding passes the conformance suite', async () => {
    const { checked, printed } = await readPage('bindings/write-your-own');
    const program =
      checked.replace("import { describe, expect, test } from 'vitest';", RUNNER) + REPORT;
    expect(await output(program, 'write-your-own.md.ts')).toBe(`${printed}judged\n`);
  });
});

describe('blocks', () => {
  const page = (info: string): string => `# Page\n\n\`\`\`${info}\nconst a = 1;\n\`\`\`\n`;

  test.each(['ts', 'ts check: it needs a cluster', 'ts fragment: shop is yours'])(
    '%s → is looked at',
    (info) => {
      const { program, checked, leftOut } = parsePage('page', page(info));
      const isRun = info === 'ts';
      expect([program, checked]).toEqual(
        [isRun, !info.includes('fragment')].map((is) => (is ? 'const a = 1;\n' : '')),
      );
      expect(leftOut.map(({ line }) => line)).toEqual(isRun ? [] : [3]);
    },
  );

  test.each(['js', 'ts check', 'ts check: ', 'ts fragment', 'tsx', 'text once'])(
    '%s → is refused',
    (info) => {
      expect(() => parsePage('page', page(info))).toThrow('a block that no test looks at');
    },
  );
});

test('docs/README.md → lists every page, and no other', async () => {
  const docs = new URL('../../docs/', import.meta.url);
  const files = await readdir(docs, { recursive: true });
  const index = await readFile(new URL('README.md', docs), 'utf8');
  const listed = [...index.matchAll(/\]\(([^)]+\.md)\)/g)].map(([, path = '']) => path);
  const written = files.filter((file) => file.endsWith('.md') && file !== 'README.md');
  expect(listed.toSorted()).toEqual(written.toSorted());
});
