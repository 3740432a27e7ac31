/**
 * Reads a data directory as it is at one moment, also while a process works there. It takes no lock
 * and writes nothing.
 */
import fs from 'node:fs';
import { join } from 'node:path';
import { check, CorrectableError } from '../../../correctable/errors.ts';
import { getSavedSite, type RecoveredState } from '../../log/recovered-state.ts';
import { Origins, type SavedOrigin } from '../../service/records/origin.ts';
import type { Service } from '../../service/service.ts';
import { formatMegabytes, suggestMemory } from '../memory/memory-size.ts';
import { measureNeededMemory, START_SHARE, type StoredSite } from '../memory/needed-memory.ts';
import { readKey, rejectMissingSites } from '../storage/directory/data-directory.ts';
import {
  MANIFEST_FILE,
  checkFormat,
  checkManifest,
  createManifest,
  parseManifest,
  type Manifest,
} from '../storage/directory/manifest.ts';
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
import type { ReadableFiles } from '../storage/disk/files.ts';
import { getLogDirectory } from '../storage/format/file-names.ts';
import { recoverSite, type RecoveredSite } from '../storage/recovery.ts';
import { openStoredRows, type PinnedRows } from './open-stored-rows.ts';
import { PinnedFiles } from './pinned-files.ts';

/** Returns the sites of which the directory has data. */
export function getStoredSites({ site, sites }: Manifest): readonly string[] {
  return site === undefined ? sites : [site];
}

/** How far a site has got, and the sites that it knows. */
export interface FoundSite {
  readonly holding: Holding;
  /** `undefined` if it has no checkpoint. */
  readonly origins: readonly SavedOrigin[] | undefined;
}

export function describeFoundSite(stored: RecoveredState, { sites }: Manifest): FoundSite {
  const { checkpoint } = stored;
  return {
    holding: getHolding(stored, Origins.create(sites)),
    origins: checkpoint && getSavedSite(checkpoint).shared.replica.origins,
  };
}

/** A data directory that is held open, and what it is for. */
export interface OpenedDirectory {
  readonly files: PinnedFiles;
  readonly manifest: Manifest;
  /** When the files were as they are read, as an ISO string. */
  readonly at: string;
  /** By site: what its store of rows has. Reads throw if the store is damaged. */
  readonly rows: ReadonlyMap<string, PinnedRows>;
  close(): Promise<void>;
}

/**
 * Opens the files of a data directory as they are at one moment.
 *
 * @param shown the site whose rows are read, and the service. Only checkpoint files of the version
 * before need it.
 * @throws CorrectableError `INVALID_ARGUMENT` if there is no data directory at the path,
 * `UNAVAILABLE` if its manifest is damaged, if files come and go too quickly, or if there is no
 * temporary folder for the stores of rows
 */
