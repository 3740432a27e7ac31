/**
 * Examples in docstrings: pasted into a program, they find what they name on each platform that the
 * package runs on.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** The lines of all examples, with the file that each is in. */
function exampleLines(): readonly string[] {
  const root = new URL('../../src/', import.meta.url);
  const sources = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.ts'),
  );
  return sources.flatMap((path) => {
    const text = readFileSync(new URL(path, root), 'utf8');
    const examples = text.match(/@example\n(?: *\*(?! @|\/).*\n)*/g) ?? [];
    return examples.flatMap((item) =>
      item.split('\n').map((line) => `${path}: ${line.replace(/^ *\* ?/, '')}`),
    );
  });
}

test('none takes WebSocket of the platform, which Node 20 has not: what is left out is found', () => {
  const lines = exampleLines();
  expect(lines.length).toBeGreaterThan(100);
  expect(lines.filter((line) => /\bWebSocket\b/.test(line))).toEqual([]);
});
