/**
 * The data folder as processes have it: two of them, one that is paused, few files, small disks.
 */
// @rule STO-21
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isCorrectableError } from 'correctables';
import type { Client } from 'correctables';
import type { RedBlueLevels } from 'correctables/bindings/redblue';
import { DurableServer } from '../support/durable-server.ts';
import { durableContract } from '../support/durable-service.ts';
import { runProgram } from '../support/run-program.ts';

const SLOW_MS = 240_000;
/**
 * As in another container: its numbers of processes are its own. What ends the command lets the
 * process in it end itself.
 */
const ELSEWHERE = ['unshare', '--pid', '--fork', '--kill-child=SIGTERM', '--mount-proc'];

/** Where a deployment may put its folder, which is not there yet; it goes with what is in it. */
function temporary(): Disposable & { readonly dataDir: string } {
  const folder = fs.mkdtempSync(join(tmpdir(), 'correctables-process-'));
  const remove = (): void => fs.rmSync(folder, { recursive: true, force: true });
  return { dataDir: join(folder, 'data'), [Symbol.dispose]: remove };
}

/** Whether the system can run a command; prints the cause if not. */
function canRun(command: readonly string[]): boolean {
  const { status, error, stderr } = spawnSync(command[0] as string, command.slice(1), {
    encoding: 'utf8',
  });
  if (status === 0) return true;
  process.stderr.write(`left out: ${command.join(' ')}: ${error?.message ?? stderr.trim()}\n`);
  return false;
}

const codeOf = async (work: PromiseLike<unknown>): Promise<string> =>
  await work.then(
    () => 'done',
    (error: unknown) => (isCorrectableError(error) ? error.code : String(error)),
  );

/** Writes under new keys; how many were acknowledged. */
async function write(
  client: Client<RedBlueLevels>,
  name: string,
  count: number,
  value = 'v',
): Promise<number> {
  let acknowledged = 0;
  for (let index = 0; index < count; index += 1) {
    if (
      (await codeOf(client.invoke(durableContract.put({ key: `${name}${index}`, value })))) ===
      'done'
    )
      acknowledged += 1;
  }
  return acknowledged;
}

const rowsOf = async (client: Client<RedBlueLevels>): Promise<number> =>
  await client.invoke(durableContract.count({}));

/** Everything in the directory, and the directory itself. */
function listPaths(dataDir: string): readonly string[] {
  const names = fs.readdirSync(dataDir, { recursive: true, encoding: 'utf8' });
  return [dataDir, ...names.map((name) => join(dataDir, name))];
}

/** Whether only the owner can reach it. The engine of the rows leaves that to its folder. */
function isPrivate(path: string): boolean {
  const stats = fs.statSync(path);
  const mode = stats.mode & 0o777;
  if (stats.isDirectory()) return mode === 0o700;
  const folder = dirname(path);
  return mode === 0o600 || (basename(folder) === 'rows' && isPrivate(folder));
}

/** The bytes of all files of the sites, but for the text in which LevelDB says what it does. */
function readSites(dataDir: string): Readonly<Record<string, string>> {
  const paths = listPaths(join(dataDir, 'sites')).filter(
    (path) => fs.statSync(path).isFile() && !/^LOG(\.old)?$/.test(basename(path)),
  );
  return Object.fromEntries(
    paths.map((path) => [path, createHash('sha256').update(fs.readFileSync(path)).digest('hex')]),
  );
}

/** A server that has lost its directory neither reads nor writes. */
async function expectNoAnswers(server: DurableServer): Promise<void> {
  const requested = [
    durableContract.get({ key: 'a0' }),
    durableContract.put({ key: 'c', value: 'v' }),
  ];
  const reported = requested.map((operation) =>
    codeOf(server.client().invoke(operation, { timeoutMs: 5_000 })),
  );
  for (const code of await Promise.all(reported)) expect(code).not.toBe('done');
  expect([await server.status('ready/a'), await server.status('health')]).toEqual([503, 503]);
}

