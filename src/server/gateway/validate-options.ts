/** Checks the options of gateways that have no other check. */
import { check } from '../../correctable/errors.ts';
import {
  checkOptionNames,
  checkOptionTypes,
  hasMethods,
  isBinding,
  isNonEmptyString,
  isRecord,
} from '../../correctable/validate.ts';
import type { Binding } from '../../correctable/binding.ts';
import { MAX_NAME_LENGTH } from '../../protocol/messages/field-schemas.ts';
import { MAX_LEVELS } from '../../protocol/messages/level-bits.ts';
import { ignoreRejection } from './operations/call-hook.ts';

/**
 * @throws CorrectableError `INVALID_ARGUMENT` for what is neither a logger nor
 * left out
 */
export function checkLogger(value: unknown): void {
  const isLogger =
    value === undefined || hasMethods(value, 'debug', 'info', 'warn', 'error');
  check(
    isLogger,
    'logger',
    'must have debug, info, warn and error, as one of pino has, or be left out',
  );
}

/**
 * Returns the levels of a hosted binding. Messages name them by index. Throws
 * `INVALID_ARGUMENT` for invalid names.
 */
export function getHostedLevels(binding: Binding): readonly string[] {
  const value: unknown = binding.consistencyLevels();
  ignoreRejection(value);
  const isFit =
    Array.isArray(value) &&
    value.length > 0 &&
    value.length <= MAX_LEVELS &&
    value.every(
      (level) => isNonEmptyString(level) && level.length <= MAX_NAME_LENGTH,
    ) &&
    new Set(value).size === value.length;
  check(
    isFit,
    'binding',
    `consistencyLevels must give 1 to ${MAX_LEVELS} distinct names, weakest first`,
  );
  return [...value];
}

const CALL = 'createGateway({ binding: memory() })';

type GatewayInput = Partial<
  Record<
    'binding' | 'site' | 'contract' | 'authenticate' | 'authorize' | 'logger',
    unknown
  >
>;

/**
 * @throws CorrectableError `INVALID_ARGUMENT` naming the option that does not
 * fit
 */
export function checkGatewayOptions(
  value: GatewayInput,
  names: Readonly<Record<string, true>>,
): void {
  // A common mistake is to pass the binding itself: its methods must not be
  // reported as unknown options.
  check(!isBinding(value), 'binding', `is an option: write ${CALL}`);
  checkOptionNames(value, { call: CALL }, names);
  const { binding, site, contract, logger } = value;
  check(
    isBinding(binding),
    'binding',
    `give the binding to host, as ${CALL}, or a site of createEmbedded`,
  );
  check(
    site === undefined || isNonEmptyString(site),
    'site',
    'must be the name of the site, or none',
  );
  check(
    contract === undefined || isContract(contract),
    'contract',
    'must be one made by defineContract, or none',
  );
  checkOptionTypes(value, 'function', 'authenticate', 'authorize');
  checkLogger(logger);
}

function isContract(value: unknown): boolean {
  return (
    isRecord(value) &&
    isNonEmptyString(value['name']) &&
    isNonEmptyString(value['hash']) &&
    isRecord(value['operations'])
  );
}
