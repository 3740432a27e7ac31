import { expect, test } from 'vitest';

interface Row {
  readonly folders: string;
  readonly lines: number;
  readonly problem: string;
}

const { checkBudgets } = (await import('../../../scripts/budgets.mjs' as string)) as {
  checkBudgets(budgets: Readonly<Record<string, number>>, lines: ReadonlyMap<string, number>): readonly Row[];
};

test('a folder: counts what lies below it, and fails beyond its budget or if it does not exist', () => {
  const lines = new Map([
    ['src/a/one.ts', 10],
    ['src/a/b/two.ts', 5],
    ['src/ab.ts', 100],
  ]);
  const rows = checkBudgets({ src: 115, 'src/a': 14, 'src/a/b src/c': 9 }, lines);
  expect(rows.map(({ lines: count, problem }) => [count, problem])).toEqual([
    [115, ''],
    [15, '1 over'],
    [5, 'src/c does not exist'],
  ]);
});
