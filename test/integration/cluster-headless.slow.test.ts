/**
 * `npm run demo:cluster` as a user runs it: a sale through faults, and nothing left behind however
 * the demo ends.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import type { Figures } from '../../demo/cluster/headless.ts';
import { verifySales } from '../../demo/tickets/verify/verify-sales.ts';
import { built } from '../support/programs.ts';
import { Program, runProgram } from '../support/run-program.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const DEMO = await built('demo/cluster/cli.ts');
const VERIFY = await built('demo/tickets/verify/cli.ts');

/** Where the demo makes its temporary directory. */
let folder: string;

beforeEach(() => void (folder = temporaryFolder()));

/** Command lines of processes that work in the folder. */
function processes(): string[] {
  const lines = execFileSync('ps', ['-ww', '-eo', 'args='], { encoding: 'utf8' }).split('\n');
  return lines.filter((line) => line.includes(folder) && line.includes(' serve '));
}

/** What the demo has left in the folder; loaders keep their caches there. */
function files(): string[] {
  return readdirSync(folder).filter((name) => name.startsWith('correctables-'));
}

test('a sale while one site is killed and another frozen → every ticket sold once, by its history, too', async () => {
  const history = join(folder, 'h.jsonl');
  const flags = ['--headless', '--json', '--tickets', '200', '--history', history];
  const { code, stdout, stderr } = await runProgram([DEMO, ...flags], { TMPDIR: folder });
  expect(code, stderr).toBe(0);
  const figures = JSON.parse(stdout) as Figures;
  const { confirmed, revoked } = figures;
  expect(figures).toMatchObject({ ok: true, tickets: 200, sold: 200, duplicates: 0, oversold: 0 });
  expect(confirmed - revoked).toBe(200);
  expect(figures.moves).toBeGreaterThan(0);
  expect(figures).toMatchObject({ killed: { site: 'frankfurt' }, frozen: { site: 'virginia' } });
  expect(figures.left).toEqual({ ireland: 0, frankfurt: 0, virginia: 0 });
  const lines = (await readFile(history, 'utf8')).trimEnd().split('\n');
  const judged = verifySales(
    lines.map((line): unknown => JSON.parse(line)),
    { threshold: 20 },
  );
  expect(figures).toMatchObject(judged);
  const verified = await runProgram([VERIFY, history]);
  expect(JSON.parse(verified.stdout)).toEqual(judged);
  expect([...processes(), ...files()]).toEqual([]);
});

test.each(['SIGINT', 'SIGKILL'] as const)(
  'the demo is ended by %s → no process and no file is left',
  async (signal) => {
    using demo = new Program([DEMO, '--port', '0'], { TMPDIR: folder });
    expect(await demo.line()).toContain('The ticket shop is open: http://127.0.0.1:');
    expect(processes()).not.toEqual([]);
    demo.signal(signal);
    expect((await demo.ended()).code).toBe(signal === 'SIGINT' ? 0 : null);
    await expect.poll(() => [...processes(), ...files()]).toEqual([]);
  },
);

test('--keep → data and logs stay, and the next start goes on with them', async () => {
  const kept = join(folder, 'kept');
  for (const _ of [1, 2]) {
    using demo = new Program([DEMO, '--port', '0', '--keep', kept]);
    await demo.line();
    demo.signal('SIGTERM');
    expect(await demo.ended()).toMatchObject({ code: 0 });
    expect(readdirSync(kept)).toEqual(
      expect.arrayContaining(['cluster.key', 'ireland', 'ireland.json', 'ireland.log']),
    );
  }
  expect(processes()).toEqual([]);
});

test('an invalid flag → exit code 2 and the flag named; a port in use → the error names what to change', async () => {
  const { code, stderr } = await runProgram([DEMO, '--headless', '--kill', 'mars']);
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: 'demo:cluster: --kill takes one of ireland, frankfurt, virginia, not "mars"\n',
  });
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const port = String((taken.address() as AddressInfo).port);
  const refused = await runProgram([DEMO, '--port', port], { TMPDIR: folder });
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain(`port ${port} is taken`);
  expect(files()).toEqual([]);
  taken.close();
});
