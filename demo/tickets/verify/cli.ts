/**
 * `npm run verify:tickets -- FILE [THRESHOLD]`: checks each sale of a history that `--history` has
 * written, and fails if there was a fault.
 */
import { readFileSync } from 'node:fs';
import { verifySales, type Verdict } from './verify-sales.ts';

const FAULTS = [
  'revoked',
  'contradicted',
  'promisedBeyondStock',
  'leftHanging',
  'oversold',
  'duplicates',
  'unknown',
  'lost',
] as const satisfies readonly (keyof Verdict)[];
const EXIT_FAULT = 1;
const EXIT_USAGE = 2;

const [path, threshold = '20'] = process.argv.slice(2);
if (path === undefined) {
  console.error('name the file of a history, and the threshold of its sale if that is not 20');
  process.exitCode = EXIT_USAGE;
} else if (!judgeFile(path, Number(threshold))) process.exitCode = EXIT_FAULT;

/** Checks the sales of a file. Returns whether there was no fault. */
function judgeFile(file: string, least: number): boolean {
  const sales = new Map<unknown, unknown[]>();
  for (const text of readFileSync(file, 'utf8').split('\n')) {
    if (text === '') continue;
    const line = JSON.parse(text) as { readonly sale?: unknown };
    const sale = sales.get(line.sale);
    if (sale === undefined) sales.set(line.sale, [line]);
    else sale.push(line);
  }
  let isFaultless = sales.size > 0;
  if (!isFaultless) console.error(`${file}: no sale in it`);
  for (const [sale, history] of sales) {
    const verdict = verifySales(history, { threshold: least });
    console.log(JSON.stringify({ ...(sale !== undefined && { sale }), ...verdict }));
    // Without its tickets, a history cannot show lost or unknown tickets.
    if (verdict.tickets === 0 || FAULTS.some((fault) => verdict[fault] > 0)) isFaultless = false;
  }
  return isFaultless;
}
