/**
 * A server component passes the views of a read to the page: the packed package with React's own
 * format for that.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { installPacked, root } from '../../scripts/smoke-package/project.ts';

const INSTALL_TIMEOUT_MS = 300_000;

/** Sends the final view once its input has a line. */
const SERVER = `
import { once } from 'node:events';
import { createClient } from 'correctables';
import { tiered } from 'correctables/bindings/tiered';
import { get } from 'correctables/operations';
import { renderToReadableStream } from 'react-server-dom-webpack/server.edge';

const go = once(process.stdin, 'data');
const store = createClient(tiered(['cache', 'origin'], { cache: async () => 12, origin: () => go.then(() => 11) }));
const read = store.invoke(get('stock:alpha'));
const views = { [Symbol.asyncIterator]: () => read[Symbol.asyncIterator]() };
for await (const chunk of renderToReadableStream({ views }, {})) process.stdout.write(chunk);
await store.close();
process.exit();
`;

/** Prints each view of its input. */
const PAGE = `
import { Readable } from 'node:stream';
import { createFromReadableStream } from 'react-server-dom-webpack/client.edge';

const serverConsumerManifest = { moduleMap: {}, moduleLoading: null, serverModuleMap: null };
const { views } = await createFromReadableStream(Readable.toWeb(process.stdin), { serverConsumerManifest });
for await (const { value, level, final } of views) console.log(value, level, final);
`;

let project: string;

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'correctables-rsc-'));
  const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
    devDependencies: { react: string };
  };
  const { react } = manifest.devDependencies;
  const packages = ['react', 'react-dom', 'react-server-dom-webpack'].map(
    (name) => `${name}@${react}`,
  );
  await installPacked(project, ['--prefer-offline', ...packages]);
  await writeFile(join(project, 'server.mjs'), SERVER);
  await writeFile(join(project, 'page.mjs'), PAGE);
}, INSTALL_TIMEOUT_MS);

afterAll(() => rm(project, { recursive: true, force: true }));

test('the views of a read as an async iterable → the page has each when it arrives', async () => {
  const server = spawn(process.execPath, ['--conditions', 'react-server', 'server.mjs'], {
    cwd: project,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const page = spawn(process.execPath, ['page.mjs'], {
    cwd: project,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  server.stdout.pipe(page.stdin);
  const lines = createInterface({ input: page.stdout })[Symbol.asyncIterator]();
  expect((await lines.next()).value).toBe('12 cache false');
  server.stdin.write('go\n');
  expect((await lines.next()).value).toBe('11 origin true');
  expect((await lines.next()).done).toBe(true);
});
