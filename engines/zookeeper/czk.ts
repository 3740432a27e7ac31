/** The jar with preliminary replies (`research/zookeeper-czk`). */
import { fileURLToPath } from 'node:url';
import { builtJar } from '../built-jar.ts';

/** The main class of a server with preliminary replies. */
export const CZK_MAIN = 'org.apache.zookeeper.server.quorum.CzkMain';

/**
 * The path of the jar.
 *
 * @throws EngineUnavailable where Maven or a JDK is missing, or the build fails
 */
export function czkJar(progress: (text: string) => void): Promise<string> {
  const folder = fileURLToPath(new URL('../../research/zookeeper-czk/', import.meta.url));
  return builtJar({ folder, jar: 'zookeeper-czk.jar' }, progress);
}
