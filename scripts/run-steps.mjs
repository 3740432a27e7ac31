/** Runs commands one after the other and adds up the tests that they report. */
import { run } from './exec.mjs';

/** A failure as test.mjs lists it: its name, then what it reports, indented. */
const FAILURE = /^failed: .*\n(?: {2}.*\n)*/gm;

/**
 * Runs `parts`, prints once more what failed, and, as the last line, `N passed, N failed`, then `,
 * N skipped` if some were. A part without such a last line counts as failed if it ends with an exit
 * code other than 0. The remaining parts still run, unless the part `isRequired`.
 *
 * @param {readonly { command: readonly string[], isRequired?: boolean, skip?: string }[]} parts `skip`: why not to run it
 * @returns {Promise<number>} the exit code
 */
export async function runParts(parts) {
  const sum = { passed: 0, failed: 0, skipped: 0 };
  const failures = [];
  for (const { command, isRequired, skip } of parts) {
    const [tool, ...args] = command;
    console.log(`\n== ${command.join(' ')}${skip === undefined ? '' : `: not run: ${skip}`}`);
    if (skip !== undefined) continue;
    const from = performance.now();
    const { code, output } = await run(tool, args, { echo: true });
    console.log(`== took ${((performance.now() - from) / 1000).toFixed(0)} s`);
    const counts = countsIn(output);
    sum.passed += counts?.passed ?? 0;
    sum.skipped += counts?.skipped ?? 0;
    sum.failed += counts === undefined || counts.failed === 0 ? Number(code !== 0) : counts.failed;
    if (code !== 0)
      failures.push(`== failed: ${command.join(' ')}`, ...(output.match(FAILURE) ?? []));
    if (code !== 0 && isRequired) break;
  }
  for (const failure of failures) console.log(failure.trimEnd());
  const { passed, failed, skipped } = sum;
  console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
  return failed === 0 ? 0 : 1;
}

function countsIn(output) {
  const last = output.trimEnd().split('\n').at(-1) ?? '';
  const [, passed, failed, skipped = '0'] =
    /^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$/.exec(last) ?? [];
  if (passed === undefined) return undefined;
  return { passed: Number(passed), failed: Number(failed), skipped: Number(skipped) };
}
