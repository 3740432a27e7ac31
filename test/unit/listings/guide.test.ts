/** Pages of the documentation: their code runs and prints what they say. */
import { describe, expect, test } from 'vitest';
import { output } from './bundle.ts';
import { pageNames, readPage } from './guide.ts';

/** What the page takes from a test runner: says which tests failed, and why. */
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

describe('guide', () => {
  test.each(pages)('%s → its code prints what the page says', async (name) => {
    const { program, printed } = await readPage(name);
    expect(printed).not.toBe('');
    expect(await output(program, `${name}.md.ts`)).toBe(printed);
  });

  test('write-a-binding → its binding keeps the contract that the page tells of', async () => {
    const { checked, printed } = await readPage('guide/write-a-binding');
    const program = checked.replace("import { describe, expect, test } from 'vitest';", RUNNER) + REPORT;
    expect(await output(program, 'write-a-binding.md.ts')).toBe(`${printed}judged\n`);
  });
});
