/** Decides which requests are refused, with a warning. The client does not get the reason. */
import type { IncomingMessage } from 'node:http';
import type { Logger } from '../context/logger.ts';
import { isAllowedHost, isAllowedOrigin } from '../context/origins.ts';
import type { ServerLocation } from './listening-address.ts';

/**
 * The maximum number of different values that are logged for each header. Clients choose these
 * values, and must not be able to fill the log.
 */
const MAX_VALUES_PER_FIELD = 20;
const MAX_VALUE_LENGTH = 200;

export class RequestGuard {
  readonly #location: ServerLocation;
  readonly #logger: Logger;
  readonly #logged: Record<'host' | 'origin' | 'path', Set<string>> = {
    host: new Set(),
    origin: new Set(),
    path: new Set(),
  };

  constructor(location: ServerLocation, logger: Logger) {
    this.#location = location;
    this.#logger = logger;
  }

  /**
   * Returns why a request is refused with 403. Returns `undefined` if its `Origin` and its `Host`
   * are allowed.
   */
  findProblem(
    { headers: { host, origin } }: IncomingMessage,
    origins: readonly string[],
  ): string | undefined {
    if (this.#location.isExposed)
      return 'this server lets everybody in, and is reachable by others';
    if (!isAllowedHost(host, this.#location.boundTo)) {
      this.#warn(
        'host',
        host,
        'refused a request, because a server on loopback accepts only loopback names as Host',
      );
      return 'this server is not called so';
    }
    if (isAllowedOrigin(origin, host, origins)) return undefined;
    this.#warn('origin', origin, 'refused a page, because its origin is not in `origins`');
    return 'the origin is not listed';
  }

  /** Reports a websocket to a path that is not one of `paths`. */
  reportUnknownPath(path: string, paths: Iterable<string>): void {
    this.#warn(
      'path',
      path,
      `refused a websocket, because its path is no site. Sites: ${[...paths].join(', ')}`,
    );
  }

  #warn(field: 'host' | 'origin' | 'path', value = '', message: string): void {
    const shown = value.slice(0, MAX_VALUE_LENGTH);
    const logged = this.#logged[field];
    if (logged.has(shown) || logged.size >= MAX_VALUES_PER_FIELD) return;
    logged.add(shown);
    this.#logger.warn({ [field]: shown }, message);
  }
}
