/** What is in a data folder, and what is lost of it. Changes nothing, and wants no lock: for a folder that refuses to start. */
import fs from 'node:fs';
import { join } from 'node:path';
import { CorrectableError, invalidArgument } from '../../correctable/errors.ts';
import type { LogPlaces } from '../redblue/site-machine.ts';
import { readCheckpoint } from './checkpoint-file.ts';
import type { Files } from './files.ts';
import { readLog } from './log-file.ts';
import type { LogDamage } from './log-file.ts';
import { refuseMissingSites } from './missing-sites.ts';
import { numbersOf } from './names.ts';
import { NodeFiles } from './node-files.ts';
import { recover } from './recovery.ts';

/** A log file as it is found. */
export interface InspectedLog {
  readonly file: string;
  readonly bytes: number;
  /** Where its entries begin in both logs; `null` where its first frame cannot be read. */
  readonly start: LogPlaces | null;
  /** Entries that can be read, up to the first frame that is not whole. */
  readonly entries: LogPlaces;
  /** What cannot be read of it although it was on the disk once. */
  readonly damage: LogDamage | null;
}

/** A checkpoint file as it is found. */
export interface InspectedCheckpoint {
  readonly file: string;
  readonly bytes: number;
  /** Whole states in it, each over the one before. */
  readonly commits: number;
  /** The places in the logs of the last of them. */
  readonly contained: LogPlaces | null;
  readonly damage: string | null;
}

/** A site as it is found. */
export interface InspectedSite {
  readonly name: string;
  readonly checkpoints: readonly InspectedCheckpoint[];
  readonly logs: readonly InspectedLog[];
  /** Entries of both logs with which it would start; `null` where it would not. */
  readonly lengths: LogPlaces | null;
  /** Why it would not. */
  readonly refusal: string | null;
  /** What is damaged or gone, although nothing is lost by it. */
  readonly damages: readonly string[];
}

/** A data folder as it is found. */
export interface Inspection {
  readonly dataDir: string;
  readonly service: string;
  readonly sites: readonly InspectedSite[];
  /** Why the sites do not go together, beside what is wrong with one of them. */
  readonly refusal: string | null;
}

const MANIFEST = 'manifest.json';

/**
 * Looks through a data folder.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` when there is none.
 */
export function inspectDataFolder(dataDir: string): Inspection {
  if (!fs.existsSync(join(dataDir, MANIFEST))) {
    throw invalidArgument('dataDir', `is ${dataDir}, which has no ${MANIFEST}: name the folder given to --data`);
  }
  const files = new NodeFiles(dataDir);
  const { service, sites } = JSON.parse(Buffer.from(files.read(MANIFEST)).toString()) as {
    readonly service: { readonly name: string };
    readonly sites: readonly string[];
  };
  const folders = sites.map((name) => `sites/${name}`);
  const refusal = refusalOf(() => refuseMissingSites(files, folders));
  return { dataDir, service: service.name, sites: sites.map((name) => inspectSite(files, name)), refusal };
}

function inspectSite(files: Files, name: string): InspectedSite {
  const folder = `sites/${name}`;
  const names = files.list(folder).toSorted();
  const logs = numbersOf(names, 'log').map((number) => inspectLog(files, folder, number));
  const checkpoints = (['checkpoint', 'checkpoint-copy'] as const).flatMap((ending) =>
    numbersOf(names, ending).map((number) => inspectCheckpoint(files, `${folder}/${nameOf(number, ending)}`, number)),
  );
  let found: Pick<InspectedSite, 'lengths' | 'damages'> = { lengths: null, damages: [] };
  const refusal = refusalOf(() => (found = recover(files, folder)));
  return { name, checkpoints, logs, lengths: found.lengths, refusal, damages: found.damages };
}

function inspectLog(files: Files, folder: string, number: number): InspectedLog {
  const file = `${folder}/${nameOf(number, 'log')}`;
  const bytes = files.read(file);
  const { header, entries, damage } = readLog(bytes, number);
  const counts = { local: 0, red: 0 };
  for (const { log } of entries) counts[log] += 1;
  const start = header === undefined ? null : { local: header.local, red: header.red };
  return { file, bytes: bytes.length, start, entries: counts, damage: damage ?? null };
}

function inspectCheckpoint(files: Files, file: string, number: number): InspectedCheckpoint {
  const bytes = files.read(file);
  const { commits, contained, damage } = readCheckpoint(bytes, number);
  return { file, bytes: bytes.length, commits, contained: contained ?? null, damage: damage ?? null };
}

function nameOf(number: number, ending: string): string {
  return `${String(number).padStart(10, '0')}.${ending}`;
}

function refusalOf(attempt: () => unknown): string | null {
  try {
    attempt();
    return null;
  } catch (error) {
    if (error instanceof CorrectableError) return error.message;
    throw error;
  }
}
