/** `npm test` starts no browser and no real store unless its tests are named. */
import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';

const { LANES, withProjects } = (await import('../../scripts/select-projects.mjs' as string)) as {
  readonly LANES: { readonly all: readonly string[] };
  withProjects(value: readonly string[]): readonly string[];
};

const FAST = [
  'unit',
  'unit-apart',
  'docs',
  'docs-apart',
  'conformance',
  'conformance-apart',
  'property',
  'property-apart',
  'simulation',
  'integration',
  'types',
];
const args = (...names: readonly string[]): string[] => names.map((name) => `--project=${name}`);

test.each([
  { given: [], runs: args(...FAST) },
  { given: ['-t', 'a name'], runs: ['-t', 'a name', ...args(...FAST)] },
  { given: ['--project=unit'], runs: args('unit', 'unit-apart') },
  { given: ['--project=unit-apart'], runs: args('unit-apart') },
  {
    given: ['--project', 'engines', '--project', 'unit'],
    runs: args('engines', 'unit', 'unit-apart'),
  },
  { given: ['--project=!unit'], runs: args(...FAST.filter((name) => !name.startsWith('unit'))) },
  {
    given: ['--project', '!unit', '--project=!types'],
    runs: args(...FAST.filter((name) => !/^(unit|types)/.test(name))),
  },
  { given: ['--project=unit', '--project=!e2e'], runs: args('unit', 'unit-apart') },
  { given: ['--project=unit', '--project=!unit-apart'], runs: args('unit') },
])('$given → $runs', ({ given: value, runs }) => {
  expect(withProjects(value)).toEqual(runs);
});

test('an unknown project → the error lists the known ones', () => {
  expect(() => withProjects(['--project=!unti'])).toThrow(
    /no project 'unti': there are unit, .*engines/,
  );
  expect(() => withProjects(['--project=unit', '--project=!unit'])).toThrow(
    'no project is left to run',
  );
});

test('projects: one for each directory of tests', () => {
  const folders = readdirSync(new URL('../', import.meta.url), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
  const apart = new Set(folders.map((name) => `${name}-apart`));
  expect(
    [...LANES.all, 'engines'].filter((name) => !folders.includes(name) && !apart.has(name)),
  ).toEqual([]);
});
