/** Where sites are: as the cluster file has it, or as they have joined. */
import type { Origins, SiteAddress } from '../records/origin.ts';
import { parseAddress, type ClusterAddress, type ClusterFile } from './cluster-file.ts';

/** The addresses for clients, by name. */
export function listClientAddresses(
  names: readonly string[],
  file: ClusterFile,
  origins: Origins,
): Map<string, string> {
  return new Map(names.map((name) => [name, file.sites.get(name)?.url ?? findJoined(name, origins)?.url ?? '']));
}

/** Calls back with the address for links of each site that there has been, and whether it is a member. */
export function forEachLinkAddress(
  file: ClusterFile,
  origins: Origins,
  onAddress: (name: string, address: ClusterAddress, isMember: boolean) => void,
): void {
  for (const name of new Set(origins.sites.map((origin) => origins.getName(origin)))) {
    const joined = findJoined(name, origins)?.cluster;
    const address = file.sites.get(name)?.cluster ?? (joined === undefined ? undefined : parseAddress(name, joined));
    if (address !== undefined) onAddress(name, address, origins.find(name) !== undefined);
  }
}

/** The address with which a site has joined. */
function findJoined(name: string, origins: Origins): SiteAddress | undefined {
  const origin = origins.sites.findLast((item) => origins.getName(item) === name);
  return origin === undefined ? undefined : origins.get(origin).address;
}
