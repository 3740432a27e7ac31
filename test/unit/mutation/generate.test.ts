/** Generated mutants: what is replaced by what, and what the compiler refuses. */
import { expect, test } from 'vitest';
import { project } from './project.ts';
import { quietly, scripts } from './support.ts';

/** By what they are about: a source, and its mutants. */
const SAMPLES: Record<string, readonly [source: string, mutants: readonly string[]]> = {
  'a condition is false, is true, has another boundary': [
    'export function f(a: number) { if (a < 7) throw a; }',
    ['a < 7 → false', 'a < 7 → true', 'a < 7 → a <= 7', '7 → (7 + 1)'],
  ],
  'a comparison that is returned is negated, has another boundary': [
    'export const f = (a: number, b: number) => a >= b;',
    ['a >= b → a > b', 'a >= b → a < b'],
  ],
  'a statement is removed, unless the types miss it': [
    'export class A { a: number; constructor() { this.a = 3; } go() { this.run(); } run() {} }',
    ['3 → (3 + 1)', 'this.run(); → ;'],
  ],
  '`&&` is swapped, `??` has one side': [
    'export function f(a: boolean, b?: boolean) { const c = a && (b ?? true); return { c }; }',
    [
      'a && (b ?? true) → (a) || ((b ?? true))',
      'b ?? true → b',
      'b ?? true → true',
      'true → false',
      '{ c } → undefined',
    ],
  ],
  'one side of `??` stays away where the types need it': [
    'export const f = (a?: number): number => a ?? 2;',
    ['a ?? 2 → 0', 'a ?? 2 → 2', '2 → (2 + 1)'],
  ],
  'a list that is returned is emptied': ['export const f = (a: string[]) => a.slice();', ['a.slice() → []']],
  'a text that is returned is emptied': ['export const f = (a: string): string => a.trim();', ["a.trim() → ''"]],
  'numbers, sums and extremes are changed, sentences are not': [
    "export function f(a: number): { b: number } { const b = Math.max(a, 'x'.length - 1); return { b }; }",
    ["Math.max(a, 'x'.length - 1) → Math.min(a, 'x'.length - 1)", "'x'.length - 1 → 'x'.length + 1", '1 → (1 + 1)'],
  ],
  'types, imports and names have none': [
    "export type A = 1 | true;\nexport interface B { 1: 2 }\nimport './0.ts';",
    [],
  ],
  'what does not compile in one function leaves those of another': [
    `export function f(a: { b: number } | undefined): number { return a ? a.b : 0; }
export function g(a: number): boolean { return a > 4; }`,
    ['a ? a.b : 0 → 0', '0 → 1', 'a > 4 → a >= 4', 'a > 4 → a <= 4', '4 → (4 + 1)'],
  ],
};

test('mutants → are those of each kind that compile', async () => {
  const named = Object.entries(SAMPLES).map(([about, [source, mutants]], at) => ({
    about,
    mutants,
    source,
    file: `${at}.ts`,
  }));
  const root = project(Object.fromEntries(named.map(({ file, source }) => [file, source])));
  const files = named.map(({ file }) => `src/${file}`);
  const found = await scripts.checkedMutants(root, files, { ...quietly, seed: 1 });
  const byAbout = named.map(({ about, file }) => [
    about,
    found.filter((mutant) => mutant.file === `src/${file}`).map(({ from, to }) => `${from} → ${to}`),
  ]);
  expect(Object.fromEntries(byAbout)).toEqual(Object.fromEntries(named.map(({ about, mutants }) => [about, mutants])));

  const ten = (seed: number) => scripts.checkedMutants(root, files, { ...quietly, seed, sample: 10 });
  const [one, again, other] = [await ten(1), await ten(1), await ten(2)];
  expect(one).toHaveLength(10);
  expect(again).toEqual(one);
  expect(other).not.toEqual(one);
});
