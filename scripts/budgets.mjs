/**
 * Prints how many lines each folder has beside its budget in `budgets.json`, and fails if a folder has more. A row may name
 * several folders. Counts the files that git tracks.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from './exec.mjs';

/**
 * @param {Readonly<Record<string, number>>} budgets lines by folders, which a space separates
 * @param {ReadonlyMap<string, number>} lines by file
 * @returns {{ folders: string, lines: number, budget: number, problem: string }[]}
 */
export function checkBudgets(budgets, lines) {
  return Object.entries(budgets).map(([folders, budget]) => {
    const names = folders.split(' ');
    const filesIn = (name) => [...lines].filter(([file]) => file.startsWith(`${name}/`));
    const total = names.flatMap(filesIn).reduce((sum, [, count]) => sum + count, 0);
    const empty = names.filter((name) => filesIn(name).length === 0);
    const problems = [
      ...(total > budget ? [`${total - budget} over`] : []),
      ...empty.map((name) => `${name} does not exist`),
    ];
    return { folders, lines: total, budget, problem: problems.join(', ') };
  });
}

function countLines() {
  const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0');
  const files = tracked.filter((file) => file !== '' && existsSync(join(root, file)));
  return new Map(files.map((file) => [file, readFileSync(join(root, file), 'latin1').split('\n').length - 1]));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const budgets = JSON.parse(readFileSync(join(root, 'scripts/budgets.json'), 'utf8'));
  const rows = checkBudgets(budgets, countLines());
  for (const { folders, lines, budget, problem } of rows)
    console.log(
      `${String(lines).padStart(6)} of ${String(budget).padStart(6)}  ${folders}${problem && `  ← ${problem}`}`,
    );
  if (rows.some(({ problem }) => problem !== '')) {
    console.log(
      'Make the folder smaller. Only a commit of its own may raise a row of scripts/budgets.json (CONTRIBUTING.md).',
    );
    process.exit(1);
  }
}
