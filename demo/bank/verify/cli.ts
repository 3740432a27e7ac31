/**
 * `npm run verify:bank -- FILE`: judges a run by the history that `--history` has written, and
 * fails at a fault.
 */
import { readFileSync } from 'node:fs';
import { parseHistory } from './history.ts';
import { verifyHistory } from './verify-history.ts';

const EXIT_FAULT = 1;
const EXIT_USAGE = 2;

const [path] = process.argv.slice(2);
if (path === undefined) {
  console.error(
    'verify:bank: name the file of a history, which demo:bank --headless --history FILE writes',
  );
  process.exitCode = EXIT_USAGE;
} else {
  try {
    const verdict = verifyHistory(parseHistory(read(path)));
    console.log(JSON.stringify(verdict));
    if (!verdict.ok) process.exitCode = EXIT_FAULT;
  } catch (error) {
    console.error(
      `verify:bank: ${path}: ${error instanceof Error ? error.message : String(error)}`,
    );
    process.exitCode = EXIT_FAULT;
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    throw new Error(
      `${cause}. Write one first: npm run demo:bank -- --headless --history ${file}`,
      { cause: error },
    );
  }
}
