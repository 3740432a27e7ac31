/** What a deployment is called in the messages between its sites. */
import { createHmac } from 'node:crypto';

const HASH_LABEL = 'correctables deployment';
const NAME_LENGTH = 16;

/**
 * Tells deployments apart, whatever machines they run on: the same wherever one has its cluster key and its service, and
 * over restarts with its data directory. It says nothing of the key.
 */
export function hashDeploymentName(key: string | Uint8Array, service: string): string {
  const name = createHmac('sha256', key).update(JSON.stringify([HASH_LABEL, service]));
  return `${service}#${name.digest('hex').slice(0, NAME_LENGTH)}`;
}
