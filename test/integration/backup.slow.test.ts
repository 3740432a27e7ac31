/** `correctables backup`, run as a command beside a server that takes writes, and when it is killed. */
// @rule STO-25
// @rule STO-38
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createClient, type Client } from 'correctables';
import { redblue, type RedBlueLevels } from 'correctables/bindings/redblue';
import { built } from '../support/programs.ts';
import { Program, runProgram, type Ended } from '../support/run-program.ts';
import { saleContract } from '../support/sale-service.ts';

const CLI = 'dist/cli/main.js';
const SITES = ['ireland', 'ohio', 'tokyo'] as const;
const SHOPS = Array.from({ length: 20 }, (_, at) => `shop ${at}`);
const ITEMS = 1_000_000;
const SLOW = { timeout: 240_000 };
const { visit, stock, sell, look } = saleContract;

type SaleClient = Client<RedBlueLevels>;
type Counts = { visits: number; left: number; sold: number };

let folder: string;
let dataDir: string;
let target: string;
const ends: (() => Promise<unknown> | void)[] = [];
beforeEach(() => {
  folder = fs.mkdtempSync(join(tmpdir(), 'correctables-backup-'));
  [dataDir, target] = [join(folder, 'data'), join(folder, 'backup')];
});
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
  fs.rmSync(folder, { recursive: true, force: true });
});

interface Server {
  readonly program: Program;
  readonly clients: readonly SaleClient[];
}

async function start(directory: string): Promise<Server> {
  const service = await built('test/support/sale-service.ts');
  const args = ['--data', directory, '--sites', SITES.join(), '--port', '0', '--json'];
  const program = new Program([CLI, 'serve', '--service', service, ...args]);
  ends.push(() => program[Symbol.dispose]());
  const { sites } = JSON.parse(await program.line()) as { sites: Record<string, string> };
  const clients = SITES.map((site) => {
    const url = sites[site] as string;
    const client = createClient(redblue(saleContract, { url, WebSocket }), { timeoutMs: 30_000 });
    ends.push(() => client.close());
    return client;
  });
  return { program, clients };
}

/** What clients have written to each shop: that was acknowledged, and that was begun. */
class Work {
  readonly acknowledged = new Map<string, Counts>();
  readonly begun = new Map<string, Counts>();
  #isOver = false;
  #writes = 0;
  #onWrite = (): void => {};
  readonly #working: Promise<unknown>;

  private constructor(clients: readonly SaleClient[]) {
    for (const shop of SHOPS)
      for (const counts of [this.acknowledged, this.begun])
        counts.set(shop, { visits: 0, left: ITEMS, sold: 0 });
    this.#working = Promise.all(
      clients.flatMap((client) => [this.#repeat(client, 7), this.#repeat(client, 11)]),
    );
  }

  static async begin({ clients }: Server): Promise<Work> {
    for (const shop of SHOPS) await clients[0]?.invoke(stock({ key: shop, items: ITEMS }));
    return new Work(clients);
  }

  /** Returns what was acknowledged by now. */
  photograph(): ReadonlyMap<string, Counts> {
    return structuredClone(this.acknowledged);
  }

  /** Resolves once this many writes were acknowledged, since it was first called. */
  reach(writes: number): Promise<void> {
    return new Promise((resolve) => {
      this.#onWrite = () => {
        this.#writes += 1;
        if (this.#writes >= writes) resolve();
      };
    });
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#working;
  }

  async #repeat(client: SaleClient, step: number): Promise<void> {
    for (let at = 0; !this.#isOver; at += step) {
      const calls = SHOPS.slice(0, 8).map((_, place) => {
        const key = SHOPS[(at + place) % SHOPS.length] as string;
        const isSale = place === 0;
        const [begun, acknowledged] = [this.begun.get(key), this.acknowledged.get(key)];
        if (isSale) begun!.sold += 1;
        else begun!.visits += 1;
        return client.invoke<boolean | null>(isSale ? sell({ key }) : visit({ key })).then(() => {
          if (isSale) acknowledged!.sold += 1;
          else acknowledged!.visits += 1;
          this.#onWrite();
        });
      });
      // A sale may be overtaken too often, and a server may be killed.
      await Promise.allSettled(calls);
    }
  }
}

const backUp = (...args: string[]): Promise<Ended> =>
  runProgram([CLI, 'backup', dataDir, target, ...args]);

/** Starts a server on the backup, and checks that it has all of `acknowledged`. */
async function checkBackup(acknowledged: ReadonlyMap<string, Counts>, work: Work): Promise<void> {
  expect(await runProgram([CLI, 'inspect', target])).toMatchObject({ code: 0, stderr: '' });
  const { program, clients } = await start(target);
  for (const shop of SHOPS) {
    const found = await Promise.all(
      clients.map(async (client) => {
        await client.invoke(visit({ key: shop }));
        return client.invokeStrong(look({ key: shop }));
      }),
    );
    const [least, most] = [acknowledged.get(shop)!, work.begun.get(shop)!];
    for (const { visits, left, sold } of found) {
      expect(left + sold).toBe(ITEMS);
      expect(visits).toBeGreaterThan(least.visits);
      expect(visits).toBeLessThanOrEqual(most.visits + SITES.length);
      expect(sold).toBeGreaterThanOrEqual(least.sold);
      expect(sold).toBeLessThanOrEqual(most.sold);
    }
  }
  const counts = async (): Promise<Counts[][]> =>
    Promise.all(
      clients.map((client) => Promise.all(SHOPS.map((key) => client.invokeStrong(look({ key }))))),
    );
  await expect
    .poll(async () => new Set((await counts()).map((of) => JSON.stringify(of))).size)
    .toBe(1);
  program.signal('SIGTERM');
  expect((await program.ended()).code).toBe(0);
}

