/**
 * The directory in which a deployment keeps what it must not lose:
 *
 *     manifest.json     what the data was made for node.json         whose
 *     directory it is, where each site is a process of its own cluster.key
 *     authenticates session tokens lock              there while a process has
 *     the directory open sites/<name>/     the logs and checkpoints of a site
 */
import { createHash, randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { join } from 'node:path';
import { check, CorrectableError } from '../../../../correctable/errors.ts';
import { isNoSpace, type Files, type ReadableFiles } from '../disk/files.ts';
import {
  fenceFiles,
  lockDirectory,
  lockLostError,
  type Ownership,
} from '../disk/directory-lock.ts';
import { unusableDirectoryError } from './missing-history.ts';
import {
  MANIFEST_FILE,
  checkManifest,
  createManifest,
  parseManifest,
  type Deployment,
  type Manifest,
} from './manifest.ts';
import { formatCheckedJson } from '../format/checked-json.ts';
import { getLogDirectory, parseFileNumbers, formatSegmentName } from '../format/file-names.ts';
import { keepLogRoom } from '../disk/log-room.ts';
import { NodeFiles } from '../disk/node-files.ts';
import { LevelRowStores } from '../rows/level-row-store.ts';
import type { RowStores } from '../rows/row-store.ts';
import { readLog } from '../format/log-file-reader.ts';
import { getCheckpointNumbers } from '../format/latest-checkpoint.ts';

export interface DataDirectory {
  readonly files: Files;
  /** The stores of rows in its folders. */
  readonly rows: RowStores;
  /** Returns whether this process still owns the directory. */
  readonly lock: Ownership;
  /** Authenticates session tokens. A new key is created if there is none. */
  readonly clusterKey: Uint8Array;
  /** The manifest, if the directory was used before. */
  readonly manifest: Manifest | undefined;
  /** Whether there was a key once, and it is gone. */
  readonly hasLostKey: boolean;
  /** Writes the manifest, once all sites can start. Throws `UNAVAILABLE` if there is no room. */
  adopt(): void;
  /** Releases the directory once no file in it is being created or removed. */
  close(): Promise<void>;
}

export const KEY_FILE = 'cluster.key';
const KEY_BYTES = 32;
const KEY_HASH_LENGTH = 16;
/** A shorter key could be guessed. */
export const MIN_KEY_BYTES = 32;
const SITE_NAME = /^[\w-]+$/;
/** Maximum length of a name in file systems, in bytes. */
const MAX_SITE_NAME_LENGTH = 255;

/**
 * Opens or makes the directory, for this process alone. Calls `onWait` before it waits for a lock
 * held elsewhere.
 *
 * @throws CorrectableError `UNAVAILABLE` when another process has it open, or its files are damaged
 * or gone; `INVALID_ARGUMENT` when its data is of something else, or there can be no such
 * directory.
 */
export function openDataDirectory(
  path: string,
  deployment: Deployment,
  onWait?: (message: string) => void,
): DataDirectory {
  checkSiteNames(deployment.sites);
  const lockPath = join(path, 'lock');
  const lock = withSpaceErrors(`its lock (${lockPath})`, () =>
    withDirectoryErrors(path, () => {
      fs.mkdirSync(path, { recursive: true, mode: 0o700 });
      return lockDirectory(lockPath, undefined, onWait);
    }),
  );
  try {
    const nodeFiles = new NodeFiles(path);
    const files = keepLogRoom(fenceFiles(nodeFiles, lock), path);
    const requested = createManifest(deployment);
    const found = readManifest(files);
    if (found !== undefined) checkManifest(found, requested, path);
    const key = readKey(files, found);
    const clusterKey = key ?? randomBytes(KEY_BYTES);
    const kept = requested.site === undefined ? requested : keepFounding(requested, found);
    const manifest = { ...kept, key: hashKey(clusterKey) };
    const hasLostKey = key === undefined && found !== undefined;
    const adopt = (): void => {
      // If nothing has to be written, no other code checks the lock.
      if (!lock.isHeld()) throw lockLostError();
      const newKey = key === undefined ? clusterKey : undefined;
      adoptDirectory(files, { manifest, found, newKey });
    };
    const close = async (): Promise<void> => {
      try {
        // Releases at once if no file is busy.
        if (nodeFiles.isBusy) await nodeFiles.whenIdle();
      } finally {
        lock.release();
      }
    };
    return {
      files,
      rows: new LevelRowStores(path, lock),
      lock,
      clusterKey,
      manifest: found,
      hasLostKey,
      adopt,
      close,
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

function checkSiteNames(names: readonly string[]): void {
  for (const name of names) {
    const rule = 'cannot be the name of a directory; use letters, digits, - and _.';
    check(SITE_NAME.test(name), 'sites', `'${name}' ${rule}`);
    const has = `'${name.slice(0, 20)}…' has ${name.length} letters`;
    const problem = `${has}, and the name of its directory takes ${MAX_SITE_NAME_LENGTH}: give a shorter one.`;
    check(name.length <= MAX_SITE_NAME_LENGTH, 'sites', problem);
  }
}

interface Adoption {
  readonly manifest: Manifest;
  /** The manifest that the directory has. */
  readonly found: Manifest | undefined;
  /** The key to write, if the directory has none. */
  readonly newKey: Uint8Array | undefined;
}

/** Writes the key and the manifest, as far as they are not there. */
function adoptDirectory(files: Files, { manifest, found, newKey }: Adoption): void {
  const text = formatCheckedJson(manifest);
  const writeKey = (): void => {
    if (newKey !== undefined) withSpaceErrors(KEY_FILE, () => files.replace(KEY_FILE, newKey));
  };
  const writeManifest = (): void => {
    const isSame = found !== undefined && Buffer.compare(files.read(MANIFEST_FILE), text) === 0;
    if (!isSame) withSpaceErrors(MANIFEST_FILE, () => files.replace(MANIFEST_FILE, text));
  };
  // After a crash, a key that the manifest does not name would count as damaged.
  const hasLostKey = newKey !== undefined && found !== undefined;
  const writes = hasLostKey ? [writeManifest, writeKey] : [writeKey, writeManifest];
  try {
    for (const write of writes) write();
  } catch (error) {
    // A file that is left there would hide from the next start that there was another key.
    if (newKey !== undefined) files.removeNow(KEY_FILE);
    throw error;
  }
}

/**
 * Keeps the founding state of a cluster. Its sites may change, changes of its service are in its
 * checkpoints, and changes of its leaders in `node.json`.
 */
function keepFounding(requested: Manifest, found: Manifest | undefined): Manifest {
  if (found === undefined) return requested;
  const { sites, service, rules, redLeader, partitions } = found;
  const founding = { ...requested, sites, service, rules, redLeader };
  return partitions === undefined ? founding : { ...founding, partitions };
}

/** Why a directory cannot be at a path, by the system's code. */
const DIRECTORY_ERRORS: Readonly<Record<string, string>> = {
  EEXIST: 'is a file, or a part of it is',
  ENOTDIR: 'is a file, or a part of it is',
  ENAMETOOLONG: 'is too long a name, or a part of it is',
  ERR_INVALID_ARG_VALUE: 'must not have the character 0 in it',
  EACCES: 'cannot be made or written by this user',
  EPERM: 'cannot be made or written',
  EROFS: 'is on a disk that cannot be written',
};

/** What to do, where the first idea would not be another directory. */
const DIRECTORY_ADVICE: Readonly<Record<string, string>> = {
  EACCES: 'Let the user of this process write there, or give another directory',
  EPERM: 'Let the user of this process write there, or give another directory',
};

/** @throws CorrectableError `INVALID_ARGUMENT` if a directory cannot be at the path */
function withDirectoryErrors<T>(path: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    const { code = '', syscall, message: cause } = error as NodeJS.ErrnoException;
    const reason = DIRECTORY_ERRORS[code];
    if (reason === undefined) throw error;
    // The cause names the system call and its file.
    const shown = syscall === undefined ? reason : `${reason}: ${cause}`;
    const advice =
      DIRECTORY_ADVICE[code] ?? 'Give the path of a directory that is there, or that can be made';
    const message = `dataDir: '${path}' ${shown}. Nothing was changed. ${advice}.`;
    throw new CorrectableError('INVALID_ARGUMENT', message, {
      field: 'dataDir',
      cause: error,
    });
  }
}

/** @throws CorrectableError `UNAVAILABLE` if the disk has no room for something small */
function withSpaceErrors<T>(description: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof Error) || !isNoSpace(error)) throw error;
    const message = `The data directory cannot be used: there is no room on the disk, not even for ${description}.`;
    throw new CorrectableError('UNAVAILABLE', message, {
      field: 'dataDir',
      cause: error,
    });
  }
}

