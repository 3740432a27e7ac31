/**
 * Reads a data directory that a running process may change meanwhile. It takes no lock and writes
 * nothing, so the parts of one pass may be of different moments. A pass that finds a problem is
 * therefore repeated as long as a process may be working there.
 */
import fs from 'node:fs';
import { join } from 'node:path';
import { check, CorrectableError } from '../../../correctable/errors.ts';
import { getSavedSite, type RecoveredState } from '../../log/recovered-state.ts';
import { Origins, type SavedOrigin } from '../../service/records/origin.ts';
import { readKey, rejectMissingSites } from '../storage/directory/data-directory.ts';
import { MANIFEST_FILE, checkFormat, type Manifest } from '../storage/directory/manifest.ts';
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
import { NodeFiles } from '../storage/disk/node-files.ts';
import { getLogDirectory } from '../storage/format/file-names.ts';

const LOCK_FILE = 'lock';
/** The maximum number of passes over a directory that a running process changes. */
const MAX_PASSES = 20;

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

/** The result of one pass. */
export interface Pass {
  /** Whether nothing was wrong, so that another pass would find the same. */
  readonly isHealthy: boolean;
  /** By site. `undefined` if one of them would not start alone. */
  readonly found: readonly FoundSite[] | undefined;
}

/** @throws CorrectableError `INVALID_ARGUMENT` if there is no data directory at the path */
export function openToRead(dataDir: string): NodeFiles {
  const advice = 'name the directory given to --data';
  check(fs.existsSync(dataDir), 'dataDir', `is ${dataDir}, which does not exist: ${advice}`);
  const hasManifest = fs.existsSync(join(dataDir, MANIFEST_FILE));
  check(hasManifest, 'dataDir', `is ${dataDir}, which has no ${MANIFEST_FILE}: ${advice}`);
  return new NodeFiles(dataDir);
}

/**
 * Repeats a pass until it is healthy, or no process has the directory. Returns the last one.
 *
 * @param run gets the pass before. It may throw if a file was removed after it was listed
 * @throws CorrectableError `UNAVAILABLE` if files come and go too quickly
 */
export function repeatWhileChanging<P extends Pass>(
  dataDir: string,
  run: (before: P | undefined) => P,
): P {
  let last: P | undefined;
  for (let passes = 1; passes <= MAX_PASSES; passes += 1) {
    last = ignoreRemovedFile(() => run(last)) ?? last;
    if (last === undefined) continue;
    if (last.isHealthy || !fs.existsSync(join(dataDir, LOCK_FILE))) break;
  }
  if (last !== undefined) return last;
  const message = `The files in ${dataDir} come and go as fast as they are looked at: inspect it again.`;
  throw new CorrectableError('UNAVAILABLE', message, { field: 'dataDir' });
}

function ignoreRemovedFile<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Throws if a start would refuse the directory because its parts do not fit together, or because
 * its format is another one.
 *
 * @param found by site; `undefined` if one of them would not start alone
 */
export function rejectUnusable(
  files: ReadableFiles,
  dataDir: string,
  manifest: Manifest,
  { found, before }: { readonly found: Pass['found']; readonly before: Pass | undefined },
): void {
  const names = getStoredSites(manifest);
  checkFormat(manifest, dataDir);
  readKey(files, manifest);
  if (manifest.site !== undefined)
    rejectWrongIdentity(files, manifest, { site: manifest.site, found: found?.[0] });
  rejectMissingSites(files, names.map(getLogDirectory), true);
  if (found === undefined || manifest.site !== undefined) return;
  const [holdings, known] = [found, before?.found].map((sites) =>
    sites?.map(({ holding }) => holding),
  );
  rejectMissingHistories(holdings as Holding[], names, manifest, known);
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
