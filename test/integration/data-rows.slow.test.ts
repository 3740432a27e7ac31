/** `correctables data`, run as a command beside a server that uses the directory, and after it. */
// @rule STO-36
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createClient } from 'correctables';
import { redblue } from 'correctables/bindings/redblue';
import { allKindsContract } from '../support/all-kinds-service.ts';
import { built } from '../support/programs.ts';
import { Program, runProgram, type Ended } from '../support/run-program.ts';

const CLI = 'dist/cli/main.js';
const { visit, forget, open, order, serve } = allKindsContract;
const dataDir = mkdtempSync(join(tmpdir(), 'correctables-rows-'));
let module: string;
let server: Program;

const PROFILE = { born: new Date(0), id: 2n ** 70n, photo: new Uint8Array([1, 2, 3]) };
const ENCODED = {
  born: { $date: 0 },
  id: { $bigint: String(2n ** 70n) },
  photo: { $bytes: 'AQID' },
};
const ANN = {
  key: 'ann',
  fields: { profile: ENCODED, visits: 1, tags: ['vip'], notes: ['vip came'] },
};
const OHIO = {
  key: 'us/ohio',
  fields: { seats: 10, bread: 5, last: 'cake', line: ['cake'] },
};

beforeAll(async () => {
  module = await built('test/support/all-kinds-service.ts');
  const args = ['--data', dataDir, '--sites', 'ireland,ohio', '--port', '0', '--json'];
  server = new Program([CLI, 'serve', '--service', module, ...args]);
  const { sites } = JSON.parse(await server.line()) as { sites: Record<string, string> };
  const client = createClient(redblue(allKindsContract, { url: sites['ireland']!, WebSocket }));
  await client.invoke(visit({ key: 'ann', tag: 'vip', profile: PROFILE }));
  await client.invoke(visit({ key: 'bob', tag: 'x'.repeat(100), profile: null }));
  await client.invoke(visit({ key: 'gone', tag: 'x', profile: null }));
  await client.invoke(forget({ key: 'gone' }));
  await client.invoke(open({ key: 'us/ohio' }));
  await client.invoke(order({ key: 'us/ohio', item: 'tea' }));
  await client.invoke(order({ key: 'us/ohio', item: 'cake' }));
  await client.invoke(serve({ key: 'us/ohio' }));
  await client.close();
});
afterAll(() => {
  server[Symbol.dispose]();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Runs `data` with an action and the words behind the directory. */
const data = (action: string, ...words: string[]): Promise<Ended> =>
  runProgram([CLI, 'data', action, dataDir, ...words, '--service', module]);
const atIreland = (action: string, ...words: string[]): Promise<Ended> =>
  data(action, ...words, '--site', 'ireland');

const parseLines = ({ stdout }: Ended): unknown[] =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);

/** Returns the bytes and the times of all files. */
function photograph(): unknown[] {
  return readdirSync(dataDir, { recursive: true, encoding: 'utf8' })
    .toSorted()
    .map((name) => {
      const path = join(dataDir, name);
      const { mtimeMs, ctimeMs, size } = statSync(path);
      return [name, mtimeMs, ctimeMs, size, statSync(path).isFile() && readFileSync(path, 'hex')];
    });
}

describe('beside a running server', () => {
  test('list → a table that fits a terminal, and how many rows there are', async () => {
    const { code, stdout } = await atIreland('list', 'guests');
    const lines = stdout.trim().split('\n');
    expect([code, lines.length, lines[0]?.trim().split(/ +/)]).toEqual([
      0,
      4,
      ['key', 'profile', 'visits', 'tags', 'notes'],
    ]);
    expect(lines[2]).toMatch(/^bob +null +1 +\["x+… +\["x+…$/);
    expect(lines[3]).toBe('2 of 2 rows of guests at ireland');
  });

  test('list with --limit and --from → the next page, and how to go on', async () => {
    const first = await atIreland('list', 'guests', '--limit', '1');
    expect(first.stdout).toContain(
      '1 of 2 rows of guests at ireland. Go on with --from bob, or use data export',
    );
    const next = await atIreland('list', 'guests', '--from', 'bob', '--json');
    expect(parseLines(next)).toMatchObject([{ key: 'bob' }]);
  });

  test('get → one row in full, as text and as JSON', async () => {
    expect(parseLines(await atIreland('get', 'guests', 'ann', '--json'))).toEqual([ANN]);
    expect((await atIreland('get', 'shops', 'us/ohio')).stdout).toBe(
      'key    us/ohio\nseats  10\nbread  5\nlast   "cake"\nline   ["cake"]\n',
    );
  });

  test('a row that was removed → exit code 1 and a message', async () => {
    const { code, stdout, stderr } = await atIreland('get', 'guests', 'gone');
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('<key>: guests has no row "gone" at ireland'),
    });
  });

  test('tables and count → the numbers of rows', async () => {
    expect((await atIreland('tables')).stdout).toBe('table   rows\nguests  2\nshops   1\n');
    expect((await atIreland('count', 'guests')).stdout).toBe('2\n');
    expect(parseLines(await atIreland('count', 'shops', '--json'))).toEqual([
      { table: 'shops', rows: 1 },
    ]);
  });

  test('export → all rows of all tables as JSON lines', async () => {
    expect(parseLines(await atIreland('export'))).toEqual([
      { table: 'guests', ...ANN },
      expect.objectContaining({ table: 'guests', key: 'bob' }),
      { table: 'shops', ...OHIO },
    ]);
    expect(parseLines(await atIreland('export', 'shops'))).toEqual([{ table: 'shops', ...OHIO }]);
  });

  test.each([
    [['rows'], '<action> must be one of tables, list, get, count, export, got "rows"'],
    [['list'], '<dataDir> is required: name the directory'],
    [['list', 'DIR'], '<table> is required: data list <dataDir> <table>'],
    [['get', 'DIR', 'guests'], '<key> is required: data get <dataDir> <table> <key>'],
    [['count', 'DIR', 'guests', 'x'], '<action> count takes no "x"'],
    [['count', 'DIR', 'guests', '--limit', '3'], '--limit is a flag of data list'],
    [['tables', '/nowhere'], 'does not exist: name the directory'],
    [['tables', 'DIR'], '--site is required: the directory has the data of ireland, ohio'],
    [['tables', 'DIR', '--site', 'x'], '--site must be one of ireland, ohio, got "x"'],
    [['tables', 'DIR', '--site', 'ohio'], '--service is required: name the module'],
    [['list', 'DIR', 'cats', '--site', 'ohio', '--service', 'MODULE'], 'must be one of guests'],
    [['list', 'DIR', 'guests', '--limit', '0'], '--limit must be an integer from 1 to 10000, got'],
    [
      ['tables', 'DIR', '--site', 'ohio', '--service', 'OTHER'],
      "is the service 'rows', and the data in",
    ],
  ])('%j → exit code 2, and what to give instead', async (args, message) => {
    const other = await built('test/support/rows-service.ts');
    const names: Record<string, string> = { DIR: dataDir, MODULE: module, OTHER: other };
    const words = args.map((word) => names[word] ?? word);
    const { code, stdout, stderr } = await runProgram([CLI, 'data', ...words]);
    expect({ code, stdout, stderr }).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(message),
    });
  });
});

describe('after the server has ended', () => {
  beforeAll(async () => {
    server.signal('SIGTERM');
    await server.ended();
  });

  test('the same rows, and no file is touched', async () => {
    const before = photograph();
    expect(parseLines(await atIreland('export'))).toContainEqual({ table: 'guests', ...ANN });
    expect(parseLines(await data('export', '--site', 'ohio'))).toContainEqual({
      table: 'shops',
      ...OHIO,
    });
    expect(photograph()).toEqual(before);
  });

  test('a reader that closes the pipe → the export ends without an error', async () => {
    const args = ['data', 'export', dataDir, '--site', 'ohio', '--service', module];
    using program = new Program([CLI, ...args]);
    program.leaveStdout();
    expect(await program.ended()).toMatchObject({ code: 0, stderr: '' });
  });

  test('damage → exit code 1, what to do, and no rows', async () => {
    const path = join(dataDir, 'sites/ireland/0000000001.log');
    const bytes = readFileSync(path);
    bytes[400] = (bytes[400] as number) ^ 1;
    writeFileSync(path, bytes);
    const { code, stdout, stderr } = await atIreland('export');
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/is damaged at byte \d+.*correctables inspect/),
    });
  });
});
