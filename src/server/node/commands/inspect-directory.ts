/**
 * Inspects a data directory and its damage. It changes nothing and needs no lock, so it works even
 * if no server can start.
 */
import fs from 'node:fs';
import { join } from 'node:path';
import { check, CorrectableError } from '../../../correctable/errors.ts';
import {
  getHolding,
  rejectMissingHistories,
  unusableDirectoryError,
  type Holding,
} from '../storage/directory/missing-history.ts';
import {
  NODE_FILE,
  parseIdentity,
  rejectForeignOrigin,
} from '../storage/directory/node-identity.ts';
import {
  countEntry,
  pickPositions,
  type LogCounts,
  type LogPositions,
} from '../../log/log-positions.ts';
import { getSavedSite } from '../../log/recovered-state.ts';
import { readCheckpoint } from '../storage/format/checkpoint-file.ts';
import { readKey, rejectMissingSites } from '../storage/directory/data-directory.ts';
import type { Files } from '../storage/disk/files.ts';
import { readLog, type LogDamage } from '../storage/format/log-file-reader.ts';
import { Origins } from '../../service/records/origin.ts';
import {
  MANIFEST_FILE,
  checkFormat,
  parseManifest,
  type Manifest,
} from '../storage/directory/manifest.ts';
import { formatFileName, getLogDirectory, parseFileNumbers } from '../storage/format/file-names.ts';
import { NodeFiles } from '../storage/disk/node-files.ts';
import { findSavedBytes } from '../memory/needed-memory.ts';
import { recoverSite, type RecoveredSite } from '../storage/recovery.ts';

export interface InspectedLog {
  readonly file: string;
  readonly bytes: number;
  /** Where its entries begin in both logs; `null` if its first frame is unreadable. */
  readonly start: LogPositions | null;
  /** Entries that can be read, up to the first incomplete frame. */
  readonly entries: LogPositions;
  /** The part that is unreadable although it was on the disk once. */
  readonly damage: LogDamage | null;
}

export interface InspectedCheckpoint {
  readonly file: string;
  readonly bytes: number;
  /** Whole states in it. Each one replaces the one before. */
  readonly commits: number;
  /** The positions of the last one in the logs. */
  readonly contained: LogPositions | null;
  readonly damage: string | null;
}

export interface InspectedSite {
  readonly name: string;
  readonly checkpoints: readonly InspectedCheckpoint[];
  readonly logs: readonly InspectedLog[];
  /** Entries of both logs with which the site would start; `null` if it would not. */
  readonly lengths: LogPositions | null;
  /** Why it would not start. */
  readonly startError: string | null;
  /** About how many bytes of memory a start needs; `null` before the first checkpoint. */
  readonly memoryBytes: number | null;
  /** Damaged or missing files without a loss of data. */
  readonly damages: readonly string[];
}

export interface Inspection {
  readonly dataDir: string;
  readonly service: string;
  readonly sites: readonly InspectedSite[];
  /** Why the sites do not fit together, beside the problems of single sites. */
  readonly startError: string | null;
}

const LOCK_FILE = 'lock';
/** How often a directory that a running process changes is inspected, at most. */
const MAX_INSPECTIONS = 20;

/** The result of one pass. While a server runs, its parts may be of different moments. */
interface InspectionPass {
  readonly inspection: Inspection;
  /** By site; `undefined` if one of them would not start alone. */
  readonly holdings: readonly Holding[] | undefined;
}

/**
 * Inspects a data directory. If something is wrong, it inspects the directory again, since a
 * running server may have changed the files.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` when there is none, `UNAVAILABLE` when its files come
 * and go too quickly.
 */
export function inspectDataDirectory(dataDir: string): Inspection {
  const advice = 'name the directory given to --data';
  check(fs.existsSync(dataDir), 'dataDir', `is ${dataDir}, which does not exist: ${advice}`);
  const hasManifest = fs.existsSync(join(dataDir, MANIFEST_FILE));
  check(hasManifest, 'dataDir', `is ${dataDir}, which has no ${MANIFEST_FILE}: ${advice}`);
  const files = new NodeFiles(dataDir);
  let last: InspectionPass | undefined;
  for (let looks = 1; looks <= MAX_INSPECTIONS; looks += 1) {
    last = inspectOnce(files, dataDir, last) ?? last;
    if (
      last !== undefined &&
      (isHealthy(last.inspection) || !fs.existsSync(join(dataDir, LOCK_FILE)))
    )
      break;
  }
  if (last !== undefined) return last.inspection;
  const message = `The files in ${dataDir} come and go as fast as they are looked at: inspect it again.`;
  throw new CorrectableError('UNAVAILABLE', message, { field: 'dataDir' });
}

