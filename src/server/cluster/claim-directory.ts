/** Which identity a node starts with: that of its data directory, or a new one. */
import { CorrectableError } from '../../correctable/errors.ts';
import type { DataDirectory } from '../storage/directory/data-directory.ts';
import { unusableDirectoryError } from '../storage/directory/missing-history.ts';
import type { Files } from '../storage/disk/files.ts';
import { NODE_FILE, createNodeIdentity, readNodeIdentity, writeNodeIdentity, type NodeIdentity } from './node-file.ts';

/** Whose directory it is to be. */
export interface DirectoryClaim {
  readonly dataDir: string;
  readonly deployment: string;
  readonly site: string;
  /** The origin of the site on a new directory: of a deployment that is created. */
  readonly origin: number;
  /** Whether a directory that is new, or was forked, begins with the state of another site. */
  readonly rebuilds: boolean;
}

/**
 * Returns the identity of a directory, and writes it down if it is new.
 *
 * @throws CorrectableError `UNAVAILABLE` if the directory cannot be used, `INVALID_ARGUMENT` if it is of another site
 */
export function claimDirectory(
  { files, manifest }: Pick<DataDirectory, 'files' | 'manifest'>,
  { dataDir, deployment, site, origin, rebuilds }: DirectoryClaim,
): NodeIdentity {
  const found = readNodeIdentity(files, dataDir, { deployment, site });
  // A start without the flag may have been refused before anything was written.
  const isUnused = rebuilds && found?.origin !== null && manifest === undefined;
  if (found !== undefined && found.forked === undefined && !isUnused) return found;
  if (found?.forked !== undefined && !rebuilds) throw closedDirectoryError(site, found.forked);
  if (found === undefined && manifest !== undefined)
    throw unusableDirectoryError('there is no node.json, which names its owner');
  if (rebuilds) moveAside(files, found);
  const identity = createNodeIdentity({ deployment, site, origin: rebuilds ? null : origin });
  writeNodeIdentity(files, identity);
  return identity;
}

/** Moves the previous content aside, and removes the remains of a transfer. */
function moveAside(files: Files, found: NodeIdentity | undefined): void {
  for (const name of ['incoming', 'arrived']) files.removeNow(name);
  if (found === undefined || files.list('sites').length === 0) return;
  const folder = `replaced-${new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '')}`;
  files.makeDirectory(folder);
  files.replace(`${folder}/${NODE_FILE}`, files.read(NODE_FILE));
  files.moveDirectory('sites', `${folder}/sites`);
}

/** The site of a directory was retired, or has gone on elsewhere. The field names the option that allows a start on it. */
export function closedDirectoryError(site: string, reason: string): CorrectableError {
  const advice = `If ${site} was retired, do not start it, or add it again on an empty directory with --join. Otherwise start it on its newest data directory, or with --rebuild`;
  const message = `The data cannot be used: ${reason}. Nothing was changed. ${advice}.`;
  return new CorrectableError('UNAVAILABLE', message, { retryable: false, field: 'rebuild' });
}
