/**
 * Real processes with little memory. On a disk, a site has more rows than memory has room for. With
 * all rows in memory it is filled until nothing goes, and serves reads.
 */
// @rule STO-33, STO-34, STO-40
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createClient, isCorrectableError, type Client } from 'correctables';
import { redblue, type RedBlueLevels } from 'correctables/bindings/redblue';
import { built } from '../support/programs.ts';
import { rowsContract } from '../support/rows-service.ts';
import { Program } from '../support/run-program.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const ROWS_AT_ONCE = 200;
const WRITERS = 8;

interface Served extends AsyncDisposable {
  readonly program: Program;
  readonly url: string;
  readonly client: Client<RedBlueLevels>;
  fetchText(path: string): Promise<string>;
}

async function start(...place: readonly string[]): Promise<Served> {
  const service = await built('test/support/rows-service.ts');
  const flags = ['--sites', 'a', ...place, '--port', '0', '--json'];
  const program = new Program(['dist/cli/main.js', 'serve', '--service', service, ...flags]);
  const line = await program.line().catch((error: Error) => {
    program[Symbol.dispose]();
    throw error;
  });
  const { url, sites } = JSON.parse(line) as { url: string; sites: { a: string } };
  const client = createClient(redblue(rowsContract, { url: sites.a, WebSocket }), {
    timeoutMs: 60_000,
  });
  return {
    program,
    url,
    client,
    fetchText: async (path) => await (await fetch(`${url}${path}`)).text(),
    [Symbol.asyncDispose]: async () => {
      await client.close();
      program[Symbol.dispose]();
    },
  };
}

const codeOf = async (work: PromiseLike<unknown>): Promise<string | undefined> =>
  await work.then(
    () => undefined,
    (error: unknown) => (isCorrectableError(error) ? error.code : String(error)),
  );

/** Adds rows from `from` on until a write is refused. Returns the row after the last one. */
async function fill({ client }: Served, from: number): Promise<number> {
  let next = from;
  const codes = new Set<string>();
  const write = async (): Promise<void> => {
    while (codes.size === 0) {
      const range = { from: next, count: ROWS_AT_ONCE };
      next += ROWS_AT_ONCE;
      const code = await codeOf(client.invoke(rowsContract.addRows(range)));
      if (code !== undefined) codes.add(code);
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, write));
  expect([...codes]).toEqual(['OVERLOADED']);
  return next;
}

async function stop({ program, client }: Served): Promise<string> {
  await client.close();
  program.signal('SIGTERM');
  const { code, stderr } = await program.ended();
  expect(code).toBe(0);
  return stderr;
}

test('all rows in memory, filled until nothing goes → serves reads, and goes on once there is room', async () => {
  await using served = await start('--ephemeral', '--memory', '256m');
  const { client } = served;
  const next = await fill(served, 0);
  expect(next).toBeGreaterThan(50_000);
  expect(await client.invokeWeak(rowsContract.get({ row: 7 }))).toBe(1);
  expect(await served.fetchText('/ready')).not.toContain('of memory');
  expect(await served.fetchText('/metrics')).toMatch(
    /correctables_memory_bytes\{site="a",part="rows"\} \d{8,}/,
  );
  // Removals are taken, and make room.
  for (let from = 0; from < 20_000; from += ROWS_AT_ONCE)
    await client.invoke(rowsContract.dropRows({ from, count: ROWS_AT_ONCE }));
  expect(await client.invokeWeak(rowsContract.get({ row: 7 }))).toBe(0);
  await fill(served, next);
  const log = await stop(served);
  expect(log).toContain('"alarm":"memory-low"');
  expect(log).toMatch(/MiB rows \(accounts \d+ MiB\)/);
}, 300_000);

/** Faster than the disk, a write is refused until a checkpoint lets changed rows leave memory. */
async function addOnceThereIsRoom(
  client: Served['client'],
  range: { readonly from: number; readonly count: number },
): Promise<void> {
  const codes: (string | undefined)[] = [];
  const isAdded = async (): Promise<boolean> => {
    const code = await codeOf(client.invoke(rowsContract.addRows(range)));
    codes.push(code);
    return code !== 'OVERLOADED';
  };
  await expect.poll(isAdded, { timeout: 60_000 }).toBe(true);
  expect(codes.at(-1)).toBeUndefined();
}

/** More than a site with 256 MiB has room for. */
const MANY_ROWS = 400_000;
const LITTLE = ['--memory', '256m', '--cache', '8m'];

test('more rows than memory has room for, on a disk → all are taken and read; a stop and a crash lose none', async () => {
  const place = ['--data', temporaryFolder(), ...LITTLE];
  const readSome = async ({ client }: Served): Promise<ReadonlySet<number>> => {
    const rows = Array.from({ length: 200 }, (_, at) => Math.floor((at * MANY_ROWS) / 200));
    return new Set(
      await Promise.all(rows.map((row) => client.invokeWeak(rowsContract.get({ row })))),
    );
  };
  {
    await using served = await start(...place);
    const { client } = served;
    let next = 0;
    const write = async (): Promise<void> => {
      while (next < MANY_ROWS) {
        const range = { from: next, count: ROWS_AT_ONCE };
        next += ROWS_AT_ONCE;
        await addOnceThereIsRoom(client, range);
      }
    };
    await Promise.all(Array.from({ length: WRITERS }, write));
    expect(await readSome(served)).toEqual(new Set([1]));
    expect(await stop(served)).not.toMatch(/"alarm":"(?!memory)/);
  }
  {
    await using served = await start(...place);
    expect(await readSome(served)).toEqual(new Set([1]));
    served.program.signal('SIGKILL');
    await served.program.ended();
  }
  {
    await using served = await start(...place);
    expect(await readSome(served)).toEqual(new Set([1]));
    await stop(served);
  }
}, 300_000);
