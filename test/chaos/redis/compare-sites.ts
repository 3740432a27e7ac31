/** Compares what Redis has at both sites, partition by partition, when all is well again. */
import { REDIS_SITES, type RedisSite } from '../../../engines/redis/layout.ts';
import type { RedisSites } from '../../../engines/redis/sites.ts';
import { decodeChain, fromField } from '../../../src/bindings/causal-redis/version-codec.ts';
import { getVersions } from '../../../src/causal/version-chain.ts';

const CHAIN_PREFIX = 'v:';

/** The newest version of each key, as text. */
type Newest = ReadonlyMap<string, string>;

/** Returns a sentence for each partition whose keys differ. */
export async function compareSites(
  sites: RedisSites,
  partitionKeys: readonly string[],
): Promise<readonly string[]> {
  const differences: string[] = [];
  const [dublin, oregon] = await Promise.all(
    REDIS_SITES.map((site) => readAll(sites, site, partitionKeys)),
  );
  for (const [partition, name] of partitionKeys.entries()) {
    const [here, there] = [dublin?.[partition], oregon?.[partition]] as [Newest, Newest];
    const keys = new Set([...here.keys(), ...there.keys()]);
    const differing = [...keys].filter((key) => here.get(key) !== there.get(key));
    const texts = differing.map(
      (key) => `${key} is ${here.get(key)} in Dublin and ${there.get(key)} in Oregon`,
    );
    if (texts.length > 0) differences.push(`convergence: ${name}: ${texts.join('; ')}`);
  }
  return differences;
}

async function readAll(
  sites: RedisSites,
  site: RedisSite,
  partitionKeys: readonly string[],
): Promise<Newest[]> {
  const connection = sites.connect(site);
  try {
    return await Promise.all(
      partitionKeys.map(async (key) => decode(await connection.hgetallBuffer(key))),
    );
  } finally {
    connection.disconnect();
  }
}

function decode(fields: Readonly<Record<string, Buffer>>): Newest {
  const chains = Object.entries(fields).filter(([field]) => field.startsWith(CHAIN_PREFIX));
  return new Map(
    chains.map(([field, bytes]) => {
      const [newest] = getVersions(decodeChain(bytes, REDIS_SITES.length));
      const text =
        newest && `${String(newest.value)} (${newest.kind}, ${newest.stamp}@${newest.site})`;
      return [fromField(Buffer.from(field)), text ?? 'nothing'];
    }),
  );
}
