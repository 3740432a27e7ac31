/** A service with other colours, for whoever looks for those that it needs. */
import { checkGiven, colouring } from './colours.ts';
import { requireService } from './require-service.ts';
import type { Service } from './service.ts';
import type { Colours } from './shadow-operation.ts';

const CALL = "recoloured(service, { withdraw: 'red' })";

/**
 * The same service with other colours of some of its shadow operations, whoever said theirs. An operation that its contract
 * declares red, or `alwaysRed` names, stays red whichever it chooses; one that it declares blue fails where it chooses
 * what is red now.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` for what is no service, and naming a colour that fits no shadow operation
 * @example
 * checkService(recoloured(bankService, { withdraw: 'blue' }), { draw }); // does it have to be red?
 */
export function recoloured<S extends Service>(service: S, colours: Colours): S {
  requireService(service, CALL);
  const { contract, shadowOperations, tables } = service;
  checkGiven(shadowOperations, colours);
  return { ...service, ...colouring(contract, shadowOperations, { ...service.colours, ...colours }, tables) };
}
