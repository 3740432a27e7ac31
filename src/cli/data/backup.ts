/** `correctables backup`: copies a data directory, also beside a running server. */
import { constants } from 'node:os';
import { resolve } from 'node:path';
import { getLogKinds } from '../../server/log/log-positions.ts';
import type { Backup } from '../../server/node/commands/back-up-directory.ts';
import type { SavedSite } from '../../server/node/commands/check-backup.ts';
import type { Command } from '../command.ts';
import { createUsageError, type RawOptions } from '../options.ts';
import { createProgressReporter, formatCheckProgress } from './progress.ts';
import { printLines } from '../print.ts';
import { EXIT_BY_SIGNAL, onEndSignal, type EndSignal } from '../worker-thread.ts';

const DATA_DIR = '<dataDir>';
const TARGET = '<target>';
const MIB = 2 ** 20;

export const BACKUP: Command = {
  name: 'backup',
  summary:
    'Copy a data directory, also beside a running server, to a new directory that a server can start on',
  argument: { typed: `${DATA_DIR} ${TARGET}`, names: 'a directory and a target' },
  flags: [
    { typed: '--deep', text: 'Read all rows too, and make no backup if one is damaged or missing' },
    { typed: '--json', text: 'Print the result as one JSON line' },
  ],
  example: 'correctables backup correctables-data /backups/monday',
  run: makeBackup,
};

async function makeBackup(options: RawOptions, dataDir?: string, target?: string): Promise<void> {
  const usage = 'as in backup correctables-data /backups/monday';
  if (dataDir === undefined)
    throw createUsageError(DATA_DIR, `is required: name the directory, ${usage}`);
  if (target === undefined)
    throw createUsageError(TARGET, `is required: name a directory to make, ${usage}`);
  const stop = new AbortController();
  let ending: EndSignal | undefined;
  onEndSignal((signal) => {
    ending = signal;
    stop.abort();
  });
  const { backUpDataDirectory } = await import('../../server/node/commands/back-up-directory.ts');
  const startedAtMs = performance.now();
  const report = createProgressReporter();
  try {
    const backup = await backUpDataDirectory({
      dataDir: resolve(dataDir),
      target: resolve(target),
      isDeep: options['deep'] === true,
      signal: stop.signal,
      onProgress: (copied, all) =>
        report(() => `${formatMegabytes(copied)} of ${formatMegabytes(all)} copied`),
      onCheckProgress: (site, progress) => report(() => formatCheckProgress(site, progress)),
    });
    const seconds = Number(((performance.now() - startedAtMs) / 1000).toFixed(1));
    await printLines(
      options['json'] === true
        ? [JSON.stringify({ ...backup, seconds })]
        : formatBackup(backup, seconds),
    );
  } catch (error) {
    if (ending === undefined) throw error;
    console.error(`stopped by ${ending}: nothing is left of the backup`);
    process.exitCode = EXIT_BY_SIGNAL + constants.signals[ending];
  }
}

function formatBackup({ dataDir, target, service, at, bytes, sites }: Backup, seconds: number) {
  return [
    `${target}: a backup of ${dataDir}, with the service '${service}' as it was at ${at}`,
    ...sites.flatMap(formatSite),
    `${formatMegabytes(bytes)} in ${seconds} s. A start accepts it.`,
  ];
}

function formatSite({ name, files, bytes, lengths, damages }: SavedSite): readonly string[] {
  const entries = getLogKinds(lengths).map((log) => `${lengths[log] ?? 0} ${log}`);
  return [
    `${name}: ${files} files, ${formatMegabytes(bytes)}, starts with ${entries.join(' and ')} entries`,
    ...damages.map((damage) => `  ${damage}; nothing is lost by it`),
  ];
}

function formatMegabytes(bytes: number): string {
  return `${(bytes / MIB).toFixed(1)} MiB`;
}
