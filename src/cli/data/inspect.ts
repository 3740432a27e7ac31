/**
 * `correctables inspect`: prints the content of a data directory, and which data is lost or
 * damaged.
 */
import { resolve } from 'node:path';
import type { CheckResult } from '../../server/node/storage/rows/check-report.ts';
import type { Service } from '../../server/service/service.ts';
import type {
  InspectedRows,
  InspectedSite,
  Inspection,
} from '../../server/node/commands/inspect-directory.ts';
import type { Command } from '../command.ts';
import { loadService } from './load-service.ts';
import { createUsageError, readText, type RawOptions } from '../options.ts';
import { printLines } from '../print.ts';
import { createProgressReporter, formatCheckProgress } from './progress.ts';
import { exitOnEndSignal } from '../worker-thread.ts';

/** The exit code if data is lost: a server would refuse the directory, or stop later. */
const EXIT_DATA_LOST = 3;

export const INSPECT: Command = {
  name: 'inspect',
  summary: 'Print what a data directory contains, and what is lost or damaged; changes nothing',
  argument: { typed: '<dataDir>', names: 'directory' },
  flags: [
    { typed: '--deep', text: 'Read all rows too, and report each that is damaged or missing' },
    {
      typed: '--service <module>',
      text: 'With --deep: the module of the service, to compare indexes with the rows too',
    },
    { typed: '--json', text: 'Print the result as one JSON line' },
  ],
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
  exitOnEndSignal();
  const isDeep = options['deep'] === true;
  const service = await readService(options, isDeep);
  const { inspectDataDirectory } = await import('../../server/node/commands/inspect-directory.ts');
  const report = createProgressReporter();
  const found = await inspectDataDirectory(resolve(dataDir), {
    isDeep,
    service,
    onProgress: (site, progress) => report(() => formatCheckProgress(site, progress)),
  });
  if (found.startError !== null || found.sites.some(isDamaged)) process.exitCode = EXIT_DATA_LOST;
  await printLines(options['json'] === true ? [JSON.stringify(found)] : formatInspection(found));
}

async function readService(options: RawOptions, isDeep: boolean): Promise<Service | undefined> {
  if (options['service'] === undefined) return undefined;
  if (!isDeep)
    throw createUsageError('service', 'is used with --deep only: add that, or leave it out');
  return loadService(readText(options, 'service'));
}

function isDamaged({ startError, rowsCheck }: InspectedSite): boolean {
  return startError !== null || (rowsCheck?.problemCount ?? 0) > 0;
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
  rows,
  logs,
  lengths,
  startError,
  memoryBytes,
  damages,
  rowsCheck,
}: InspectedSite): string[] {
  const lines = [`${name}:`];
  lines.push(`  ${rows.folder}  ${rows.files} files, ${rows.bytes} bytes${formatCommit(rows)}`);
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
  if (rowsCheck !== null) lines.push(...formatCheck(rowsCheck));
  if (memoryBytes !== null)
    lines.push(`  needed ${Math.ceil(memoryBytes / 2 ** 20)} MiB of memory at the last checkpoint`);
  if (lengths !== null)
    lines.push(`  starts with ${lengths.local} local and ${lengths.red} red entries`);
  if (startError !== null) lines.push(`  REFUSED: ${startError}`);
  return lines;
}

function formatCommit({ commit, isConverted }: InspectedRows): string {
  if (commit === null) return ', no checkpoint';
  const { local, red } = commit.contained;
  const place = isConverted ? '' : ' in files of the version before, which the next start converts';
  return `, checkpoint ${commit.number}${place}, up to local ${local}, red ${red}`;
}

function formatCheck({ problems, problemCount }: CheckResult): readonly string[] {
  if (problemCount === 0) return ['  all rows of the checkpoint are there, and none is damaged'];
  const more = problemCount - problems.length;
  return [
    ...problems.map((problem) => `    DAMAGED: ${problem}`),
    ...(more > 0 ? [`    and ${more} more`] : []),
  ];
}
