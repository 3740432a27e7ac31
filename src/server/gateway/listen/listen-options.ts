/** The options of a port for gateways. */
import type { RequestListener, Server } from 'node:http';
import { check } from '../../../correctable/errors.ts';
import {
  anyValue,
  callback,
  integer,
  matches,
  objectWith,
  optional,
  readOptions,
  required,
  trueOrFalse,
  type OptionsOf,
  type ResolvedOptions,
} from '../../../correctable/options.ts';
import { hasMethods, isNonEmptyString, isRecord } from '../../../correctable/validate.ts';
import type { Logger } from '../context/logger.ts';
import type { Gateway } from '../gateway.ts';
import { loggerOption } from '../gateway-options.ts';
import type { SiteAddress } from './http-handler.ts';
import { HTTP_PATHS } from './http-paths.ts';
import { operatorTokenOption, type OperatorToken } from './operator-token.ts';
import type { StoreMetric } from './store-metric.ts';

const SITE_NAME = /^[\w-]+$/;
const MAX_PORT = 65_535;

const CALL = 'listenGateways({ sites: { ireland: createGateway({ binding }) } })';

/** Options of `listenGateways`. */
export interface ListenOptions {
  /** One gateway for each site. The name is the path: `ireland` is served at `/ireland`. */
  readonly sites: Readonly<Record<string, Gateway>>;
  /** Address to listen on. Default: `127.0.0.1`, which only this machine can reach */
  readonly host?: string | undefined;
  /** Port to listen on. Default: 0, any free port */
  readonly port?: number | undefined;
  /**
   * Listens on addresses that others can reach even if a gateway has no `authenticate`. Default:
   * `false`
   */
  readonly allowUnauthenticated?: boolean | undefined;
  /**
   * Opens `/metrics` and the details of `/health` to requests with this token (`Authorization:
   * Bearer …`), at least 16 characters of ASCII, and to no others. A function returns it for each
   * request, so that it can be replaced; the `logger` gets its error if it cannot. Default: they
   * are open if no gateway has `authenticate`, and closed otherwise
   */
  readonly operatorToken?: OperatorToken | undefined;
  /** Metrics of the stores behind the gateways, for `/metrics`. */
  readonly metrics?: readonly StoreMetric[] | undefined;
  /**
   * Returns the sites that `/sites` lists, so that clients can move there. Sites of other processes
   * are included. Default: the sites of this listener
   */
  readonly siteAddresses?: (() => readonly SiteAddress[]) | undefined;
  /**
   * Handles the HTTP requests for other paths, for example with a page. Not with `server`. Default:
   * 404
   */
  readonly page?: RequestListener | undefined;
  /**
   * Your own server of `node:http` or `node:https`. It is started if it does not listen yet, and
   * never closed. Its own address is used, not `host`. Its other `upgrade` listeners, if any,
   * handle upgrades to a path that is no site.
   */
  readonly server?: Server | undefined;
  /** Receives warnings about refused requests, and errors of `page`. Default: none are logged */
  readonly logger?: Logger | undefined;
}

export const LISTEN_OPTIONS = {
  sites: required(describeSitesError),
  host: optional(
    matches(
      isHost,
      'must be an address or a name without a port, for example 127.0.0.1; 0.0.0.0 stands for all',
    ),
    '127.0.0.1',
  ),
  port: optional(integer({ min: 0, max: MAX_PORT }), 0),
  allowUnauthenticated: optional(trueOrFalse, false),
  operatorToken: operatorTokenOption,
  metrics: optional(anyValue),
  siteAddresses: optional(callback),
  page: optional(callback),
  server: optional(
    objectWith(['on', 'listeners', 'listen', 'address'], 'a server of node:http or node:https'),
  ),
  logger: loggerOption,
} satisfies OptionsOf<ListenOptions>;

/** @throws CorrectableError `INVALID_ARGUMENT` naming the option that does not fit */
export function readListenOptions(
  options: ListenOptions,
): ResolvedOptions<ListenOptions, typeof LISTEN_OPTIONS> {
  check(!isGateway(options), 'sites', `is an option: write ${CALL}`);
  const resolved = readOptions(options, { call: CALL }, LISTEN_OPTIONS);
  const isAsked = resolved.page === undefined || resolved.server === undefined;
  check(
    isAsked,
    'page',
    'is not asked with a server of your own: answer in its own request listener',
  );
  return resolved;
}

/** A host is neither a URL nor has a port. */
function isHost(value: unknown): boolean {
  return isNonEmptyString(value) && !/[\s/]|^[^:]*:\d*$|\]:/.test(value);
}

function describeSitesError(sites: unknown): string | undefined {
  if (!isRecord(sites) || Object.keys(sites).length === 0) return `name at least one, as ${CALL}`;
  for (const [name, gateway] of Object.entries(sites)) {
    const rule = `use letters, digits, - and _, and none of ${HTTP_PATHS.join(', ')}`;
    if (!SITE_NAME.test(name) || HTTP_PATHS.includes(name))
      return `"${name}" cannot be a path; ${rule}`;
    checkGateway(gateway, `sites.${name}`);
  }
  return undefined;
}

function checkGateway(gateway: unknown, field: string): void {
  check(isGateway(gateway), field, 'must be a gateway, made by createGateway');
  const { state } = gateway.status();
  const isOpen = state === 'serving' || state === 'waiting';
  check(isOpen, field, `is ${state} and accepts no clients: create another gateway`);
}

function isGateway(value: unknown): value is Gateway {
  return hasMethods(value, 'accept', 'status');
}
