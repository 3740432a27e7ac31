/** Checks of the options of gateways, but for those that are read with a check. */
import { CorrectableError, invalidArgument } from '../../correctable/errors.ts';
import { checkNamed, hasMethods, isBinding, isName, isRecord } from '../../correctable/given.ts';
import type { Binding } from '../../correctable/binding.ts';
import { NAME_LENGTH_MAX } from '../../protocol/rows/elements.ts';
import { LEVELS_MAX } from '../../protocol/rows/levels.ts';
import { absorb } from './submission/hooks.ts';

/** @throws CorrectableError `INVALID_ARGUMENT` for what is neither a function nor left out */
export function checkFunction(field: string, given: unknown): void {
  if (given !== undefined && typeof given !== 'function') throw invalidArgument(field, 'must be a function, or none');
}

/** @throws CorrectableError `INVALID_ARGUMENT` for what is neither a logger nor left out */
export function checkLogger(given: unknown): void {
  if (given === undefined || hasMethods(given, 'debug', 'info', 'warn', 'error')) return;
  throw invalidArgument('logger', 'must have debug, info, warn and error, as one of pino has, or be left out');
}

/**
 * Returns the levels of a hosted binding, which rows name by index. Throws `INVALID_ARGUMENT` if a client could not be sent
 * them.
 */
export function levelsOf(binding: Binding): readonly string[] {
  const given: unknown = binding.consistencyLevels();
  absorb(given);
  const isFit =
    Array.isArray(given) &&
    given.length > 0 &&
    given.length <= LEVELS_MAX &&
    given.every(isLevel) &&
    new Set(given).size === given.length;
  if (isFit) return [...given];
  const message = `binding: consistencyLevels must give 1 to ${LEVELS_MAX} distinct names, weakest first`;
  throw new CorrectableError('INVALID_ARGUMENT', message, { field: 'binding' });
}

function isLevel(level: unknown): level is string {
  return typeof level === 'string' && level !== '' && level.length <= NAME_LENGTH_MAX;
}

const CALL = 'createGateway({ binding: memory() })';

type Given = Partial<Record<'binding' | 'site' | 'contract' | 'authenticate' | 'authorise' | 'logger', unknown>>;

/** @throws CorrectableError `INVALID_ARGUMENT` naming the option that does not fit */
export function checkGatewayOptions(given: Given, names: Readonly<Record<string, true>>): void {
  // Before its methods are told to be no options.
  if (isBinding(given)) throw invalidArgument('binding', `is an option: write ${CALL}`);
  checkNamed(given, { call: CALL }, names);
  const { binding, site, contract, logger } = given;
  if (!isBinding(binding)) {
    throw invalidArgument('binding', `give the binding to host, as ${CALL}, or a site of createEmbedded`);
  }
  if (site !== undefined && !isName(site)) throw invalidArgument('site', 'must be the name of the site, or none');
  if (contract !== undefined && !isContract(contract)) {
    throw invalidArgument('contract', 'must be one made by defineContract, or none');
  }
  for (const field of ['authenticate', 'authorise'] as const) checkFunction(field, given[field]);
  checkLogger(logger);
}

function isContract(given: unknown): boolean {
  return isRecord(given) && isName(given['name']) && isName(given['hash']) && isRecord(given['operations']);
}
