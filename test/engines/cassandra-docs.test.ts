/**
 * The page of the Cassandra binding is a program, a gateway and a client: they run against a real
 * cluster and print the output of the page.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Program, root, runProgram } from '../support/run-program.ts';
import { readPage } from '../docs/guide.ts';
import { withCassandra } from './support/cassandra.ts';

const CONTACT_POINTS = /contactPoints: \[[^\]]*\]/g;
const page = await readPage('bindings/cassandra');

const it = withCassandra();
mkdirSync(join(root, 'build'), { recursive: true });
const folder = mkdtempSync(join(root, 'build/cassandra-docs-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

beforeAll(async () => {
  const client = it.client('frankfurt');
  await client.execute(`CREATE TABLE ${it.keyspace}.users (user text PRIMARY KEY, name text)`);
  await client.execute(
    `CREATE TABLE ${it.keyspace}.posts (user text, at int, body text, PRIMARY KEY (user, at))`,
  );
});

/** Writes a block down, to be run here: with this cluster, and the port that is free. */
function file(name: string, code: string, port = 0): string {
  const here = code
    .replaceAll(
      CONTACT_POINTS,
      `contactPoints: ${JSON.stringify(it.cluster.contactPoints('frankfurt'))}`,
    )
    .replaceAll("keyspace: 'shop'", `keyspace: '${it.keyspace}'`)
    .replace('port: 7070', 'port: 0')
    .replace(':7070', `:${port}`);
  const path = join(folder, name);
  writeFileSync(path, here);
  return path;
}

const tsx = (path: string): string[] => ['--import', 'tsx', path];

test('page: its program → prints the output of the page', async () => {
  const { stdout, stderr } = await runProgram(tsx(file('program.ts', page.program)));
  expect(stderr).toBe('');
  expect(stdout).toBe(page.printed.replaceAll('shop.', `${it.keyspace}.`));
});

test('quick start: its program → prints what the page shows', async () => {
  const start = await readPage('start/quick-start-cassandra');
  const { stdout, stderr } = await runProgram(tsx(file('quick-start.ts', start.program)));
  expect(stderr).toBe('');
  expect(stdout).toBe(start.printed);
});

test('page: its gateway and its client → both views of what the program wrote', async () => {
  await it
    .client('frankfurt')
    .execute(`INSERT INTO ${it.keyspace}.users (user, name) VALUES ('ada', 'Ada')`);
  const part = (name: string, port?: number): string =>
    file(name, page.files.get(name) ?? '', port);
  part('contract.ts');
  using gateway = new Program(tsx(part('gateway.ts')));
  const port = Number(/:(\d+)\/frankfurt$/.exec(await gateway.line())?.[1]);
  const client = await runProgram(tsx(part('client.ts', port)));
  expect(client.stderr).toBe('');
  expect(client.stdout).toBe("weak false { name: 'Ada' }\nstrong true { name: 'Ada' }\n");
  gateway.signal('SIGTERM');
  expect(await gateway.ended()).toMatchObject({ code: 0, stderr: '' });
});
