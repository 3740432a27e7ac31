/**
 * The recipes of the guides to run a server, as far as one machine can run them: with the users,
 * modes, variables and commands that they name, on folders in place of theirs.
 */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { createServer, request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { freePorts } from '../../engines/ports.ts';
import { createKeyFile } from '../../src/server/node/cluster/key-file.ts';
import { built } from '../support/programs.ts';
import { Program, root } from '../support/run-program.ts';

const CLI = join(root, 'dist/cli/main.js');
const SERVICE = await built('test/support/durable-service.ts');
const readPage = (name: string): string =>
  fs.readFileSync(join(root, 'docs/operate', `${name}.md`), 'utf8');
const RUN = readPage('run-a-server');
const DEPLOY = readPage('deploy-on-three-machines');

/** Returns the first block of code behind a heading that begins so. */
function readBlock(page: string, heading: string, start: string): string {
  const section = page.slice(page.indexOf(`\n${heading}\n`));
  const blocks = [...section.matchAll(/\n```(?:sh)?\n(.*?)\n```/gs)].map(
    ([, text]) => text as string,
  );
  return blocks.find((block) => block.startsWith(start)) as string;
}

const canRun = ([command, ...args]: readonly string[]): boolean =>
  spawnSync(command!, args).status === 0;

/** Becomes another user, with one more group. */
function becomeUser(uid: number, group: number): string[] {
  const user = ['--reuid', String(uid), '--regid', String(uid)];
  return ['setpriv', ...user, '--groups', String(group)];
}

const CAN_BECOME_USER = canRun([...becomeUser(1000, 1000), process.execPath, CLI, '--version']);
const AS_FIRST_PROCESS = ['unshare', '--fork', '--pid', '--kill-child'];

interface Machine {
  readonly app: string;
  readonly etc: string;
  readonly data: string;
}

/**
 * Makes the folders of a machine: the application as the recipes expect it, and the others empty.
 */
function createMachine(): Machine {
  const folder = fs.mkdtempSync(join(tmpdir(), 'recipes-'));
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }));
  fs.chmodSync(folder, 0o755);
  const [app, etc, data] = ['app', 'etc', 'data'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const path of [join(app, 'node_modules/.bin'), join(app, 'dist'), etc, data])
    fs.mkdirSync(path, { recursive: true });
  fs.symlinkSync(CLI, join(app, 'node_modules/.bin/correctables'));
  fs.writeFileSync(join(app, 'package.json'), '{ "type": "module" }');
  fs.writeFileSync(
    join(app, 'dist/service.js'),
    `export { service } from ${JSON.stringify(SERVICE)};`,
  );
  fs.writeFileSync(join(app, 'dist/auth.js'), "export const authenticate = () => ({ id: 'ann' });");
  return { app, etc, data };
}

/** Writes the files of a deployment on this machine. Returns the ports for clients. */
async function writeCluster(etc: string, sites: readonly string[]): Promise<number[]> {
  const ports = await freePorts(2 * sites.length);
  const entries = sites.map((site, at) => {
    return [
      site,
      { url: `ws://127.0.0.1:${ports[2 * at]}`, cluster: `127.0.0.1:${ports[2 * at + 1]}` },
    ] as const;
  });
  const redLog = { engine: 'built-in', leader: sites[0] };
  const file = { sites: Object.fromEntries(entries), redLog, keyFile: 'cluster.key' };
  fs.writeFileSync(join(etc, 'cluster.json'), JSON.stringify(file));
  createKeyFile(join(etc, 'cluster.key'));
  return sites.map((_, at) => ports[2 * at] as number);
}

/** Runs a recipe's command in the folder of the application. */
function run(
  app: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  within: readonly string[] = [],
): Program {
  const program = new Program(args, { NODE_OPTIONS: '', ...env }, [...within, 'env', '-C', app]);
  onTestFinished(() => program[Symbol.dispose]());
  return program;
}

