/** `npm test` starts no real store unless its tests are asked for by name. */
import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';

const { withProjects } = (await import('../../../scripts/chosen-projects.mjs' as string)) as {
  withProjects(given: readonly string[]): readonly string[];
};

const NODE = [
  'unit',
  'unit-apart',
  'contract',
  'property',
  'property-apart',
  'simulation',
  'integration',
  'e2e',
  'types',
];
const args = (...names: readonly string[]): string[] => names.map((name) => `--project=${name}`);

test.each([
  { given: [], runs: args(...NODE) },
  { given: ['-t', 'a name'], runs: ['-t', 'a name', ...args(...NODE)] },
  { given: ['--project=unit'], runs: args('unit', 'unit-apart') },
  { given: ['--project=unit-apart'], runs: args('unit-apart') },
  { given: ['--project', 'engines', '--project', 'unit'], runs: args('engines', 'unit', 'unit-apart') },
  { given: ['--project=!unit'], runs: args(...NODE.filter((name) => !name.startsWith('unit'))) },
  {
    given: ['--project', '!unit', '--project=!e2e'],
    runs: args('contract', 'property', 'property-apart', 'simulation', 'integration', 'types'),
  },
  { given: ['--project=unit', '--project=!e2e'], runs: args('unit', 'unit-apart') },
  { given: ['--project=unit', '--project=!unit-apart'], runs: args('unit') },
])('$given → $runs', ({ given, runs }) => {
  expect(withProjects(given)).toEqual(runs);
});

test('a project that there is not → says which there are', () => {
  expect(() => withProjects(['--project=!unti'])).toThrow(/no project 'unti': there are unit, .*engines/);
  expect(() => withProjects(['--project=unit', '--project=!unit'])).toThrow('no project is left to run');
});

test('projects: one for each folder of tests', () => {
  const folders = readdirSync(new URL('../../', import.meta.url), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
  const apart = new Set(folders.map((name) => `${name}-apart`));
  expect([...NODE, 'engines'].filter((name) => !folders.includes(name) && !apart.has(name))).toEqual([]);
});
