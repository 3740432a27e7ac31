/** Which sites a node sends its state. */
import type { Origins } from '../records/origin.ts';
import type { TransferRefusal } from './state-transfers.ts';

/** A transfer that a node is asked for. */
interface RequestedTransfer {
  readonly donor: string;
  /** The receiver, and the identity of its data directory. */
  readonly site: string;
  readonly directory: string;
}

/** Returns why a site is not sent the state. `origins` are those that the donor knows; `undefined` if it is not running. */
export function findRefusal(
  origins: Origins | undefined,
  { donor, site, directory }: RequestedTransfer,
): TransferRefusal | undefined {
  const origin = origins?.find(site);
  const isOf = (known: { readonly directory?: string | undefined }): boolean =>
    (known.directory ?? directory) === directory;
  if (origin !== undefined && origins !== undefined && isOf(origins.get(origin))) return undefined;
  const closed = origins?.sites.map((item) => origins.get(item)).filter((known) => known.site === site && isOf(known));
  if (closed?.some(({ state }) => state === 'closed') !== true)
    return { reason: `${donor} does not know this data directory of ${site} yet` };
  const cause = origin === undefined ? 'it was retired' : 'it was rebuilt on another data directory';
  return { reason: `${site} was closed: ${cause}`, isClosed: true };
}
