/** What the chaos test takes for an unexpected end of a process. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ServerProcess } from '../../chaos/server-process.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** Listens, and takes its time to end once that is requested. */
const SLOW_TO_END = `
  setInterval(() => {}, 1000);
  process.on('SIGTERM', () => setTimeout(() => process.exit(0), 300));
  console.log('listening');
`;

function createProcess(script: string): ServerProcess {
  const folder = temporaryFolder();
  const cli = join(folder, 'cli.mjs');
  writeFileSync(cli, script);
  const process = new ServerProcess({
    name: 'ireland',
    cli,
    args: [],
    conditionsFile: join(folder, 'conditions'),
  });
  onTestFinished(() => process.kill());
  return process;
}

test('ended on request while its time to stop by itself runs out → no complaint', async () => {
  const process = createProcess(SLOW_TO_END);
  await process.begin();
  const stopping = process.stopsItself(50);
  await process.end();
  expect(await stopping).toBe(true);
  expect(process.complaints).toEqual([]);
});

test('ended on request and started again → nobody waits for the earlier process to stop', async () => {
  const process = createProcess(SLOW_TO_END);
  await process.begin();
  const stopping = process.stopsItself(60_000);
  await process.end();
  await process.begin();
  expect(await stopping).toBe(true);
});

test('ends by itself → a complaint with what it said last', async () => {
  const process = createProcess(
    "console.log('listening'); setTimeout(() => { throw new Error('no reason'); }, 100);",
  );
  await process.begin();
  await expect.poll(() => process.complaints, { timeout: 10_000 }).toHaveLength(1);
  expect(process.complaints[0]).toContain('ireland ended by itself (1)');
});
