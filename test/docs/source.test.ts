/**
 * Tests see the source, whatever was built last: what a demo imports by name is what a test imports
 * by path.
 */
import { expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };

const entries = Object.entries(manifest.exports).flatMap(([subpath, to]) =>
  typeof to === 'string' ? [] : [{ name: subpath.replace('.', manifest.name), built: to.default }],
);

test.each(entries)('$name → its source', async ({ name, built }) => {
  const source = built.replace('./dist/', '../../src/').replace(/\.js$/, '.ts');
  // One after the other: what is asked for twice at once, and is not transformed yet, the runner
  // may load twice.
  const byName = (await import(name)) as Record<string, unknown>;
  const byPath = (await import(source)) as Record<string, unknown>;
  const names = Object.keys(byPath);
  expect(names.length).toBeGreaterThan(0);
  for (const item of names) expect(byName[item], item).toBe(byPath[item]);
});

test('entries: those that users have', () => {
  expect(entries.length).toBeGreaterThan(10);
});
