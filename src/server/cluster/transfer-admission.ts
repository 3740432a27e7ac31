/** Which sites a node sends its state. */
import type { Origin, Origins } from '../records/origin.ts';
import type { TransferRefusal } from './state-transfers.ts';

/** A transfer that a node is asked for. */
interface RequestedTransfer {
  readonly donor: string;
  /** The receiver, and the identity of its data directory. */
  readonly site: string;
  readonly directory: string;
}

/** Returns why a site is not sent the state. `origins` is `undefined` if the donor is not running. */
export function findRefusal(
  origins: Origins | undefined,
  { donor, site, directory }: RequestedTransfer,
): TransferRefusal | undefined {
  const isOwn = (item: Origin): boolean => (origins?.get(item).directory ?? directory) === directory;
  const origin = origins?.find(site);
  if (origin !== undefined && isOwn(origin)) return undefined;
  const isClosed = origins?.closed.some((item) => {
    const { site: name, state } = origins.get(item);
    return name === site && state === 'closed' && isOwn(item);
  });
  if (isClosed !== true) return { reason: `${donor} does not know this data directory of ${site} yet` };
  const cause = origin === undefined ? 'it was retired' : 'it was rebuilt on another data directory';
  return { reason: `${site} was closed: ${cause}`, isClosed };
}
