/** Which partition a key belongs to. */

const FNV_OFFSET = 2_166_136_261;
const FNV_PRIME = 16_777_619;

/**
 * Returns the partition of `key`, from 0 to `partitionCount - 1`: a hash of the key, or of the
 * first `{tag}` in it. Keys with the same tag are in one partition.
 */
export function findPartition(key: string, partitionCount: number): number {
  const [, tag] = /\{([^}]+)\}/.exec(key) ?? [];
  return hashText(tag ?? key) % partitionCount;
}

/** FNV-1a over UTF-16 units. */
function hashText(text: string): number {
  let hash = FNV_OFFSET;
  for (let at = 0; at < text.length; at += 1)
    hash = Math.imul(hash ^ text.charCodeAt(at), FNV_PRIME);
  return hash >>> 0;
}
