/** What a deployment is called in the messages between its sites. */
import { createHmac } from 'node:crypto';

const HASH_LABEL = 'correctables deployment';
const NAME_LENGTH = 16;

/**
 * Names a deployment, on any machine and at any start, by its key and service. The name does not
 * reveal the key.
 */
export function hashDeploymentName(key: string | Uint8Array, service: string): string {
  const name = createHmac('sha256', key).update(JSON.stringify([HASH_LABEL, service]));
  return `${service}#${name.digest('hex').slice(0, NAME_LENGTH)}`;
}