/**
 * Reads the manifest. The first start writes it before any site writes, so a directory with data
 * and no manifest has lost it.
 */
function readManifest(files: ReadableFiles): Manifest | undefined {
  if (files.list('.').includes(MANIFEST_FILE)) return parseManifest(files.read(MANIFEST_FILE));
  const witness = files.list('sites').find((name) => hasHistory(files, getLogDirectory(name)));
  if (witness === undefined) return undefined;
  throw unusableDirectoryError(
    `there is no ${MANIFEST_FILE}, which describes the deployment, but ${getLogDirectory(witness)} has some`,
  );
}

/**
 * @throws CorrectableError `UNAVAILABLE` if the key can be guessed, or is not the one that the
 * manifest names
 */
export function readKey(
  files: ReadableFiles,
  manifest: Manifest | undefined,
): Uint8Array | undefined {
  if (!files.list('.').includes(KEY_FILE)) return undefined;
  const key = files.read(KEY_FILE);
  const refuse = (problem: string): never => {
    const without = 'Or remove it: then sessions of before do not go on';
    throw unusableDirectoryError(`${KEY_FILE} is damaged: ${problem}. ${without}`);
  };
  if (key.length < MIN_KEY_BYTES)
    refuse(`it has ${key.length} bytes, and a key has at least ${MIN_KEY_BYTES}`);
  if (manifest?.key !== undefined && manifest.key !== hashKey(key))
    refuse(`it is not the key that ${MANIFEST_FILE} describes`);
  return key;
}