export async function openToRead(
  dataDir: string,
  shown?: { readonly site: string; readonly service: Service },
): Promise<OpenedDirectory> {
  const folders = getStoredSites(readManifest(dataDir)).map(getLogDirectory);
  const files = new PinnedFiles(dataDir, folders);
  const at = new Date().toISOString();
  const rows = new Map<string, PinnedRows>();
  const close = async (): Promise<void> => {
    await Promise.all([...rows.values()].map((opened) => opened.close()));
    files.close();
  };
  try {
    const manifest = parseManifest(files.read(MANIFEST_FILE));
    if (shown !== undefined) checkService(manifest, shown.service, dataDir);
    for (const site of getStoredSites(manifest)) {
      const tables = site === shown?.site ? shown.service.tables : undefined;
      rows.set(site, await openStoredRows(files, site, tables));
    }
    return { files, manifest, at, rows, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Returns what a start reads of a site of the directory. */
export function getStoredSite({ files, rows }: OpenedDirectory, site: string): StoredSite {
  const { reader } = rows.get(site) as PinnedRows;
  return { files, directory: getLogDirectory(site), rows: reader };
}

/**
 * Recovers a site of the directory, as a start does. Its rows can be read until the directory is
 * closed.
 *
 * @throws CorrectableError `UNAVAILABLE` if a start would refuse the site
 */
export function recoverStored(opened: OpenedDirectory, site: string): RecoveredSite {
  const { files, rows, directory } = getStoredSite(opened, site);
  const recovered = recoverSite(files, rows, directory, site);
  const damages = opened.rows.get(site)?.damages ?? [];
  return { ...recovered, damages: [...damages, ...recovered.damages] };
}

/** @throws CorrectableError as `openToRead` */
export function readManifest(dataDir: string): Manifest {
  const advice = 'name the directory given to --data';
  check(fs.existsSync(dataDir), 'dataDir', `is ${dataDir}, which does not exist: ${advice}`);
  const path = join(dataDir, MANIFEST_FILE);
  const hasManifest = fs.existsSync(path);
  check(hasManifest, 'dataDir', `is ${dataDir}, which has no ${MANIFEST_FILE}: ${advice}`);
  return parseManifest(fs.readFileSync(path));
}

/** @throws CorrectableError `INVALID_ARGUMENT` naming what the service lacks */
export function checkService(manifest: Manifest, service: Service, dataDir: string): void {
  const { sites, redLeader, partitions, site } = manifest;
  checkManifest(manifest, createManifest({ service, sites, redLeader, partitions, site }), dataDir);
}

/** Throws `UNAVAILABLE` if a site needs more memory to be recovered than this process may use. */
export function checkMemory(opened: OpenedDirectory, site: string, limit: number): void {
  const needed = measureNeededMemory(getStoredSite(opened, site));
  if (needed <= START_SHARE * limit) return;
  const sizes = `needs about ${formatMegabytes(needed)} of memory, and this process may use ${formatMegabytes(limit)}`;
  const { heap } = suggestMemory(needed);
  throw new CorrectableError(
    'UNAVAILABLE',
    `The data of ${site} ${sizes}. Nothing was changed. Set NODE_OPTIONS=--max-old-space-size=${heap} and run this again.`,
    { retryable: false, field: 'memoryBytes' },
  );
}

/**
 * Throws if a start would refuse the directory because its parts do not fit together, or because
 * its format is another one.
 *
 * @param dataDir the name of the directory in errors
 * @param found by site; `undefined` if one of them would not start alone
 */
export function rejectUnusable(
  { files, manifest }: OpenedDirectory,
  dataDir: string,
  found: readonly FoundSite[] | undefined,
): void {
  const names = getStoredSites(manifest);
  checkFormat(manifest, dataDir);
  readKey(files, manifest);
  if (manifest.site !== undefined)
    rejectWrongIdentity(files, manifest, { site: manifest.site, found: found?.[0] });
  rejectMissingSites(files, names.map(getLogDirectory), true);
  if (found === undefined || manifest.site !== undefined) return;
  const holdings = found.map(({ holding }) => holding);
  rejectMissingHistories(holdings, names, manifest);
}

/**
 * Throws `UNAVAILABLE` if `node.json` is missing or damaged, or belongs to another site than the
 * data.
 */
function rejectWrongIdentity(
  files: ReadableFiles,
  manifest: Manifest,
  { site, found }: { readonly site: string; readonly found: FoundSite | undefined },
): void {
  if (!files.list('.').includes(NODE_FILE))
    throw unusableDirectoryError(`there is no ${NODE_FILE}, which names its owner`);
  const identity = parseIdentity(files.read(NODE_FILE));
  if (identity.site !== site)
    throw unusableDirectoryError(
      `${NODE_FILE} is of the site '${identity.site}', and ${MANIFEST_FILE} of '${site}'`,
    );
  if (identity.forked !== undefined) throw unusableDirectoryError(identity.forked);
  if (found === undefined) return;
  const origins = Origins.create(found.origins === undefined ? manifest.sites : []);
  if (found.origins !== undefined) origins.load(found.origins);
  rejectForeignOrigin(identity, (origin) =>
    origins.isSite(origin) ? origins.get(origin).site : undefined,
  );
}
