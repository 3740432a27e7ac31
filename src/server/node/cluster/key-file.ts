/**
 * The key file of a deployment. `correctables cluster init` creates it once, and it is copied to
 * every node.
 */
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { CorrectableError } from '../../../correctable/errors.ts';
import { isRecord } from '../../../correctable/validate.ts';
import { MIN_KEY_BYTES } from '../storage/directory/data-directory.ts';
import { clusterFileError } from './cluster-file-errors.ts';
import { getFileVersion, readTextFile } from './text-file.ts';

export interface ClusterKeys {
  /** The random id of the deployment. */
  readonly deployment: string;
  /** One or two keys. The first is used to dial, and each is accepted. */
  readonly keys: readonly LinkKey[];
  /**
   * Authenticates session tokens. It stays the same when link keys change, so that sessions
   * continue.
   */
  readonly sessionKey: Uint8Array;
}

/** A key for links. */
export interface LinkKey {
  /** Names the key without revealing it. */
  readonly id: string;
  readonly bytes: Uint8Array;
}

const KEY_BYTES = 32;
/** The maximum length of a key. All versions of the TLS libraries accept it. */
const MAX_KEY_BYTES = 64;
const MAX_KEYS = 2;
const DEPLOYMENT_BYTES = 12;
const KEY_ID_LENGTH = 16;
const FILE_MODE = 0o600;
const READABLE_BY_OTHERS = 0o007;
const DEPLOYMENT = /^[0-9a-f]{24}$/;

/**
 * Creates the key file of a new deployment. Returns `undefined` and changes nothing if the file
 * exists.
 */
export function createKeyFile(path: string): ClusterKeys | undefined {
  if (existsSync(path)) return undefined;
  const text = {
    deployment: randomBytes(DEPLOYMENT_BYTES).toString('hex'),
    keys: [randomBytes(KEY_BYTES).toString('base64')],
    sessionKey: randomBytes(KEY_BYTES).toString('base64'),
  };
  writeFileSync(path, `${JSON.stringify(text, null, 2)}\n`, {
    mode: FILE_MODE,
    flag: 'wx',
  });
  return readKeyFile(path);
}

/**
 * @throws CorrectableError `INVALID_ARGUMENT` that says what is wrong with the file, and what to do
 */
export function readKeyFile(path: string): ClusterKeys {
  let text: string;
  try {
    if ((statSync(path).mode & READABLE_BY_OTHERS) !== 0 && process.platform !== 'win32')
      throw clusterFileError(
        `keyFile: every user of this machine can read ${path}. Run chmod 600 ${path}, or set the mode with which the secret is mounted.`,
      );
    text = readTextFile(path);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (cause instanceof CorrectableError) throw cause;
    if (code !== 'ENOENT') {
      const advice = 'Let the user that runs this process read it, and no other user';
      throw clusterFileError(`keyFile: ${path} cannot be read: ${message}. ${advice}.`, cause);
    }
    const create = 'For a new deployment run correctables cluster init once';
    const copy = 'otherwise copy the key file of another node';
    throw clusterFileError(`keyFile: there is no ${path}. ${create}, ${copy}.`, cause);
  }
  return parseKeys(text, path);
}

/**
 * Returns the keys for a running node. A new link uses the present content of the file, so a key
 * can be replaced without a restart. If the file is invalid or belongs to another deployment, the
 * former keys stay in use, and `onProblem` gets the reason once.
 *
 * @throws CorrectableError as `readKeyFile`
 */
export function followKeyFile(path: string, onProblem?: (message: string) => void): ClusterKeys {
  let seen = getVersion(path);
  const first = readKeyFile(path);
  let { keys } = first;
  let reported: string | undefined;

  const readAgain = (): void => {
    const read = readKeyFile(path);
    if (read.deployment !== first.deployment)
      throw clusterFileError(`keyFile: ${path} is that of another deployment.`);
    ({ keys } = read);
  };

  return {
    ...first,
    get keys() {
      const version = getVersion(path);
      if (version === seen) return keys;
      try {
        readAgain();
        seen = version;
        reported = undefined;
      } catch (error) {
        // Read the file again next time, because the problem may end without a change of the file.
        seen = undefined;
        const { message } = error as Error;
        if (message !== reported) onProblem?.(`${message} Links still use the keys of before.`);
        reported = message;
      }
      return keys;
    },
  };
}

/** Returns `undefined` if the file cannot be found. */
function getVersion(path: string): string | undefined {
  try {
    return getFileVersion(path);
  } catch {
    return undefined;
  }
}

function parseKeys(text: string, path: string): ClusterKeys {
  const refuse = (problem: string): never => {
    throw clusterFileError(`keyFile: ${path} ${problem}. Copy the key file of another node.`);
  };
  const value = parseJson(text);
  if (!isRecord(value)) return refuse('is not a JSON object');
  const { deployment, keys } = value;
  if (typeof deployment !== 'string' || !DEPLOYMENT.test(deployment))
    return refuse('has no valid deployment');
  if (!Array.isArray(keys) || keys.length === 0 || keys.length > MAX_KEYS)
    return refuse('must have one or two keys');
  const decoded = keys.map(
    (item) => decodeKey(item) ?? refuse(`must have keys of ${KEY_BYTES} bytes in base64`),
  );
  const sessionKey =
    decodeKey(value['sessionKey']) ??
    refuse(`must have a sessionKey of ${KEY_BYTES} bytes in base64`);
  return {
    deployment,
    keys: decoded.map((bytes) => ({ id: hashKeyId(bytes), bytes })),
    sessionKey,
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function decodeKey(value: unknown): Uint8Array | undefined {
  if (typeof value !== 'string' || !/^[A-Za-z0-9+/]+={0,2}$/.test(value)) return undefined;
  const bytes = Buffer.from(value, 'base64');
  return bytes.length >= MIN_KEY_BYTES && bytes.length <= MAX_KEY_BYTES ? bytes : undefined;
}

function hashKeyId(bytes: Uint8Array): string {
  return createHash('sha256')
    .update('correctables link key')
    .update(bytes)
    .digest('hex')
    .slice(0, KEY_ID_LENGTH);
}
