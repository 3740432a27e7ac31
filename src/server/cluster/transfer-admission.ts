/** Which sites a node sends its state. */
import type { Origins } from '../records/origin.ts';
import type { TransferIdentity, TransferRefusal } from './state-transfers.ts';

/** A transfer that a node is asked for, by which receiver. */
interface RequestedTransfer extends TransferIdentity {
  readonly donor: string;
  readonly site: string;
}

/**
 * Returns why a site is not sent the state. `origins` is `undefined` if the donor is not running. What the donor knows of
 * other origins of that site says nothing: it may not have heard yet that the site was rebuilt, or has joined again.
 */
export function findRefusal(
  origins: Origins | undefined,
  { donor, site, directory, origin }: RequestedTransfer,
): TransferRefusal | undefined {
  const known = origins?.isSite(origin) === true ? origins.get(origin) : undefined;
  // The directories of the first sites are in no table.
  const isKnown = known?.site === site && (known.directory ?? directory) === directory;
  if (!isKnown || known.state === 'closing')
    return { reason: `${donor} does not know this data directory of ${site} yet` };
  if (known.state !== 'closed') return undefined;
  const isRebuilt = origins?.find(site) !== undefined;
  const cause = isRebuilt ? 'it was rebuilt on another data directory' : 'it was retired';
  return { reason: `${site} was closed: ${cause}`, isClosed: true };
}
