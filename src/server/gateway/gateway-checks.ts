/** Checks of the options of `createGateway`, but for those that are read with a check. */
import { invalidArgument } from '../../correctable/errors.ts';
import { checkNamed, isBinding, isName, isRecord } from '../../correctable/given.ts';
import { checkFunction, checkLogger } from './limits/given.ts';

const CALL = 'createGateway({ binding: memory() })';

/** What may have been given. */
interface Given {
  readonly binding?: unknown;
  readonly site?: unknown;
  readonly contract?: unknown;
  readonly authenticate?: unknown;
  readonly authorise?: unknown;
  readonly logger?: unknown;
}

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
