/** `node.json` in the data directory of a node: whose directory it is. Written before the node says anything to others. */
import { randomBytes } from 'node:crypto';
import { CorrectableError } from '../../correctable/errors.ts';
import { isRecord } from '../../correctable/validate.ts';
import type { Files } from '../storage/disk/files.ts';
import { unusableDirectoryError } from '../storage/directory/missing-history.ts';
import type { StoredGeneration } from './red-log/red-generation.ts';

/** The identity of a node. */
export interface NodeIdentity {
  readonly deployment: string;
  readonly site: string;
  /** The random id of the directory, which no other directory has. */
  readonly directory: string;
  /** The ordinal of its origin; `null` as long as another site has not sent its state for the directory to begin with. */
  readonly origin: number | null;
  /** The generation of the red log that it follows, once that was restored at another site. */
  readonly red?: StoredGeneration;
  /** Why the site on this directory must not go on, if so. */
  readonly forked?: string;
}

/** The file in which it is written down. */
export const NODE_FILE = 'node.json';
const DIRECTORY_BYTES = 12;

export function createNodeIdentity(identity: Omit<NodeIdentity, 'directory'>): NodeIdentity {
  return { ...identity, directory: randomBytes(DIRECTORY_BYTES).toString('hex') };
}

/**
 * Reads the identity, if there is one.
 *
 * @throws CorrectableError `UNAVAILABLE` if the file is damaged; `INVALID_ARGUMENT` if the directory is of another site or
 * deployment
 */
export function readNodeIdentity(
  files: Files,
  dataDir: string,
  { deployment, site }: Pick<NodeIdentity, 'deployment' | 'site'>,
): NodeIdentity | undefined {
  if (!files.list('.').includes(NODE_FILE)) return undefined;
  const found = parseIdentity(files.read(NODE_FILE));
  const refuse = (problem: string): never => {
    const message = `The data in ${dataDir} is of ${problem}: name another directory.`;
    throw new CorrectableError('INVALID_ARGUMENT', message, { field: 'dataDir' });
  };
  if (found.deployment !== deployment)
    refuse(`the deployment '${found.deployment}', not of '${deployment}', which the key file names`);
  if (found.site !== site) refuse(`the site '${found.site}', not of '${site}'`);
  return found;
}

/** @throws CorrectableError `UNAVAILABLE` if the directory was taken over */
export function writeNodeIdentity(files: Files, identity: NodeIdentity): void {
  files.replace(NODE_FILE, Buffer.from(`${JSON.stringify(identity, null, 2)}\n`));
}

function parseIdentity(bytes: Uint8Array): NodeIdentity {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString());
    const { deployment, site, directory, origin } = isRecord(value) ? value : {};
    const areNames = [deployment, site, directory].every((item) => typeof item === 'string' && item !== '');
    if (areNames && (origin === null || Number.isSafeInteger(origin))) return value as unknown as NodeIdentity;
  } catch {
    // Reported below.
  }
  throw unusableDirectoryError(`${NODE_FILE} is damaged`);
}
