/** The last line of `.ci/run` adds up its parts. */
import { expect, test, vi } from 'vitest';

const { runParts } = (await import('../../../scripts/parts.mjs' as string)) as {
  runParts(parts: readonly object[]): Promise<number>;
};
const printing = (line: string, code = 0): { readonly command: readonly string[] } => ({
  command: ['node', '-e', `console.log(${JSON.stringify(line)}); process.exit(${code})`],
});

async function lastLine(...parts: readonly object[]): Promise<[unknown, number]> {
  vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const lines: unknown[] = [];
  vi.spyOn(console, 'log').mockImplementation((line) => void lines.push(line));
  const code = await runParts(parts);
  vi.restoreAllMocks();
  return [lines.at(-1), code];
}

test('tests are added up, a part without tests counts if it fails, what is skipped does not', async () => {
  const tests = [printing('3 passed, 0 failed, 2 skipped'), printing('5 passed, 0 failed')];
  expect(await lastLine(...tests, printing('done'), { command: ['x'], skip: 'why' })).toEqual([
    '8 passed, 0 failed, 2 skipped',
    0,
  ]);
  expect(await lastLine(printing('3 passed, 1 failed', 1), printing('broken', 3))).toEqual(['3 passed, 2 failed', 1]);
});

test('a required part fails: those after it do not run', async () => {
  const required = { ...printing('lint failed', 1), isRequired: true };
  expect(await lastLine(required, printing('5 passed, 0 failed'))).toEqual(['0 passed, 1 failed', 1]);
});