/** Returns `undefined` if a file was removed after it was listed. */
function inspectOnce(
  files: Files,
  dataDir: string,
  before: InspectionPass | undefined,
): InspectionPass | undefined {
  try {
    const manifest = parseManifest(files.read(MANIFEST_FILE));
    const { service, site: onlySite } = manifest;
    const names = onlySite === undefined ? manifest.sites : [onlySite];
    const folders = names.map((name) => getLogDirectory(name));
    const looked = names.map((name) => inspectSite(files, name, manifest));
    const sites = looked.map(({ site }) => site);
    const all = looked.flatMap(({ holding }) => holding ?? []);
    const holdings = all.length === names.length ? all : undefined;
    const rejection = getRejection(() => {
      checkFormat(manifest, dataDir);
      readKey(files, manifest);
      if (onlySite !== undefined)
        inspectIdentity(files, manifest, {
          site: onlySite,
          isReadable: holdings !== undefined,
        });
      rejectMissingSites(files, folders, true);
      if (holdings !== undefined && onlySite === undefined)
        rejectMissingHistories(holdings, names, manifest, before?.holdings);
    });
    return {
      inspection: {
        dataDir,
        service: service.name,
        sites,
        startError: rejection,
      },
      holdings,
    };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Throws `UNAVAILABLE` if `node.json` is missing or damaged, or belongs to another site than the
 * data.
 */
function inspectIdentity(
  files: Files,
  manifest: Manifest,
  { site, isReadable }: { readonly site: string; readonly isReadable: boolean },
): void {
  if (!files.list('.').includes(NODE_FILE))
    throw unusableDirectoryError(`there is no ${NODE_FILE}, which names its owner`);
  const identity = parseIdentity(files.read(NODE_FILE));
  if (identity.site !== site)
    throw unusableDirectoryError(
      `${NODE_FILE} is of the site '${identity.site}', and ${MANIFEST_FILE} of '${site}'`,
    );
  if (identity.forked !== undefined) throw unusableDirectoryError(identity.forked);
  if (!isReadable) return;
  const { checkpoint } = recoverSite(files, getLogDirectory(site), site).stored;
  const origins = Origins.create(checkpoint === undefined ? manifest.sites : []);
  if (checkpoint !== undefined) origins.load(getSavedSite(checkpoint).shared.replica.origins);
  rejectForeignOrigin(identity, (origin) =>
    origins.isSite(origin) ? origins.get(origin).site : undefined,
  );
}

function isHealthy({ sites, startError }: Inspection): boolean {
  return (
    startError === null &&
    sites.every((site) => site.startError === null && site.damages.length === 0)
  );
}

function inspectSite(
  files: Files,
  name: string,
  { sites }: Manifest,
): { readonly site: InspectedSite; readonly holding: Holding | undefined } {
  const folder = getLogDirectory(name);
  const names = files.list(folder).toSorted();
  const logs = parseFileNumbers(names, 'log').map((number) => inspectLog(files, folder, number));
  const checkpoints = (['checkpoint', 'checkpoint-copy'] as const).flatMap((ending) =>
    parseFileNumbers(names, ending).map((number) =>
      inspectCheckpoint(files, `${folder}/${formatFileName(number, ending)}`, number),
    ),
  );
  let found: RecoveredSite | undefined;
  const rejection = getRejection(() => (found = recoverSite(files, folder, name)));
  const { lengths = null, damages = [], stored } = found ?? {};
  const holding = stored && getHolding(stored, Origins.create(sites));
  const memoryBytes = checkpoints.length === 0 ? null : Math.ceil(findSavedBytes(files, folder));
  return {
    site: { name, checkpoints, logs, lengths, startError: rejection, memoryBytes, damages },
    holding,
  };
}

function inspectLog(files: Files, folder: string, number: number): InspectedLog {
  const file = `${folder}/${formatFileName(number, 'log')}`;
  const bytes = files.read(file);
  const { header, entries, damage } = readLog(bytes, number);
  const counts: LogCounts = { local: 0, red: 0 };
  for (const { log } of entries) countEntry(counts, log);
  const start = header === undefined ? null : pickPositions(header);
  return {
    file,
    bytes: bytes.length,
    start,
    entries: counts,
    damage: damage ?? null,
  };
}

function inspectCheckpoint(files: Files, file: string, number: number): InspectedCheckpoint {
  const bytes = files.read(file);
  const { commits, contained, damage } = readCheckpoint(bytes, number);
  return {
    file,
    bytes: bytes.length,
    commits,
    contained: contained ?? null,
    damage: damage ?? null,
  };
}

function getRejection(attempt: () => unknown): string | null {
  try {
    attempt();
    return null;
  } catch (error) {
    if (error instanceof CorrectableError) return error.message;
    throw error;
  }
}
