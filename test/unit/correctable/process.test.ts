/** What a Correctable does to the process around it: keep it alive while somebody waits, and not a moment longer. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const root = new URL('../../../', import.meta.url);
const preamble = `
  import { createClient } from './src/index.ts';
  import { get } from './src/operations/index.ts';
  import { memory } from './src/bindings/memory/index.ts';
  import { scriptedBinding } from './src/testing/index.ts';
`;

async function outputOf(script: string): Promise<string> {
  const args = ['--import', 'tsx', '--input-type=module', '--eval', preamble + script];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root });
  return stdout.trim();
}

test('C1: nothing else keeps the process alive → a hanging operation still times out', async () => {
  const script = `
    const read = createClient(scriptedBinding(['weak', 'strong'])).invoke(get('k'), { timeoutMs: 50 });
    console.log(await read.catch((error) => error.code));
  `;
  expect(await outputOf(script)).toBe('TIMEOUT');
});

test('C1: one has closed, and with it nothing keeps the process alive → the next that hangs still times out', async () => {
  const script = `
    const binding = scriptedBinding(['weak', 'strong']);
    const client = createClient(binding, { timeoutMs: 50 });
    const first = client.invoke(get('k'));
    binding.calls[0].view(1, 'strong');
    await first;
    console.log(await client.invoke(get('k')).catch((error) => error.code));
  `;
  expect(await outputOf(script)).toBe('TIMEOUT');
});

test('C1: all operations have closed, 30 s limits were set → the process ends at once', async () => {
  const script = `
    const store = createClient(memory({ delaysMs: { strong: 1 } }));
    await store.invoke(get('k'));
    const from = Date.now();
    process.on('exit', () => console.log(Date.now() - from < 10_000 ? 'at once' : 'late'));
  `;
  expect(await outputOf(script)).toBe('at once');
});

test('C5: a failure that nobody observes → the process reports it as an unhandled rejection', async () => {
  const script = `
    process.on('unhandledRejection', (error) => console.log('unhandled', error.code));
    createClient(scriptedBinding(['strong'])).invoke(get('k'), { signal: AbortSignal.timeout(1) });
    setTimeout(() => {}, 50);
  `;
  expect(await outputOf(script)).toBe('unhandled ABORTED');
});
