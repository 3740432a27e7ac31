/** Checks of the options of `listenGateways`. */
import { invalidArgument } from '../../../correctable/errors.ts';
import { checkKinds, checkNamed, hasMethods, isName, isRecord } from '../../../correctable/given.ts';
import { checkFunction, checkLogger } from '../limits/given.ts';
import type { Gateway } from '../gateway.ts';
import { HTTP_PATHS } from './http.ts';

const SITE_NAME = /^[\w-]+$/;
const PORT_MAX = 65_535;

const CALL = 'listenGateways({ sites: { irl: createGateway({ binding }) } })';

/** What may have been given. */
interface Given {
  readonly sites?: unknown;
  readonly host?: unknown;
  readonly port?: unknown;
  readonly page?: unknown;
  readonly server?: unknown;
  readonly logger?: unknown;
}

/** @throws CorrectableError `INVALID_ARGUMENT` naming the option that does not fit */
export function checkListenOptions(given: Given, names: Readonly<Record<string, true>>): void {
  if (isGateway(given)) throw invalidArgument('sites', `is an option: write ${CALL}`);
  checkNamed(given, { call: CALL }, names);
  const { sites, host, port, page, server, logger } = given;
  checkSites(sites);
  checkKinds(given, 'boolean', 'allowUnauthenticated');
  if (host !== undefined && !isName(host)) {
    throw invalidArgument('host', 'must be an address or a name, for example 127.0.0.1; 0.0.0.0 stands for all');
  }
  if (port !== undefined && !isPort(port)) {
    throw invalidArgument('port', `must be a whole number from 0, any free one, to ${PORT_MAX}, not ${String(port)}`);
  }
  checkFunction('page', page);
  if (server !== undefined && !hasMethods(server, 'on', 'listeners', 'listen', 'address')) {
    throw invalidArgument('server', 'must be a server of node:http or node:https, or none');
  }
  if (page !== undefined && server !== undefined) {
    throw invalidArgument('page', 'is not asked with a server of your own: answer in its own request listener');
  }
  checkLogger(logger);
}

function checkSites(sites: unknown): void {
  if (!isRecord(sites) || Object.keys(sites).length === 0) {
    throw invalidArgument('sites', `name at least one, as ${CALL}`);
  }
  for (const [name, gateway] of Object.entries(sites)) {
    if (!SITE_NAME.test(name) || HTTP_PATHS.includes(name)) {
      const paths = HTTP_PATHS.join(', ');
      throw invalidArgument('sites', `"${name}" cannot be a path; use letters, digits, - and _, and none of ${paths}`);
    }
    checkGateway(`sites.${name}`, gateway);
  }
}

function checkGateway(field: string, gateway: unknown): void {
  if (!isGateway(gateway)) throw invalidArgument(field, 'must be a gateway, made by createGateway');
  const { state } = gateway.status();
  if (state !== 'serving') throw invalidArgument(field, `is ${state}, and lets nobody in: make another gateway`);
}

function isGateway(given: unknown): given is Gateway {
  return hasMethods(given, 'accept', 'status');
}

function isPort(given: unknown): boolean {
  return typeof given === 'number' && Number.isInteger(given) && given >= 0 && given <= PORT_MAX;
}