describe.concurrent('two processes', () => {
  const hasElsewhere = canRun([...ELSEWHERE, 'true']);

  test(
    'on one machine → the second is refused at once; files are for their owner alone',
    { timeout: SLOW_MS },
    async () => {
      using place = temporary();
      await using first = await DurableServer.start(place.dataDir);
      await expect(DurableServer.start(place.dataDir)).rejects.toThrow(
        /in use .*: process \d+ has it open/,
      );
      expect(await write(first.client(), 'k', 1)).toBe(1);
      const open = listPaths(place.dataDir).filter((path) => !isPrivate(path));
      expect(open).toEqual([]);
    },
  );

  test.runIf(hasElsewhere)(
    'the other elsewhere, the first alive → refused',
    { timeout: SLOW_MS },
    async () => {
      using place = temporary();
      await using _first = await DurableServer.start(place.dataDir);
      await expect(DurableServer.start(place.dataDir, { within: ELSEWHERE })).rejects.toThrow(
        'another machine or container has it',
      );
    },
  );

  test.runIf(hasElsewhere)(
    'the first is paused, the other is refused, the first goes on → it answers nothing; once it has ended, the other has all',
    { timeout: SLOW_MS },
    async () => {
      using place = temporary();
      await using first = await DurableServer.start(place.dataDir);
      expect(await write(first.client(), 'a', 20)).toBe(20);
      first.signal('SIGSTOP');
      const before = readSites(place.dataDir);
      // The lock of the directory is stale by then. That of the rows lasts as long as the process.
      await expect(DurableServer.start(place.dataDir, { within: ELSEWHERE })).rejects.toThrow(
        'The site cannot start: another process still has sites/a/rows open, and has to end first. Nothing was changed.',
      );
      expect(readSites(place.dataDir)).toEqual(before);
      first.signal('SIGCONT');
      await expectNoAnswers(first);
      await first.end('SIGKILL');
      {
        await using second = await DurableServer.start(place.dataDir, { within: ELSEWHERE });
        expect(await rowsOf(second.client())).toBe(20);
        expect(await write(second.client(), 'b', 20)).toBe(20);
        await second.end('SIGKILL');
      }
      await using third = await DurableServer.start(place.dataDir);
      expect(await rowsOf(third.client())).toBe(40);
    },
  );

  test.runIf(hasElsewhere)(
    'the first is paused until the volume forgets its lock, the other takes over, the first goes on → it answers nothing; nothing acknowledged is lost',
    { timeout: SLOW_MS },
    async () => {
      using place = temporary();
      await using first = await DurableServer.start(place.dataDir);
      const old = first.client();
      expect(await write(old, 'a', 20)).toBe(20);
      first.signal('SIGSTOP');
      // As a volume of the network does with the locks of a machine that it does not hear of.
      fs.rmSync(join(place.dataDir, 'sites/a/rows/LOCK'));
      {
        await using second = await DurableServer.start(place.dataDir, { within: ELSEWHERE });
        const fresh = second.client();
        expect(await write(fresh, 'b', 20)).toBe(20);
        first.signal('SIGCONT');
        await expectNoAnswers(first);
        await first.end();
        expect(await write(fresh, 'd', 20)).toBe(20);
        expect(fs.existsSync(join(place.dataDir, 'lock'))).toBe(true);
        // Its launcher ignores SIGTERM. It releases the directory: the next start need not wait
        // until its lock is stale.
        await second.end('SIGKILL');
        expect(fs.existsSync(join(place.dataDir, 'lock'))).toBe(false);
      }
      await using third = await DurableServer.start(place.dataDir);
      expect(await rowsOf(third.client())).toBe(60);
    },
  );
});

describe.concurrent('few files', () => {
  test.runIf(canRun(['prlimit', '--nofile=128:128', 'true']))(
    'strangers connect and say nothing → the sites go on, through new log files too',
    { timeout: SLOW_MS },
    async () => {
      using place = temporary();
      await using server = await DurableServer.start(place.dataDir, {
        within: ['prlimit', '--nofile=128:128'],
        sites: 'a,b',
      });
      const clients = [server.client('a'), server.client('b')];
      for (const client of clients) expect(await write(client, 'before', 1)).toBe(1);
      const { port } = new URL(server.laid.url);
      const strangers = Array.from({ length: 300 }, () =>
        net.connect(Number(port), '127.0.0.1').on('error', () => {}),
      );
      await new Promise((resolve) => strangers[0]?.once('connect', resolve));
      for (const [index, client] of clients.entries()) {
        expect(await write(client, `during ${index} `, 40, 'x'.repeat(200_000))).toBe(40);
      }
      for (const stranger of strangers) stranger.destroy();
      // Until the server has seen that they are gone, it resets new connections.
      const isReady = (): Promise<number> => server.status('ready').catch(() => 0);
      await expect.poll(isReady, { timeout: SLOW_MS }).toBe(200);
    },
  );
});

