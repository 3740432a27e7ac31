/**
 * `correctables inspect`: prints the content of a data directory, and which data is lost or
 * damaged.
 */
import { resolve } from 'node:path';
import type { Inspection, InspectedSite } from '../server/node/commands/inspect-directory.ts';
import type { Command } from './command.ts';
import { createUsageError, type RawOptions } from './options.ts';
import { printLines } from './print.ts';

/** The exit code if some data is lost, so that a server would refuse the directory. */
const EXIT_DATA_LOST = 3;

export const INSPECT: Command = {
  name: 'inspect',
  summary: 'Print what a data directory contains, and what is lost or damaged; changes nothing',
  argument: { typed: '<dataDir>', names: 'directory' },
  flags: [{ typed: '--json', text: 'Print the result as one JSON line' }],
  example: 'correctables inspect correctables-data',
  run: inspect,
};

/**
 * Prints the content of the directory. It only reads, so it can run while a server uses the
 * directory.
 */
async function inspect(options: RawOptions, dataDir: string | undefined): Promise<void> {
  if (dataDir === undefined)
    throw createUsageError(
      '<dataDir>',
      'is required: name the directory, as in inspect correctables-data',
    );
  const { inspectDataDirectory } = await import('../server/node/commands/inspect-directory.ts');
  const found = inspectDataDirectory(resolve(dataDir));
  if (found.startError !== null || found.sites.some(({ startError }) => startError !== null))
    process.exitCode = EXIT_DATA_LOST;
  await printLines(options['json'] === true ? [JSON.stringify(found)] : formatInspection(found));
}

function formatInspection({ dataDir, service, sites, startError }: Inspection): string[] {
  const lines = [
    `${dataDir}: the service '${service}' at ${sites.map(({ name }) => name).join(', ')}`,
  ];
  for (const site of sites) lines.push(...formatSite(site));
  if (startError !== null) lines.push(`REFUSED: ${startError}`);
  return lines;
}

function formatSite({
  name,
  checkpoints,
  logs,
  lengths,
  startError,
  memoryBytes,
  damages,
}: InspectedSite): string[] {
  const lines = [`${name}:`];
  for (const { file, bytes, commits, contained, damage } of checkpoints) {
    const upTo = contained === null ? '' : `, up to local ${contained.local}, red ${contained.red}`;
    lines.push(
      `  ${file}  ${bytes} bytes, ${commits} commits${upTo}${damage === null ? '' : `; ${damage}`}`,
    );
  }
  for (const { file, bytes, start, entries, damage } of logs) {
    const from = start === null ? 'no first frame' : `from local ${start.local}, red ${start.red}`;
    lines.push(
      `  ${file}  ${bytes} bytes, ${from}: ${entries.local} local and ${entries.red} red entries`,
    );
    if (damage === null) continue;
    const { local, red } = damage.laterEntries;
    const { lost, later } = damage.frames;
    const behind = `${later} behind them can, with ${local} local and ${red} red entries`;
    lines.push(
      `    DAMAGED at byte ${damage.position}: ${lost} groups of entries cannot be read; ${behind}`,
    );
  }
  for (const damage of damages) lines.push(`  ${damage}; nothing is lost by it`);
  if (memoryBytes !== null)
    lines.push(`  needed ${Math.ceil(memoryBytes / 2 ** 20)} MiB of memory at the last checkpoint`);
  if (lengths !== null)
    lines.push(`  starts with ${lengths.local} local and ${lengths.red} red entries`);
  if (startError !== null) lines.push(`  REFUSED: ${startError}`);
  return lines;
}
