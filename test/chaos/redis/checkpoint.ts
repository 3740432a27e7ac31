/** Waits until each site has all that the other one had acknowledged before. */
import { findPartition } from '../../../src/causal/partition-of-key.ts';
import { pause } from '../../histories/pause.ts';
import type { SiteIndex } from './history.ts';
import type { StormSession, StormStore } from './stores.ts';

const SITES: readonly SiteIndex[] = [0, 1];
const LOOK_AGAIN_MS = 50;

export class CheckpointError extends Error {
  override readonly name = 'CheckpointError';
}

/**
 * A partition makes its writes known in their order: a mark that has arrived shows that all earlier
 * writes have.
 */
export class Checkpoints {
  readonly #store: StormStore;
  readonly #partitionCount: number;
  #count = 0;

  constructor(store: StormStore, partitionCount: number) {
    this.#store = store;
    this.#partitionCount = partitionCount;
  }

  /**
   * Resolves with the time before which all acknowledged writes are at both sites.
   *
   * @throws CheckpointError if they do not arrive in time
   */
  async pass(timeoutMs: number): Promise<number> {
    const atMs = performance.now();
    const untilMs = atMs + timeoutMs;
    this.#count += 1;
    const mark = `${this.#count}`;
    for (const site of SITES) {
      const keys = findKeys(`mark${site}`, this.#partitionCount);
      const writer = this.#openSession(site);
      for (const key of keys)
        await repeat(untilMs, `no mark can be written to ${key} at site ${site}`, async () => {
          const { outcome, code } = await writer.write({ key, id: mark, isRemoval: false });
          return outcome === 'acknowledged' ? undefined : `the last answer is ${code}`;
        });
      const reader = this.#openSession(site === 0 ? 1 : 0);
      await repeat(untilMs, `not all writes of site ${site} arrive at the other one`, async () => {
        const result = await reader.read(keys, false);
        if (typeof result === 'string') return `the last answer is ${result}`;
        const missing = keys.filter((_, at) => Number(result.ids[at] ?? 0) < this.#count);
        return missing.length === 0 ? undefined : `missing: ${missing.join(', ')}`;
      });
    }
    return atMs;
  }

  #openSession(site: SiteIndex): StormSession {
    return this.#store.openSession(this.#store.gateways.indexOf(site));
  }
}

/** Calls until nothing is missing. */
async function repeat(
  untilMs: number,
  failure: string,
  call: () => Promise<string | undefined>,
): Promise<void> {
  for (;;) {
    const missing = await call();
    if (missing === undefined) return;
    if (performance.now() > untilMs) throw new CheckpointError(`${failure}; ${missing}`);
    await pause(LOOK_AGAIN_MS);
  }
}

/** Returns a key for each partition. */
function findKeys(prefix: string, partitionCount: number): readonly string[] {
  const keys = new Map<number, string>();
  for (let n = 0; keys.size < partitionCount; n += 1) {
    const key = `${prefix}:${n}`;
    const partition = findPartition(key, partitionCount);
    if (!keys.has(partition)) keys.set(partition, key);
  }
  return [...keys.values()];
}