describe.concurrent('a small disk', () => {
  const MOUNT = ['unshare', '--mount', 'mount', '-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', tmpdir()];

  test.runIf(canRun(MOUNT))(
    'fills up, with the log of the server on it → writes are refused; room again → they go on within seconds',
    { timeout: SLOW_MS },
    async ({ expect }) => {
      using place = temporary();
      fs.mkdirSync(place.dataDir);
      spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=40m', 'tmpfs', place.dataDir]);
      try {
        const filler = join(place.dataDir, 'filler');
        const fill = (): void => {
          const { bavail, bsize } = fs.statfsSync(place.dataDir);
          fs.writeFileSync(filler, Buffer.alloc(bavail * bsize), { flag: 'a' });
        };
        {
          const logPath = join(place.dataDir, 'server.log');
          await using server = await DurableServer.start(place.dataDir, { sites: 'a,b', logPath });
          const client = server.client();
          expect(await write(client, 'before', 5)).toBe(5);
          fill();
          const value = 'x'.repeat(50_000);
          let outcome = 'done';
          for (let index = 0; outcome === 'done' && index < 400; index += 1) {
            outcome = await codeOf(client.invoke(durableContract.put({ key: 'k', value })));
          }
          expect(outcome).toBe('UNAVAILABLE');
          expect(await codeOf(client.invoke(durableContract.get({ key: 'before0' })))).toBe('done');
          expect(await server.status('ready')).toBe(503);
          expect(await server.status('health')).toBe(200);
          fs.rmSync(filler);
          const hasRoom = (): Promise<string> =>
            codeOf(client.invoke(durableContract.put({ key: 'k', value: 'small' })));
          await expect.poll(hasRoom, { timeout: 8000, interval: 200 }).toBe('done');
          await expect.poll(() => server.status('ready')).toBe(200);
          const reported = (): string => fs.readFileSync(logPath, 'utf8');
          await expect.poll(reported, { timeout: 8000 }).toContain('disk-has-room');
          await server.end();
        }
        fill();
        const filesBefore = fs.readdirSync(join(place.dataDir, 'sites'), { recursive: true });
        await expect(DurableServer.start(place.dataDir, { sites: 'a,b' })).rejects.toThrow(
          'no room on the disk',
        );
        expect(fs.readdirSync(join(place.dataDir, 'sites'), { recursive: true })).toEqual(
          filesBefore,
        );
      } finally {
        spawnSync('umount', ['-l', place.dataDir]);
      }
    },
  );
});

describe.concurrent('correctables inspect', () => {
  const inspect = (...args: string[]): ReturnType<typeof runProgram> =>
    runProgram(['dist/cli/main.js', 'inspect', ...args]);

  test(
    'a directory, then one with damage → what is there; what is lost, with exit code 3',
    { timeout: SLOW_MS },
    async () => {
      using place = temporary();
      {
        await using server = await DurableServer.start(place.dataDir);
        expect(await write(server.client(), 'k', 20)).toBe(20);
        await server.end();
      }
      const whole = await inspect(place.dataDir);
      expect(whole).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('starts with 20 local and 0 red entries'),
      });
      const path = join(place.dataDir, 'sites/a/0000000001.log');
      const bytes = fs.readFileSync(path);
      bytes[400] = (bytes[400] as number) ^ 1;
      fs.writeFileSync(path, bytes);
      await expect(DurableServer.start(place.dataDir)).rejects.toThrow('is damaged at byte');
      const { code, stdout } = await inspect(place.dataDir, '--json');
      expect(code).toBe(3);
      expect(JSON.parse(stdout)).toMatchObject({
        service: 'kept',
        sites: [
          { name: 'a', lengths: null, startError: expect.stringContaining('is damaged at byte') },
        ],
      });
      expect((await inspect(place.dataDir)).stdout).toMatch(
        /DAMAGED at byte \d+: 1 groups of entries cannot be read; \d+ behind/,
      );
    },
  );

  test.each([
    [['inspect', '/nowhere'], 'does not exist'],
    [['inspect'], '<dataDir> is required: name the directory'],
    [['inspect', 'a', 'b'], 'inspect takes one directory'],
    [['inspect', 'a', '--port', '1'], '--port is an unknown flag'],
  ])('%s → exit code 2, and what to give instead', { timeout: SLOW_MS }, async (args, message) => {
    const { code, stderr } = await runProgram(['dist/cli/main.js', ...args]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
  });
});
