/** Explains why the server cannot listen, and names the flag that sets the address. */
import { createUsageError } from './options.ts';

/** The system calls by which a server begins to listen. */
const LISTEN_CALLS: readonly string[] = ['listen', 'bind', 'getaddrinfo'];
/** Reasons why the server cannot listen there, by the code of the system's error. */
const LISTEN_ERRORS: Readonly<
  Record<string, { readonly flag: 'host' | 'port'; readonly problem: string }>
> = {
  EADDRINUSE: {
    flag: 'port',
    problem: 'where another program listens: give another, or 0 for any free one',
  },
  EACCES: {
    flag: 'port',
    problem: 'where this user may not listen: give one from 1024 on, or 0 for any free one',
  },
  EADDRNOTAVAIL: {
    flag: 'host',
    problem: 'which is no address of this machine: give one that it has',
  },
  EINVAL: {
    flag: 'host',
    problem:
      'where nothing can listen: give an address of this machine, a link-local one as fe80::1%eth0',
  },
  ENOTFOUND: { flag: 'host', problem: 'which is no address, and no name of one' },
  EAI_AGAIN: {
    flag: 'host',
    problem: 'which is neither an address nor a name that a name server knows',
  },
};

/** The fields that Node adds to an error of a socket. */
interface ListenError extends NodeJS.ErrnoException {
  readonly address?: string;
  readonly hostname?: string;
  readonly port?: number;
}

/**
 * Throws a usage error if `error` reports that the server cannot listen at an address. Errors of
 * files have the same codes, so the system call is checked too. The message names the address of
 * the error, or `place` if it has none. In a cluster, the address is in the cluster file.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` that names `--host` or `--port`
 */
export function throwListenError(
  error: unknown,
  place: { readonly host: string; readonly port: number },
): void {
  const found = error instanceof Error ? (error as ListenError) : undefined;
  if (!LISTEN_CALLS.includes(found?.syscall ?? '')) return;
  const cannot = LISTEN_ERRORS[found?.code ?? ''];
  if (cannot === undefined) return;
  const host = found?.address ?? found?.hostname ?? place.host;
  const refused = { host, port: found?.port ?? place.port };
  throw createUsageError(cannot.flag, `is ${refused[cannot.flag]}, ${cannot.problem}`);
}
