/**
 * The command as the first process of a container, to which the kernel applies no default action of
 * a signal.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { freePorts } from '../../engines/ports.ts';
import { createKeyFile } from '../../src/server/node/cluster/key-file.ts';
import { built } from '../support/programs.ts';
import { Program } from '../support/run-program.ts';

const CLI = 'dist/cli/main.js';

/** Two ways to become process 1: as root, or as any user if the kernel lets users do that. */
const WAYS = [[], ['--user', '--map-root-user']].map((flags) => [
  'unshare',
  ...flags,
  '--fork',
  '--pid',
  '--kill-child',
]);
const WITHIN = WAYS.find(
  ([command, ...flags]) => spawnSync(command!, [...flags, 'true']).status === 0,
);

/** A program that is process 1 of its own namespace. */
class FirstProcess extends Program {
  constructor(args: readonly string[]) {
    super(args, {}, WITHIN);
  }

  /** Sends the signal from outside, as a container engine does. */
  override signal(name: NodeJS.Signals): void {
    const children = readFileSync(`/proc/${this.pid}/task/${this.pid}/children`, 'utf8');
    process.kill(Number(children), name);
  }
}

const bySignal = (name: NodeJS.Signals): object => ({ code: 128 + constants.signals[name] });

async function serve(name: string, ...flags: readonly string[]): Promise<Program> {
  const service = await built(`test/support/${name}.ts`);
  const place = flags.length > 0 ? flags : ['--sites', 'a', '--port', '0', '--ephemeral'];
  return new FirstProcess([CLI, 'serve', '--service', service, '--skip-color-check', ...place]);
}

describe.skipIf(WITHIN === undefined)('correctables as process 1', () => {
  test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'ends by %s while its service is loaded',
    async (signal) => {
      using server = await serve('slow-service');
      expect(await server.line()).toBe('loading');
      server.signal(signal);
      expect(await server.ended()).toMatchObject(bySignal(signal));
    },
  );

  test('ends by SIGTERM while it waits for other sites', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'first-process-'));
    const ports = await freePorts(4);
    const sites = Object.fromEntries(
      ['ireland', 'frankfurt'].map((site, at) => {
        return [
          site,
          { url: `ws://127.0.0.1:${ports[2 * at]}`, cluster: `127.0.0.1:${ports[2 * at + 1]}` },
        ];
      }),
    );
    const file = join(folder, 'cluster.json');
    const redLog = { engine: 'built-in', leader: 'ireland' };
    await writeFile(file, JSON.stringify({ sites, redLog, keyFile: 'cluster.key' }));
    createKeyFile(join(folder, 'cluster.key'));
    const data = join(folder, 'data');
    using server = await serve(
      'cluster-service',
      '--cluster',
      file,
      '--site',
      'ireland',
      '--data',
      data,
    );
    await server.waitForStderr(1);
    server.signal('SIGTERM');
    expect(await server.ended()).toMatchObject(bySignal('SIGTERM'));
    await rm(folder, { recursive: true });
  });

  test('ends with code 0 by SIGTERM while it serves', async () => {
    using server = await serve('durable-service');
    await server.line();
    server.signal('SIGTERM');
    expect(await server.ended()).toMatchObject({ code: 0, stderr: '' });
  });

  test('ends by the second SIGTERM if the thread that serves is stuck', async () => {
    using server = await serve('stuck-service');
    while ((await server.line()) !== 'stuck');
    const again = setInterval(() => server.signal('SIGTERM'), 100);
    const ended = await server.ended().finally(() => clearInterval(again));
    expect(ended).toMatchObject(bySignal('SIGTERM'));
  });

  test('runs a command that does not serve, and ends by SIGTERM while that one computes', async () => {
    using inspection = new FirstProcess([CLI, 'inspect', '/nowhere']);
    expect(await inspection.ended()).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('/nowhere'),
    });
    using label = new FirstProcess([CLI, 'label', await built('test/support/busy-service.ts')]);
    expect(await label.line()).toBe('computing');
    label.signal('SIGTERM');
    expect(await label.ended()).toMatchObject(bySignal('SIGTERM'));
  });
});