async function expectReady(port: number, path = '/ready'): Promise<void> {
  const look = (): Promise<number> =>
    fetch(`http://127.0.0.1:${port}${path}`).then(
      ({ status }) => status,
      () => 0,
    );
  await expect.poll(look, { timeout: 30_000 }).toBe(200);
}

describe.skipIf(!CAN_BECOME_USER || !canRun([...AS_FIRST_PROCESS, 'true']))(
  'the Dockerfile',
  () => {
    const dockerfile = readBlock(RUN, '## In a container', 'FROM');
    const line = (instruction: string): string =>
      new RegExp(`^${instruction} (.*)$`, 'm').exec(dockerfile)?.[1] as string;

    test('serves as process 1 of its user, is healthy, and ends by SIGTERM with code 0', async () => {
      expect([line('USER'), line('RUN mkdir')]).toEqual(['node', '/data && chown node /data']);
      const { app, data } = createMachine();
      fs.chownSync(data, 1000, 1000);
      const [port] = (await freePorts(1)) as [number];
      const variables = line('ENV')
        .split(' ')
        .map((item) => item.split('=') as [string, string]);
      const own = { CORRECTABLES_HOST: '127.0.0.1', CORRECTABLES_PORT: String(port) };
      const env: Record<string, string> = { ...Object.fromEntries(variables), ...own };
      const given = JSON.parse(line('CMD')) as string[];
      const within = [...AS_FIRST_PROCESS, ...becomeUser(1000, 1000)];
      const server = run(
        app,
        given,
        { ...env, CORRECTABLES_DATA: env['CORRECTABLES_DATA']!.replace('/data', data) },
        within,
      );
      await expectReady(port);
      const check = line('HEALTHCHECK CMD')
        .replace('7420', String(port))
        .replace(/^node/, process.execPath);
      expect(spawnSync('sh', ['-c', check]).status).toBe(0);
      const children = fs.readFileSync(`/proc/${server.pid}/task/${server.pid}/children`, 'utf8');
      process.kill(Number(children), 'SIGTERM');
      expect(await server.ended()).toMatchObject({ code: 0 });
      expect(spawnSync('sh', ['-c', check]).status).toBe(1);
    });
  },
);

describe.each([
  ['run a server', readBlock(RUN, '## As a systemd service', '[Unit]')],
  ['deploy', readBlock(DEPLOY, '### As a systemd service', '[Unit]')],
])('the systemd unit of "%s"', (_, unit) => {
  const values = (name: string): string[] =>
    [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value]) => value!);

  test('waits for the network, and is started again as often as it takes', () => {
    const network = ['network-online.target'];
    expect([values('Wants'), values('After'), values('StartLimitIntervalSec')]).toEqual([
      network,
      network,
      ['0'],
    ]);
    expect(unit.indexOf('StartLimitIntervalSec')).toBeLessThan(unit.indexOf('[Service]'));
    // Beside the data directory nothing is written: all else is read-only.
    expect(values('Environment')).toContain(
      `CORRECTABLES_DATA=/var/lib/${values('StateDirectory')[0]}`,
    );
  });

  test.runIf(canRun(['systemd-analyze', '--version']))('is one that systemd takes', () => {
    const { app } = createMachine();
    const path = join(app, 'shop.service');
    fs.writeFileSync(path, unit.replace('/opt/shop/node_modules/.bin/correctables', '/bin/true'));
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', path], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
  });

  test.skipIf(!CAN_BECOME_USER)(
    'serves as its user, with a key file that this user alone can read',
    async () => {
      const { app, etc, data } = createMachine();
      const [port] = (await writeCluster(etc, ['ireland'])) as [number];
      for (const path of [data, join(etc, 'cluster.key')]) fs.chownSync(path, 1000, 1000);
      const variables = values('Environment').map((item) => item.split('=') as [string, string]);
      const env = {
        ...Object.fromEntries(variables),
        CORRECTABLES_PORT: String(port),
        CORRECTABLES_DATA: data,
      };
      if ('CORRECTABLES_CLUSTER' in env) env['CORRECTABLES_CLUSTER'] = join(etc, 'cluster.json');
      const [command = ''] = values('ExecStart');
      const args = command.replace('/opt/shop/', '').split(' ');
      const server = run(app, args, env, becomeUser(1000, 1000));
      await expectReady(port);
      server.signal('SIGTERM');
      expect(await server.ended()).toMatchObject({ code: 0 });
    },
  );
});

