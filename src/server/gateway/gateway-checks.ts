/** Checks of the options of `createGateway`, but for those that are read with a check. */
import { invalidArgument } from '../../correctable/errors.ts';
import { checkFunction, checkLogger, hasMethods, isName, isRecord } from './given.ts';

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
export function checkGatewayOptions(given: Given): void {
  const { binding, site, contract, logger } = given;
  if (!hasMethods(binding, 'consistencyLevels', 'submitOperation', 'supports')) {
    throw invalidArgument('binding', 'give the binding to host, for example memory(), or a site of createEmbedded');
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
