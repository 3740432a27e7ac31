/**
 * A real process that is filled until nothing goes: it serves reads, stops, starts again, and says
 * what it needs if it does not fit.
 */
// @rule STO-33, STO-34
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

async function start(dataDir: string, memory: string): Promise<Served> {
  const service = await built('test/support/rows-service.ts');
  const flags = ['--sites', 'a', '--data', dataDir, '--memory', memory, '--port', '0', '--json'];
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

test('a site that is filled until nothing goes serves reads, stops and starts again', async () => {
  const dataDir = temporaryFolder();
  let next: number;
  {
    await using served = await start(dataDir, '384m');
    const { client } = served;
    next = await fill(served, 0);
    expect(next).toBeGreaterThan(100_000);
    expect(await client.invokeWeak(rowsContract.get({ row: 7 }))).toBe(1);
    expect(await served.fetchText('/ready')).not.toContain('of memory');
    expect(await served.fetchText('/metrics')).toMatch(
      /correctables_memory_bytes\{site="a",part="rows"\} \d{8,}/,
    );
    // Removals are taken, and make room.
    for (let from = 0; from < 20_000; from += ROWS_AT_ONCE)
      await client.invoke(rowsContract.dropRows({ from, count: ROWS_AT_ONCE }));
    expect(await client.invokeWeak(rowsContract.get({ row: 7 }))).toBe(0);
    next = await fill(served, next);
    const log = await stop(served);
    expect(log).toContain('"alarm":"memory-low"');
    expect(log).toMatch(/MiB rows \(accounts \d+ MiB\)/);
  }
  {
    await using served = await start(dataDir, '384m');
    expect(await served.client.invokeWeak(rowsContract.get({ row: 30_000 }))).toBe(1);
    const range = { from: next, count: 1 };
    expect(await codeOf(served.client.invoke(rowsContract.addRows(range)))).toBe('OVERLOADED');
    // As a crash ends it.
    served.program.signal('SIGKILL');
    await served.program.ended();
  }
  await expect(start(dataDir, '256m')).rejects.toThrow(
    /Site a cannot start: its data needs about \d+ MiB of memory, and it may use \d+ MiB\. Nothing was changed\. Start it with --memory \S+,/,
  );
  {
    await using served = await start(dataDir, '1g');
    await served.client.invoke(rowsContract.addRows({ from: next, count: 1 }));
    expect(await served.client.invokeWeak(rowsContract.get({ row: next }))).toBe(1);
    await stop(served);
  }
}, 300_000);
