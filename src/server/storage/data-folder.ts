/**
 * The folder in which a deployment keeps what it must not lose:
 *
 *     manifest.json     what the data was made for
 *     cluster.key       authenticates session tokens
 *     lock              there while a process has the folder open
 *     sites/<name>/     the logs and checkpoints of a site
 */
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { join } from 'node:path';
import { CorrectableError } from '../../correctable/errors.ts';
import { isNoSpace } from './files.ts';
import type { Files } from './files.ts';
import { lockFolder } from './folder-lock.ts';
import type { FolderLock } from './folder-lock.ts';
import { GuardedFiles } from './guarded-files.ts';
import { checkManifest, manifestOf } from './manifest.ts';
import type { Deployment, Manifest } from './manifest.ts';
import { NodeFiles } from './node-files.ts';

/** An open folder. */
export interface DataFolder {
  readonly files: Files;
  readonly clusterKey: Uint8Array;
  /** Says whether the folder still is this process's alone. */
  readonly lock: Pick<FolderLock, 'isHeld' | 'onLost'>;
  /** The folder of a site, relative to `files`. */
  siteFolder(name: string): string;
  /** Lets go of the folder once no file in it is being made or removed. */
  close(): Promise<void>;
}

const MANIFEST = 'manifest.json';
const KEY = 'cluster.key';
const KEY_BYTES = 32;
const SITE_NAME = /^[\w-]+$/;

/**
 * Opens the folder, making it if there is none, for this process alone.
 *
 * @throws CorrectableError `UNAVAILABLE` when another process has it open, `INVALID_ARGUMENT` when its data is of
 * something else.
 */
export function openDataFolder(path: string, deployment: Deployment): DataFolder {
  for (const name of deployment.sites) {
    if (!SITE_NAME.test(name)) throw invalidSite(name);
  }
  fs.mkdirSync(path, { recursive: true, mode: 0o700 });
  const lock = takeLock(join(path, 'lock'));
  try {
    const nodeFiles = new NodeFiles(path);
    const files = new GuardedFiles(nodeFiles, lock);
    files.makeFolder('sites');
    const names = files.list('.');
    adoptManifest(files, names, manifestOf(deployment), path);
    if (!names.includes(KEY)) files.replace(KEY, randomBytes(KEY_BYTES));
    const close = async (): Promise<void> => {
      try {
        await nodeFiles.settled();
      } finally {
        lock.release();
      }
    };
    return { files, lock, clusterKey: files.read(KEY), siteFolder: (name) => `sites/${name}`, close };
  } catch (error) {
    lock.release();
    throw error;
  }
}

function takeLock(path: string): FolderLock {
  try {
    return lockFolder(path);
  } catch (error) {
    if (!(error instanceof Error) || !isNoSpace(error)) throw error;
    const message = `The data folder cannot be used: there is no room on the disk, not even for its lock (${path}).`;
    throw new CorrectableError('UNAVAILABLE', message, { field: 'dataDir', cause: error });
  }
}

function adoptManifest(files: Files, names: readonly string[], wanted: Manifest, path: string): void {
  if (names.includes(MANIFEST)) {
    const found = JSON.parse(Buffer.from(files.read(MANIFEST)).toString()) as Manifest;
    checkManifest(found, wanted, path);
    if (found.service.hash === wanted.service.hash && found.format === wanted.format) return;
  }
  files.replace(MANIFEST, Buffer.from(`${JSON.stringify(wanted, null, 2)}\n`));
}

function invalidSite(name: string): CorrectableError {
  const message = `sites: '${name}' cannot be the name of a folder; use letters, digits, - and _.`;
  return new CorrectableError('INVALID_ARGUMENT', message, { field: 'sites' });
}
