/** `correctables inspect`: says what is in a data folder, and what is lost of it. */
import { resolve } from 'node:path';
import type { Inspection, InspectedSite } from '../server/storage/folder/inspect.ts';
import type { Command } from './command.ts';
import { usageError, type Raw } from './options.ts';
import { print } from './print.ts';

/** Some of the data is lost: the folder will not be used as it is. */
const EXIT_LOST = 3;

export const INSPECT: Command = {
  name: 'inspect',
  what: 'Say what is in a data folder, and what of it is lost or damaged; changes nothing',
  word: { typed: '<dataDir>', names: 'folder' },
  flags: [['--json', 'Print it as one JSON line']],
  example: 'correctables inspect correctables-data',
  run: inspect,
};

/** Prints what is in the folder. Reads only, beside a running server too. */
async function inspect(options: Raw, dataDir: string | undefined): Promise<void> {
  if (dataDir === undefined)
    throw usageError('<dataDir>', 'is required: name the folder, as in inspect correctables-data');
  const { inspectDataFolder } = await import('../server/storage/folder/inspect.ts');
  const found = inspectDataFolder(resolve(dataDir));
  if (found.refusal !== null || found.sites.some(({ refusal }) => refusal !== null)) process.exitCode = EXIT_LOST;
  await print(options['json'] === true ? [JSON.stringify(found)] : linesOf(found));
}

function linesOf({ dataDir, service, sites, refusal }: Inspection): string[] {
  const lines = [`${dataDir}: the service '${service}' at ${sites.map(({ name }) => name).join(', ')}`];
  for (const site of sites) lines.push(...linesOfSite(site));
  if (refusal !== null) lines.push(`REFUSED: ${refusal}`);
  return lines;
}

function linesOfSite({ name, checkpoints, logs, lengths, refusal, damages }: InspectedSite): string[] {
  const lines = [`${name}:`];
  for (const { file, bytes, commits, contained, damage } of checkpoints) {
    const upTo = contained === null ? '' : `, up to local ${contained.local}, red ${contained.red}`;
    lines.push(`  ${file}  ${bytes} bytes, ${commits} commits${upTo}${damage === null ? '' : `; ${damage}`}`);
  }
  for (const { file, bytes, start, entries, damage } of logs) {
    const from = start === null ? 'no first frame' : `from local ${start.local}, red ${start.red}`;
    lines.push(`  ${file}  ${bytes} bytes, ${from}: ${entries.local} local and ${entries.red} red entries`);
    if (damage === null) continue;
    const { local, red } = damage.laterEntries;
    const { lost, later } = damage.frames;
    const behind = `${later} behind them can, with ${local} local and ${red} red entries`;
    lines.push(`    DAMAGED at byte ${damage.position}: ${lost} groups of entries cannot be read; ${behind}`);
  }
  for (const damage of damages) lines.push(`  ${damage}; nothing is lost by it`);
  if (lengths !== null) lines.push(`  starts with ${lengths.local} local and ${lengths.red} red entries`);
  if (refusal !== null) lines.push(`  REFUSED: ${refusal}`);
  return lines;
}
