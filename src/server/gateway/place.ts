/** Where a server listens: who can reach it there, and what it is called. */
import type { Server } from 'node:http';
import { CorrectableError } from '../../correctable/errors.ts';
import { isLoopbackHost } from './origins.ts';

/** Where a server really listens, whoever made it listen there. Asked each time: it may go elsewhere. */
export class Place {
  readonly #server: Server;
  /** The sites that let everybody in, unless that is meant to be so. */
  readonly #open: readonly string[];

  constructor(server: Server, open: readonly string[]) {
    this.#server = server;
    this.#open = open;
  }

  /** The address; `undefined` for a socket in the file system, or while it does not listen. */
  get boundTo(): string | undefined {
    const address = this.#server.address();
    return typeof address === 'object' ? address?.address : undefined;
  }

  /** Whether somebody elsewhere could reach a site that lets everybody in. */
  get isExposed(): boolean {
    return this.#open.length > 0 && this.boundTo !== undefined && !isLoopbackHost(this.boundTo);
  }

  /** Throws `INVALID_ARGUMENT`, which names `field`, where it would be exposed at `host`. */
  check(host: string, field: string): void {
    if (this.#open.length === 0 || isLoopbackHost(host)) return;
    const message = `${field}: ${host} is reachable by others, and ${this.#open.join(', ')} lets everybody in: give the gateway authenticate, or allowUnauthenticated here`;
    throw new CorrectableError('INVALID_ARGUMENT', message, { field });
  }

  /** Addresses on this server by scheme, for example `ws`; `host` is what it was asked to listen on, if it was. */
  base(scheme: string, host: string | undefined): string {
    const address = this.#server.address();
    // As the package `ws` has it: the path on the server follows after a colon.
    if (typeof address === 'string' || address === null) return `${scheme}+unix:${address ?? ''}:`;
    const name = host ?? address.address;
    return `${scheme}://${name.includes(':') ? `[${name}]` : name}:${address.port}`;
  }
}
