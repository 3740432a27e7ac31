/** The options of a gateway. */
import type { Binding } from '../../correctable/binding.ts';
import { check } from '../../correctable/errors.ts';
import type { Levels } from '../../correctable/level-types.ts';
import {
  callback,
  matches,
  nested,
  objectWith,
  optional,
  readOptions,
  required,
  text,
  type OptionsOf,
  type ResolvedOptions,
} from '../../correctable/options.ts';
import { isBinding, isNonEmptyString, isRecord } from '../../correctable/validate.ts';
import type { OperationRegistry } from '../../contract/operation-registry.ts';
import type { Authenticate, Authorize } from './context/gateway-context.ts';
import { silentLogger, type Logger } from './context/logger.ts';
import { describeOriginsError } from './context/origins.ts';
import { GATEWAY_LIMITS, type GatewayLimits } from './limits/limits.ts';

/** Options of `createGateway`. */
export interface GatewayOptions<L extends Levels = Levels> {
  /** The binding to host. You close it: the gateway does not. */
  readonly binding: Binding<L>;
  /** Name of the site, if the store has several. Clients send it with a retry at another site. */
  readonly site?: string | undefined;
  /**
   * The operations that clients may use, with schemas for their arguments. Default: all that the
   * binding supports
   */
  readonly contract?: OperationRegistry | undefined;
  /**
   * Origins of pages that may connect, such as `https://shop.example`, besides pages of the same
   * loopback server. Default: none
   */
  readonly origins?: readonly string[] | undefined;
  /** Verifies the token of a client. Default: all clients are the same principal */
  readonly authenticate?: Authenticate | undefined;
  /** Decides whether a principal may execute an operation. Default: always */
  readonly authorize?: Authorize | undefined;
  /** Limits of the gateway, see `GatewayLimits`. */
  readonly limits?: Partial<GatewayLimits> | undefined;
  /** Receives log messages. Default: none are logged */
  readonly logger?: Logger | undefined;
}

const CALL = 'createGateway({ binding: memory() })';

export const loggerOption = optional<Logger>(
  objectWith(['debug', 'info', 'warn', 'error'], 'one of pino'),
  silentLogger,
);

export const GATEWAY_OPTIONS = {
  binding: required(
    matches(isBinding, `give the binding to host, as ${CALL}, or a site of createEmbedded`),
  ),
  site: optional(text),
  contract: optional(matches(isContract, 'must be a contract, made by defineContract')),
  origins: optional<readonly string[]>(describeOriginsError, []),
  authenticate: optional(callback),
  authorize: optional(callback),
  limits: optional(nested('{ limits: { maxConnections: 1000 } }', GATEWAY_LIMITS)),
  logger: loggerOption,
} satisfies OptionsOf<GatewayOptions>;

/** @throws CorrectableError `INVALID_ARGUMENT` naming the option that does not fit */
export function readGatewayOptions(
  options: GatewayOptions,
): ResolvedOptions<GatewayOptions, typeof GATEWAY_OPTIONS> {
  // A common mistake is to pass the binding itself: its methods must not be reported as unknown
  // options.
  check(!isBinding(options), 'binding', `is an option: write ${CALL}`);
  return readOptions(options, { call: CALL }, GATEWAY_OPTIONS);
}

function isContract(value: unknown): boolean {
  return (
    isRecord(value) &&
    isNonEmptyString(value['name']) &&
    isNonEmptyString(value['hash']) &&
    isRecord(value['operations'])
  );
}