describe.skipIf(!CAN_BECOME_USER)('the Kubernetes manifest', () => {
  const manifest = readBlock(DEPLOY, '### On Kubernetes', 'apiVersion');
  const number = (name: string): number =>
    Number(new RegExp(`${name}: (\\d+)`).exec(manifest)?.[1]);
  const probes = [...manifest.matchAll(/httpGet: \{ path: (\S+), port: 7420 \}/g)].map(
    ([, path]) => path as string,
  );

  test(
    'its pods form a deployment, with the secret and the volume as the kubelet makes them',
    { timeout: 60_000 },
    async () => {
      const names = Array.from({ length: number('replicas') }, (_, at) => `site-${at}`);
      const machine = createMachine();
      const { app, etc } = machine;
      const ports = await writeCluster(etc, names);
      const [user, group] = [number('runAsUser'), number('fsGroup')];
      // The kubelet gives each file of a secret to the group, and lets the group read it.
      const secretMode = parseInt(/defaultMode: (\d+)/.exec(manifest)![1]!, 8) | 0o440;
      for (const name of ['cluster.json', 'cluster.key']) {
        fs.chownSync(join(etc, name), 0, group);
        fs.chmodSync(join(etc, name), secretMode);
      }
      const variables = [
        ...manifest.matchAll(/\{ name: (CORRECTABLES_\w+), value: "?([^" }]+)"? \}/g),
      ];
      const pods = names.map((name, at) => {
        const data = join(machine.data, name);
        // A new volume has this folder of the file system, and belongs to root and the group.
        fs.mkdirSync(join(data, 'lost+found'), { recursive: true, mode: 0o700 });
        fs.chownSync(data, 0, group);
        fs.chmodSync(data, 0o2775);
        const given = Object.fromEntries(
          variables.map(([, key, value]) => [key as string, value as string]),
        );
        const places = { '/etc/shop': etc, '/data': data };
        for (const [from, to] of Object.entries(places))
          for (const key of Object.keys(given))
            if (given[key]!.startsWith(from)) given[key] = given[key]!.replace(from, to);
        const own = {
          CORRECTABLES_SITE: name,
          CORRECTABLES_HOST: '127.0.0.1',
          CORRECTABLES_PORT: String(ports[at]),
        };
        const args = [
          'node_modules/.bin/correctables',
          'serve',
          '--service',
          'dist/service.js',
          '--auth',
          'dist/auth.js',
        ];
        return run(
          app,
          args,
          { NODE_ENV: 'production', ...given, ...own },
          becomeUser(user, group),
        );
      });
      expect(probes.toSorted()).toEqual(['/health', '/health', '/ready']);
      for (const port of ports) for (const path of probes) await expectReady(port, path);
      for (const pod of pods) pod.signal('SIGTERM');
      for (const pod of pods) expect(await pod.ended()).toMatchObject({ code: 0 });
    },
  );

  test.runIf(canRun(['kubectl', 'version', '--client']))('is one that kubectl reads', () => {
    const { app } = createMachine();
    const path = join(app, 'manifest.yaml');
    fs.writeFileSync(path, manifest);
    const args = ['label', '--local', '-f', path, '-o', 'json', 'a=b'];
    const { status, stdout } = spawnSync('kubectl', args, { encoding: 'utf8' });
    expect([status, stdout]).toEqual([0, expect.stringContaining('"defaultMode": 288')]);
  });
});

