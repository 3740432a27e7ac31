/** The jar with preliminary views (`research/cassandra-icg`). */
import { fileURLToPath } from 'node:url';
import { builtJar } from '../built-jar.ts';
import type { NodeOptions } from './config.ts';

const FOLDER = fileURLToPath(new URL('../../research/cassandra-icg/', import.meta.url));

/** The class that a node with preliminary views starts with. */
const QUERY_HANDLER = 'org.correctables.cassandra.CorrectableQueryHandler';

/** @throws EngineUnavailable where Maven or a JDK is missing, or the build fails */
export async function buildPlugin(
  progress: (text: string) => void,
): Promise<NodeOptions['plugin']> {
  return {
    jar: await builtJar({ folder: FOLDER, jar: 'cassandra-icg.jar' }, progress),
    queryHandler: QUERY_HANDLER,
  };
}
