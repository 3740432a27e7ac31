/** The command of the histories. Its runs are tests of engines. */
import { expect, test } from 'vitest';
import { built } from '../support/programs.ts';
import { runProgram } from '../support/run-program.ts';

const CLI = await built('test/histories/main.ts');

test('histories: no engine → exit code 2, what to write instead, no stack', async () => {
  const { code, stdout, stderr } = await runProgram([CLI]);
  expect(stderr).toMatch(/^histories: say which engine: .*\n$/);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
});
