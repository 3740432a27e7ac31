/** Opens a node of a cluster in this process. */
import { ClusterNode, type ClusterNodeEvents } from './cluster-node.ts';
import type { ClusterNodeOptions } from './cluster-options.ts';
import type { Service } from './service/service.ts';

/**
 * Opens the one site of a cluster that this process is, and starts it. On an empty directory it first waits until every
 * other site has answered that it does not know this one.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` with the name of the invalid option, or what is wrong with the cluster file,
 * the key file or the directory.
 * @throws CorrectableError `UNAVAILABLE` if another process uses the directory, its data is unreadable, or the directory is
 * empty and another site knows this site.
 */
export async function openClusterNode(
  service: Service,
  options: ClusterNodeOptions,
  events: ClusterNodeEvents = {},
): Promise<ClusterNode> {
  const node = new ClusterNode(service, options, events);
  try {
    await node.open();
    return node;
  } catch (error) {
    await node.close();
    throw error;
  }
}
