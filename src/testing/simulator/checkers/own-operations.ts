/** Operations that sites make themselves: no client has asked for them, and no generator has made them. */
import type { AnyOperation } from './checker.ts';
import { isFloor } from './floors.ts';

/** Of transfers of rights, by their shadow operation's name. */
const TRANSFER = '\u0000rights';

export function isTransfer({ shadow }: AnyOperation): boolean {
  return shadow === TRANSFER;
}

export function isOfSite(operation: AnyOperation): boolean {
  return isFloor(operation) || isTransfer(operation);
}