describe('beside a server that takes writes', () => {
  test('has what was acknowledged before, and a server starts on it', SLOW, async () => {
    const server = await start(dataDir);
    const work = await Work.begin(server);
    for (const writes of [2000, 8000]) {
      await work.reach(writes);
      const before = work.photograph();
      const { code, stdout, stderr } = await backUp('--json');
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(JSON.parse(stdout)).toMatchObject({
        target,
        service: 'sale',
        sites: SITES.map((name) => ({ name, damages: [] })),
      });
      expect(await runProgram([CLI, 'inspect', dataDir])).toMatchObject({ code: 0, stderr: '' });
      await checkBackup(before, work);
      fs.rmSync(target, { recursive: true });
    }
    await work.end();
  });

  test('the server is killed meanwhile → has what was acknowledged before', SLOW, async () => {
    const server = await start(dataDir);
    const work = await Work.begin(server);
    await work.reach(1000);
    const before = work.photograph();
    using program = new Program([CLI, 'backup', dataDir, target]);
    await expect.poll(() => fs.existsSync(`${target}.partial`) || fs.existsSync(target)).toBe(true);
    server.program.signal('SIGKILL');
    const { code, stdout, stderr } = await program.ended();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const lines = stdout.trim().split('\n');
    expect(lines[0]).toContain(`${target}: a backup of ${dataDir}, with the service 'sale'`);
    expect(lines[1]).toMatch(
      /^ireland: \d+ files, .* MiB, starts with \d+ local and \d+ red entri/,
    );
    expect(lines.at(-1)).toMatch(/MiB in .* s\. A start accepts it\.$/);
    const ended = work.end();
    await Promise.all(server.clients.map((client) => client.close()));
    await ended;
    await checkBackup(before, work);
  });
});

describe('the command is stopped', () => {
  /** Stops the command once it has made the first file, until it gets SIGINT. */
  const HOOK = `
    import fs from 'node:fs';
    const { open } = fs.promises;
    fs.promises.open = async (...args) => {
      fs.promises.open = open;
      const file = await open(...args);
      const waiting = setInterval(() => {}, 1000);
      const stopped = new Promise((resolve) => process.once('SIGINT', resolve));
      console.log('copying');
      await stopped;
      clearInterval(waiting);
      return file;
    };`;

  async function beginBackup(): Promise<Program> {
    const server = await start(dataDir);
    await server.clients[0]?.invoke(visit({ key: 'shop' }));
    const hook = join(folder, 'hook.mjs');
    fs.writeFileSync(hook, HOOK);
    const program = new Program(['--import', hook, CLI, 'backup', dataDir, target]);
    ends.push(() => program[Symbol.dispose]());
    expect(await program.line()).toBe('copying');
    return program;
  }

  test('by SIGINT → nothing is left', SLOW, async () => {
    const program = await beginBackup();
    expect(fs.existsSync(`${target}.partial`)).toBe(true);
    program.signal('SIGINT');
    const { code, stderr } = await program.ended();
    expect({ code, stderr }).toEqual({
      code: 130,
      stderr: 'stopped by SIGINT: nothing is left of the backup\n',
    });
    expect(fs.readdirSync(folder).toSorted()).toEqual(['data', 'hook.mjs']);
  });

  test('by SIGKILL → no backup, and the next one names what to remove', SLOW, async () => {
    const program = await beginBackup();
    program.signal('SIGKILL');
    await program.ended();
    expect(fs.existsSync(target)).toBe(false);
    const { code, stderr } = await backUp();
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining('backup.partial exists. Nothing was changed.'),
    });
    fs.rmSync(`${target}.partial`, { recursive: true });
    expect((await backUp()).code).toBe(0);
  });
});

describe('no backup', () => {
  const MOUNT = ['unshare', '--mount', 'mount', '-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', tmpdir()];

  test.runIf(spawnSync(MOUNT[0] as string, MOUNT.slice(1)).status === 0)(
    'the disk of the target is full → exit code 1, and nothing is left',
    SLOW,
    async () => {
      const { clients } = await start(dataDir);
      await clients[0]?.invoke(visit({ key: 'shop' }));
      const disk = join(folder, 'disk');
      fs.mkdirSync(disk);
      spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=4k', 'tmpfs', disk]);
      try {
        const { code, stderr } = await runProgram([CLI, 'backup', dataDir, join(disk, 'backup')]);
        expect({ code, stderr }).toEqual({
          code: 1,
          stderr: expect.stringContaining('there is no room on the disk. Nothing is left of it'),
        });
        expect(fs.readdirSync(disk)).toEqual([]);
      } finally {
        spawnSync('umount', ['-l', disk]);
      }
    },
  );

  test.each([
    [[], '<dataDir> is required: name the directory'],
    [['DIR'], '<target> is required: name a directory to make'],
    [['DIR', 'x', 'y'], 'backup takes a directory and a target, not'],
    [['/nowhere', 'x'], 'does not exist: name the directory given to --data'],
    [['DIR', 'DIR'], 'which exists: name a new directory'],
  ])('%j → exit code 2, and what to give instead', async (args, message) => {
    const words = args.map((word) => (word === 'DIR' ? folder : word));
    const { code, stdout, stderr } = await runProgram([CLI, 'backup', ...words]);
    expect({ code, stdout, stderr }).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(message),
    });
  });
});
