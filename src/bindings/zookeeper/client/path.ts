/**
 * Checks the paths of nodes before anything is sent. The server would close the connection for an
 * invalid path.
 */
import { ZooKeeperError } from './errors.ts';

/** @throws ZooKeeperError `BAD_ARGUMENTS` unless `path` is absolute and normal. */
export function checkPath(path: string, isSequential = false): string {
  const problem = findPathProblem(isSequential ? `${path}1` : path);
  if (problem === undefined) return path;
  throw new ZooKeeperError('BAD_ARGUMENTS', { path, hint: `path: ${problem}` });
}

function findPathProblem(path: string): string | undefined {
  if (typeof path !== 'string' || !path.startsWith('/')) return 'give one that starts with "/"';
  if (path === '/') return undefined;
  const names = path.slice(1).split('/');
  if (names.includes('')) return 'leave out empty names and a "/" at the end';
  if (names.some((name) => name === '.' || name === '..')) return 'leave out "." and ".."';
  if ([...path].some(isForbidden)) {
    return 'leave out control characters, and characters beyond the basic plane';
  }
  return undefined;
}

/**
 * Returns whether the server rejects a character: control characters, private use, and characters
 * of two code units.
 */
function isForbidden(character: string): boolean {
  const code = character.codePointAt(0) as number;
  return (
    code < 0x20 ||
    (code > 0x7e && code < 0xa0) ||
    (code >= 0xd8_00 && code <= 0xf8_ff) ||
    code >= 0xff_f0
  );
}

/** The subtree that the client uses as its root: a prefix of all paths that are sent. */
export class Chroot {
  readonly #prefix: string;

  constructor(path: string) {
    this.#prefix = path === '/' ? '' : checkPath(path);
  }

  toServerPath(path: string): string {
    if (this.#prefix === '') return path;
    return path === '/' ? this.#prefix : this.#prefix + path;
  }

  toClientPath(path: string): string {
    if (path === this.#prefix) return '/';
    return path.startsWith(`${this.#prefix}/`) ? path.slice(this.#prefix.length) : path;
  }
}
