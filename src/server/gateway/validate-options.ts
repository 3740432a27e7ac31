/** Checks of the options of gateways, but for those that are read with a check. */
import { CorrectableError, createInvalidArgumentError } from '../../correctable/errors.ts';
import { checkOptionNames, hasMethods, isBinding, isNonEmptyString, isRecord } from '../../correctable/validate.ts';
import type { Binding } from '../../correctable/binding.ts';
import { MAX_NAME_LENGTH } from '../../protocol/messages/field-schemas.ts';
import { MAX_LEVELS } from '../../protocol/messages/level-bits.ts';
import { ignoreRejection } from './operations/call-hook.ts';

/** @throws CorrectableError `INVALID_ARGUMENT` for what is neither a function nor left out */
export function checkFunction(field: string, value: unknown): void {
  if (value !== undefined && typeof value !== 'function')
    throw createInvalidArgumentError(field, 'must be a function, or none');
}

/** @throws CorrectableError `INVALID_ARGUMENT` for what is neither a logger nor left out */
export function checkLogger(value: unknown): void {
  if (value === undefined || hasMethods(value, 'debug', 'info', 'warn', 'error')) return;
  throw createInvalidArgumentError(
    'logger',
    'must have debug, info, warn and error, as one of pino has, or be left out',
  );
}

/**
 * Returns the levels of a hosted binding, which rows name by index. Throws `INVALID_ARGUMENT` if a client could not be sent
 * them.
 */
export function getHostedLevels(binding: Binding): readonly string[] {
  const value: unknown = binding.consistencyLevels();
  ignoreRejection(value);
  const isFit =
    Array.isArray(value) &&
    value.length > 0 &&
    value.length <= MAX_LEVELS &&
    value.every(isLevel) &&
    new Set(value).size === value.length;
  if (isFit) return [...value];
  const message = `binding: consistencyLevels must give 1 to ${MAX_LEVELS} distinct names, weakest first`;
  throw new CorrectableError('INVALID_ARGUMENT', message, { field: 'binding' });
}

function isLevel(level: unknown): level is string {
  return typeof level === 'string' && level !== '' && level.length <= MAX_NAME_LENGTH;
}

const CALL = 'createGateway({ binding: memory() })';

type GatewayInput = Partial<Record<'binding' | 'site' | 'contract' | 'authenticate' | 'authorize' | 'logger', unknown>>;

/** @throws CorrectableError `INVALID_ARGUMENT` naming the option that does not fit */
export function checkGatewayOptions(value: GatewayInput, names: Readonly<Record<string, true>>): void {
  // Before its methods are reported as no options.
  if (isBinding(value)) throw createInvalidArgumentError('binding', `is an option: write ${CALL}`);
  checkOptionNames(value, { call: CALL }, names);
  const { binding, site, contract, logger } = value;
  if (!isBinding(binding)) {
    throw createInvalidArgumentError('binding', `give the binding to host, as ${CALL}, or a site of createEmbedded`);
  }
  if (site !== undefined && !isNonEmptyString(site))
    throw createInvalidArgumentError('site', 'must be the name of the site, or none');
  if (contract !== undefined && !isContract(contract)) {
    throw createInvalidArgumentError('contract', 'must be one made by defineContract, or none');
  }
  for (const field of ['authenticate', 'authorize'] as const) checkFunction(field, value[field]);
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
