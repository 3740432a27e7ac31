/** What is in a data folder, and what is lost of it. Changes nothing, and wants no lock: for a folder that refuses to start. */
import fs from 'node:fs';
import { join } from 'node:path';
import { CorrectableError, invalidArgument } from '../../../correctable/errors.ts';
import { holdingOf, refuseLostPasts, type Holding } from './lost-past.ts';
import type { LogPlaces } from '../../log/stored-site.ts';
import { readCheckpoint } from '../format/checkpoint-file.ts';
import { readKey, refuseMissingSites } from './data-folder.ts';
import type { Files } from '../disk/files.ts';
import { readLog, type LogDamage } from '../format/log-file.ts';
import { Origins } from '../../records/origin.ts';
import { MANIFEST, checkFormat, parseManifest, type Manifest } from './manifest.ts';
import { fileName, logFolder, numbersOf } from '../format/names.ts';
import { NodeFiles } from '../disk/node-files.ts';
import { recover, type Recovered } from '../recovery.ts';

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

const LOCK = 'lock';
/** Looks at a folder in which a process is working, at most. */
const LOOKS_MAX = 20;

/** What is to be found at one look; beside a running server it is of no one moment. */
interface Look {
  readonly found: Inspection;
  /** By site; `undefined` where one of them would not start by itself. */
  readonly holdings: readonly Holding[] | undefined;
}

/**
 * Looks through a data folder. Beside a running server it looks again where something is amiss: that may come of files
 * that came, grew and went meanwhile.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` when there is none, `UNAVAILABLE` when its files come and go too quickly.
 */
export function inspectDataFolder(dataDir: string): Inspection {
  if (!fs.existsSync(dataDir)) {
    throw invalidArgument('dataDir', `is ${dataDir}, which does not exist: name the folder given to --data`);
  }
  if (!fs.existsSync(join(dataDir, MANIFEST))) {
    throw invalidArgument('dataDir', `is ${dataDir}, which has no ${MANIFEST}: name the folder given to --data`);
  }
  const files = new NodeFiles(dataDir);
  let last: Look | undefined;
  for (let looks = 1; looks <= LOOKS_MAX; looks += 1) {
    last = lookAt(files, dataDir, last) ?? last;
    if (last !== undefined && (isWell(last.found) || !fs.existsSync(join(dataDir, LOCK)))) break;
  }
  if (last !== undefined) return last.found;
  const message = `The files in ${dataDir} come and go as fast as they are looked at: inspect it again.`;
  throw new CorrectableError('UNAVAILABLE', message, { field: 'dataDir' });
}

/** `undefined` where a file has gone between the moment at which it was seen and the one at which it was to be read. */
function lookAt(files: Files, dataDir: string, before: Look | undefined): Look | undefined {
  try {
    const manifest = parseManifest(files.read(MANIFEST));
    const { service, sites: names, redLeader } = manifest;
    const folders = names.map((name) => logFolder(name));
    const looked = names.map((name) => inspectSite(files, name, manifest));
    const sites = looked.map(({ site }) => site);
    const all = looked.flatMap(({ holding }) => holding ?? []);
    const holdings = all.length === names.length ? all : undefined;
    const refusal = refusalOf(() => {
      checkFormat(manifest, dataDir);
      readKey(files);
      refuseMissingSites(files, folders, true);
      const deployed = { names, redLeader: names.indexOf(redLeader) };
      if (holdings !== undefined) refuseLostPasts(holdings, deployed, before?.holdings);
    });
    return { found: { dataDir, service: service.name, sites, refusal }, holdings };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

function isWell({ sites, refusal }: Inspection): boolean {
  return refusal === null && sites.every((site) => site.refusal === null && site.damages.length === 0);
}

function inspectSite(
  files: Files,
  name: string,
  { sites }: Manifest,
): { readonly site: InspectedSite; readonly holding: Holding | undefined } {
  const folder = logFolder(name);
  const names = files.list(folder).toSorted();
  const logs = numbersOf(names, 'log').map((number) => inspectLog(files, folder, number));
  const checkpoints = (['checkpoint', 'checkpoint-copy'] as const).flatMap((ending) =>
    numbersOf(names, ending).map((number) => inspectCheckpoint(files, `${folder}/${fileName(number, ending)}`, number)),
  );
  let found: Recovered | undefined;
  const refusal = refusalOf(() => (found = recover(files, folder, name)));
  const { lengths = null, damages = [], stored } = found ?? {};
  const holding = stored && holdingOf(stored, Origins.of(sites));
  return { site: { name, checkpoints, logs, lengths, refusal, damages }, holding };
}

function inspectLog(files: Files, folder: string, number: number): InspectedLog {
  const file = `${folder}/${fileName(number, 'log')}`;
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

function refusalOf(attempt: () => unknown): string | null {
  try {
    attempt();
    return null;
  } catch (error) {
    if (error instanceof CorrectableError) return error.message;
    throw error;
  }
}
