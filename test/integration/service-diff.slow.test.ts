/** `correctables service diff`, from the built package. */
import { expect, test } from 'vitest';
import { built } from '../support/programs.ts';
import { runProgram } from '../support/run-program.ts';

const [BANK, TICKETS] = await Promise.all([
  built('demo/bank/service.ts'),
  built('demo/tickets/service.ts'),
]);
const diff = (...args: string[]): ReturnType<typeof runProgram> =>
  runProgram(['dist/cli/main.js', 'service', ...args]);

test('a version that can follow → exit 0', async () => {
  const { code, stdout } = await diff('diff', BANK, BANK);
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'COMPATIBLE: the new version can start.\n' });
});

test('a version that cannot follow → exit 1, with all that is lacking; one JSON line with --json', async () => {
  const { code, stdout } = await diff('diff', TICKETS, BANK);
  expect(code).toBe(1);
  expect(stdout).toMatch(/^The data needs the table '\w+', which the service does not have\.$/m);
  expect(stdout).toMatch(/^INCOMPATIBLE: a start on the data of the old version is refused/m);
  const json = await diff('diff', TICKETS, BANK, '--json');
  expect(json.code).toBe(1);
  expect(JSON.parse(json.stdout)).toMatchObject({
    isCompatible: false,
    lost: expect.any(Array),
    added: expect.any(Array),
  });
});

test.each([
  ['no word', [], /<action> must be diff/],
  ['one module', ['diff', BANK], /<new> is required/],
  [
    'a missing module',
    ['diff', BANK, 'nowhere.js'],
    /<new> names nowhere\.js, and there is no such file/,
  ],
  ['three modules', ['diff', BANK, BANK, BANK], /takes an action and two modules/],
])('%s → exit 2, and what is wrong', async (_name, args, message) => {
  const { code, stderr } = await diff(...args);
  expect(code).toBe(2);
  expect(stderr).toMatch(message);
});
