/** The page on troubleshooting quotes messages as the package prints them. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const src = fileURLToPath(new URL('../../src', import.meta.url));
const page = await readFile(
  new URL('../../docs/operate/troubleshooting.md', import.meta.url),
  'utf8',
);
const files = (await readdir(src, { recursive: true })).filter((file) => file.endsWith('.ts'));
const source = (await Promise.all(files.map((file) => readFile(join(src, file), 'utf8')))).join(
  '\n',
);

test('troubleshooting: every quoted message → is one of the package', () => {
  const quoted = [...page.matchAll(/^\|.*$/gm)].flatMap(([row]) =>
    [...row.matchAll(/"([^"]+)"/g)].map(([, text]) => text),
  );
  expect(quoted.length).toBeGreaterThan(5);
  expect(quoted.filter((text) => !source.includes(text ?? ''))).toEqual([]);
});

const alarms = await readFile(join(src, 'server/node/alarms/site-alarm.ts'), 'utf8');
const kinds = [...alarms.slice(0, alarms.indexOf('readonly site')).matchAll(/\| '([a-z-]+)'/g)].map(
  ([, kind = '']) => kind,
);

test('troubleshooting: every kind of alarm → is raised somewhere', () => {
  expect(kinds.filter((kind) => source.split(`'${kind}'`).length < 3)).toEqual([]);
});

test('troubleshooting: every kind of alarm → has a row', async () => {
  expect(kinds.length).toBeGreaterThan(10);
  const pages = [
    page,
    await readFile(new URL('../../docs/operate/metrics-and-alarms.md', import.meta.url), 'utf8'),
  ];
  expect(kinds.filter((kind) => !pages.every((text) => text.includes(`\`${kind}\``)))).toEqual([]);
});
