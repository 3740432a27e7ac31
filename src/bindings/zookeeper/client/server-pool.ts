/** The servers of an ensemble, and which one to try next. */
import { formatAddress, parseAddress, type ServerAddress } from '../../shared/server-address.ts';
import { ZooKeeperError } from './errors.ts';

const DEFAULT_PORT = 2181;

export interface ConnectString {
  readonly servers: readonly ServerAddress[];
  /** The subtree that the client is confined to. `/` is the whole tree. */
  readonly chroot: string;
}

/**
 * Parses `host:port,host:port/chroot`, IPv6 in brackets. Throws `BAD_ARGUMENTS` that names the
 * wrong part.
 */
export function parseConnectString(text: string): ConnectString {
  if (typeof text !== 'string') {
    throw new ZooKeeperError('BAD_ARGUMENTS', {
      hint: "servers: give a text, as new ZooKeeper('127.0.0.1:2181')",
    });
  }
  const slash = text.indexOf('/');
  const hosts = slash < 0 ? text : text.slice(0, slash);
  return {
    servers: hosts.split(',').map((part) => parseServer(part.trim())),
    chroot: slash < 0 || slash === text.length - 1 ? '/' : text.slice(slash),
  };
}

function parseServer(text: string): ServerAddress {
  const address = parseAddress(text, DEFAULT_PORT);
  if (address !== undefined) return address;
  throw new ZooKeeperError('BAD_ARGUMENTS', {
    hint: `servers: give host:port or [::1]:port, not "${text}"`,
  });
}

/** Tries the servers in turn. Every round begins with the preferred one, if there is one. */
export class ServerPool {
  readonly #servers: readonly ServerAddress[];
  #preferred: string | undefined;
  #next = 0;
  #triedInRound = new Set<string>();

  constructor(servers: readonly ServerAddress[]) {
    this.#servers = servers;
  }

  get size(): number {
    return this.#servers.length;
  }

  /** Prefers `server` from now on. It may be a server that is not in the pool. */
  preferServer(server: string | undefined): void {
    this.#preferred = server;
    this.#triedInRound.clear();
  }

  /**
   * Returns the next server to try. `isNewRound` is true when all have been tried since the last
   * success.
   */
  getNext(): { readonly server: ServerAddress; readonly isNewRound: boolean } {
    const candidates = this.#getCandidates();
    const isNewRound = candidates.every((item) => this.#triedInRound.has(formatAddress(item)));
    if (isNewRound) this.#triedInRound.clear();
    const server = candidates.find(
      (item) => !this.#triedInRound.has(formatAddress(item)),
    ) as ServerAddress;
    this.#triedInRound.add(formatAddress(server));
    return { server, isNewRound };
  }

  /** Notes a successful connection. The next round begins after this server. */
  recordSuccess(server: string): void {
    this.#triedInRound.clear();
    const at = this.#servers.findIndex((item) => formatAddress(item) === server);
    this.#next = at + 1;
  }

  #getCandidates(): readonly ServerAddress[] {
    const turned = this.#servers.map(
      (_, n) => this.#servers[(n + this.#next) % this.#servers.length] as ServerAddress,
    );
    if (this.#preferred === undefined) return turned;
    const preferred = this.#preferred;
    return [parseServer(preferred), ...turned.filter((item) => formatAddress(item) !== preferred)];
  }
}