function hashKey(key: Uint8Array): string {
  const hash = createHash('sha256').update('correctables session key').update(key);
  return hash.digest('hex').slice(0, KEY_HASH_LENGTH);
}

/**
 * Throws `UNAVAILABLE` if the data of a site is gone: without its past it would number its
 * operations from the beginning.
 *
 * Every start makes a file for each site before it writes anything, and the first one does so
 * before the manifest. So a directory without files is new only if there is no manifest, and no
 * other site has written anything.
 */
export function rejectMissingSites(
  files: ReadableFiles,
  folders: readonly string[],
  hasManifest: boolean,
): void {
  const missing = folders.filter((folder) => isEmpty(files, folder));
  if (missing.length === 0) return;
  if (missing.length === folders.length) {
    if (!hasManifest) return;
    const unused = `Where nothing was ever written, remove ${MANIFEST_FILE}`;
    throw unusableDirectoryError(
      `there is nothing in ${missing.join(', ')}, and ${MANIFEST_FILE} lists data there. ${unused}`,
    );
  }
  const witness = folders.find((folder) => hasHistory(files, folder));
  if (witness === undefined) return;
  throw unusableDirectoryError(
    `there is nothing in ${missing.join(', ')}, and ${witness} has what was written when there was`,
  );
}

function isEmpty(files: ReadableFiles, folder: string): boolean {
  const names = files.list(folder);
  return parseFileNumbers(names, 'log').length === 0 && getCheckpointNumbers(names).length === 0;
}

/** Returns whether anything was ever written in the directory of a site. */
function hasHistory(files: ReadableFiles, folder: string): boolean {
  const names = files.list(folder);
  if (getCheckpointNumbers(names).length > 0) return true;
  return parseFileNumbers(names, 'log').some((number) => {
    const { header, damage } = readLog(
      files.read(`${folder}/${formatSegmentName(number)}`),
      number,
    );
    return header !== undefined || damage !== undefined;
  });
}
