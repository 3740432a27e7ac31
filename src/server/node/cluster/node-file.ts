/**
 * `node.json` in the data directory of a node: the identity of its owner. It is written before the
 * node sends anything.
 */
import { randomBytes } from 'node:crypto';
import { CorrectableError } from '../../../correctable/errors.ts';
import type { DataDirectory } from '../storage/directory/data-directory.ts';
import type { Files } from '../storage/disk/files.ts';
import { unusableDirectoryError } from '../storage/directory/missing-history.ts';
import {
  NODE_FILE,
  formatIdentity,
  parseIdentity,
  type StoredIdentity,
} from '../storage/directory/node-identity.ts';
import type { StoredGeneration } from '../red-log/red-generation.ts';

export interface NodeIdentity extends StoredIdentity {
  /** The generation of the red log that it follows, if the log was restored at another site. */
  readonly red?: StoredGeneration;
  /**
   * How many operations of its site it had when its mark was last removed, so that the other sites
   * checked it again.
   */
  readonly recheckedAt?: number;
}

const DIRECTORY_BYTES = 12;

/**
 * Throws `UNAVAILABLE` for a damaged file, `INVALID_ARGUMENT` for a directory of another site or
 * deployment.
 */
export function readNodeIdentity(
  files: Files,
  dataDir: string,
  { deployment, site }: DirectoryOwner,
): NodeIdentity | undefined {
  if (!files.list('.').includes(NODE_FILE)) return undefined;
  const found: NodeIdentity = parseIdentity(files.read(NODE_FILE));
  const refuse = (problem: string): never => {
    const message = `The data in ${dataDir} is of ${problem}: name another directory.`;
    throw new CorrectableError('INVALID_ARGUMENT', message, {
      field: 'dataDir',
    });
  };
  if (found.deployment !== deployment)
    refuse(
      `the deployment '${found.deployment}', not of '${deployment}', which the key file names`,
    );
  if (found.site !== site) refuse(`the site '${found.site}', not of '${site}'`);
  return found;
}

/** @throws CorrectableError `UNAVAILABLE` if the directory was taken over */
export function writeNodeIdentity(files: Files, identity: NodeIdentity): void {
  files.replace(NODE_FILE, formatIdentity(identity));
}

export interface DirectoryOwner {
  readonly deployment: string;
  readonly site: string;
}

interface DirectoryClaim extends DirectoryOwner {
  readonly dataDir: string;
  /** The origin of the site in a deployment that is being created. */
  readonly origin: number;
  /** Whether the site of a new or forked directory receives the state of another site first. */
  readonly rebuilds: boolean;
}

/**
 * Returns the identity of a directory, and creates it for a new one. Throws as `readNodeIdentity`.
 */
export function claimDirectory(
  { files, manifest }: DataDirectory,
  { dataDir, deployment, site, origin, rebuilds }: DirectoryClaim,
): NodeIdentity {
  const found = readNodeIdentity(files, dataDir, { deployment, site });
  // An earlier start without the flag may have claimed the directory, and then been refused before
  // it wrote any data.
  const isUnused = rebuilds && found?.origin !== null && manifest === undefined;
  if (found !== undefined && found.forked === undefined && !isUnused) return found;
  if (found?.forked !== undefined && !rebuilds) throw closedDirectoryError(site, found.forked);
  if (found === undefined && manifest !== undefined)
    throw unusableDirectoryError('there is no node.json, which names its owner');
  if (rebuilds) moveAside(files, found);
  const directory = randomBytes(DIRECTORY_BYTES).toString('hex');
  const identity: NodeIdentity = {
    deployment,
    site,
    directory,
    origin: rebuilds ? null : origin,
  };
  writeNodeIdentity(files, identity);
  return identity;
}

/** Moves the previous content aside, and removes the rest of a transfer. */
function moveAside(files: Files, found: NodeIdentity | undefined): void {
  for (const name of ['incoming', 'arrived']) files.removeNow(name);
  if (found === undefined || files.list('sites').length === 0) return;
  const folder = `replaced-${new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '')}`;
  files.makeDirectory(folder);
  files.replace(`${folder}/${NODE_FILE}`, files.read(NODE_FILE));
  files.moveDirectory('sites', `${folder}/sites`);
}

/**
 * Creates the error for a directory whose site was retired, or continues on another directory. Its
 * field names the option that allows a start.
 */
export function closedDirectoryError(site: string, reason: string): CorrectableError {
  const advice = `If ${site} was retired, do not start it, or add it again on an empty directory with --join. Otherwise start it on its newest data directory, or with --rebuild`;
  const message = `The data cannot be used: ${reason}. Nothing was changed. ${advice}.`;
  return new CorrectableError('UNAVAILABLE', message, {
    retryable: false,
    field: 'rebuild',
  });
}