test('the proxy of nginx passes websockets on, with the origin of the page', async () => {
  const block = readBlock(readPage('tls'), '## In front of `correctables serve`', 'server {');
  const [, upstream] = /proxy_pass http:\/\/(127\.0\.0\.1:7420);/.exec(block) as unknown as [
    string,
    string,
  ];
  const set = [...block.matchAll(/proxy_set_header (\S+) "?([^";]+)"?;/g)].map(
    ([, name, value]) => [name!, value!] as const,
  );
  expect(/proxy_http_version 1\.1;/.test(block)).toBe(true);
  // The server pings each 30 s.
  expect(Number(/proxy_read_timeout (\d+)s;/.exec(block)?.[1])).toBeGreaterThan(30);
  const { app } = createMachine();
  const [port, proxyPort] = (await freePorts(2)) as [number, number];
  const page = 'https://shop.example';
  const flags = [
    '--ephemeral',
    '--port',
    String(port),
    '--origins',
    page,
    '--auth',
    'dist/auth.js',
  ];
  run(app, [CLI, 'serve', '--service', 'dist/service.js', '--skip-color-check', ...flags], {});
  await expectReady(port);
  // In place of nginx: it sends the address of the upstream as Host, no header of one hop, and what
  // the recipe sets.
  const proxy = createServer().listen(proxyPort, '127.0.0.1');
  onTestFinished(() => void proxy.close());
  proxy.on('upgrade', (incoming, socket) => {
    const variables: Readonly<Record<string, string | undefined>> = {
      $http_upgrade: incoming.headers.upgrade,
    };
    const { connection: _, upgrade: __, ...headers } = incoming.headers;
    const own = set.map(
      ([name, value]) => [name.toLowerCase(), variables[value] ?? value] as const,
    );
    const sent = { ...headers, host: upstream, ...Object.fromEntries(own) };
    const lines = Object.entries(sent).map(([name, value]) => `${name}: ${String(value)}\r\n`);
    const server = connect(port, '127.0.0.1', () =>
      server.write(`GET ${incoming.url} HTTP/1.1\r\n${lines.join('')}\r\n`),
    );
    server.pipe(socket).pipe(server);
    for (const end of [server, socket]) end.on('error', () => socket.destroy());
  });
  const opened = (origin: string): Promise<string> =>
    new Promise((resolve) => {
      const socket = new WebSocket(`ws://127.0.0.1:${proxyPort}/ireland`, 'correctables.v1+json', {
        origin,
      });
      socket.on('open', () => (resolve('open'), socket.terminate()));
      socket.on('error', ({ message }) => resolve(message));
    });
  expect([await opened(page), await opened('https://evil.example')]).toEqual([
    'open',
    expect.stringContaining('403'),
  ]);
});

test('the scrape of Prometheus reads the figures with the token of operators', async () => {
  const pageText = readPage('metrics-and-alarms');
  const scrape = readBlock(pageText, '## Metrics', 'scrape_configs');
  expect(scrape).toMatch(/authorization: \{ credentials_file: \S+operator-token \}/);
  const { app } = createMachine();
  const [port] = (await freePorts(1)) as [number];
  const [make, start] = readBlock(pageText, '## The token of operators', 'openssl').split('\n') as [
    string,
    string,
  ];
  expect(spawnSync('sh', ['-c', make], { cwd: app }).status).toBe(0);
  const flags = ['--ephemeral', '--port', String(port), '--skip-color-check'];
  // Behind `npx correctables`.
  run(app, [CLI, ...start.split(' ').slice(2), ...flags], {});
  await expectReady(port);
  // Prometheus removes the white space around the token of the file, and sends it as Bearer.
  const token = fs.readFileSync(join(app, 'operator-token'), 'utf8').trim();
  const status = (authorization: string): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const asked = request(
        { port, host: '127.0.0.1', path: '/metrics', headers: { authorization } },
        (response) => {
          response.resume();
          resolve(response.statusCode);
        },
      );
      asked.on('error', reject).end();
    });
  expect([await status(`Bearer ${token}`), await status('Bearer of a user')]).toEqual([200, 401]);
});
