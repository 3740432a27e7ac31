/** docs/spec/zookeeper-client.md names tests: they are there. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const root = new URL('../../../../../', import.meta.url);
const FOLDERS = {
  client: 'test/unit/bindings/zookeeper/client',
  engines: 'test/engines/zookeeper',
} as const;

const page = readFileSync(new URL('docs/spec/zookeeper-client.md', root), 'utf8');
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| The Java client '))
  .map((line) => line.slice(2, -2).split(' | '));

test.each(rows)('the Java client %s → tests that are there', (_guarantee, _here, tests = '') => {
  const named = [...tests.matchAll(/`(client|engines)\/([\w-]+)` “([^”]+)”/g)];
  expect(named.length).toBeGreaterThan(0);
  // Nothing else is in the cell: no name escapes for the way it is written.
  expect(tests.split('; `')).toHaveLength(named.length);
  for (const [, room, file, name = ''] of named) {
    const text = readFileSync(
      new URL(`${FOLDERS[room as keyof typeof FOLDERS]}/${file}.test.ts`, root),
      'utf8',
    );
    expect(text).toContain(`'${name}'`);
  }
});
