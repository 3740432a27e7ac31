/**
 * Values and versions of several keys, all from one state. ZooKeeper has no read of several nodes
 * at once, and another client's write may be applied between two of them. So each round trip reads
 * all nodes, and then all versions again. If no version differs, all values were valid at the time
 * between the two reads.
 */
import { check, CorrectableError } from '../../../correctable/errors.ts';
import {
  readVersions,
  type ReadVersionsArgs,
  type Version,
  type VersionedValue,
} from '../../../operations/versioned.ts';
import { isZooKeeperError } from '../client/errors.ts';
import type { ZooKeeper } from '../client/zookeeper.ts';
import { decodeValue } from '../decode-value.ts';
import type { OperationCall } from '../operation-call.ts';
import type { Paths } from '../paths.ts';
import { readAtBothLevels, type ZooKeeperReadResult } from '../read-at-both-levels.ts';
import type { SessionPair } from '../session-pair.ts';
import type { ValueCodec } from '../value-codec.ts';
import { formatVersion } from './node-version.ts';

/**
 * The maximum number of rounds. A round fails only if a key is written within the microseconds that
 * a server needs for it. So this number of rounds fails only if keys are written all the time.
 */
const MAX_TRIPS = 20;

/** A key, and the version of the value that the caller has. */
interface KnownKey {
  readonly key: string;
  readonly path: string;
  readonly known: Version | null;
}

export async function executeReadVersions(
  sessions: SessionPair,
  args: ReadVersionsArgs,
  { call, paths, codec }: { call: OperationCall; paths: Paths; codec: ValueCodec },
): Promise<void> {
  const keys = checkArgs(args, paths);
  await readAtBothLevels(sessions, call, async (zk, isSynced) => {
    const state = new StateReading(zk, keys, codec);
    if (!isSynced) return state.read();
    // The replies come in this order, so the reads include what the sync has brought.
    const [, reading] = await Promise.all([zk.sync(paths.keys), state.read()]);
    return reading;
  });
}

function checkArgs({ keys, known }: ReadVersionsArgs, paths: Paths): readonly KnownKey[] {
  // The builder checks the keys. Behind a gateway without a contract, a client may send any value.
  readVersions(keys);
  check(
    known === undefined || (Array.isArray(known) && known.length === keys.length),
    'args.known',
    'give a list with a version or null for each key',
  );
  return keys.map((key, at) => ({
    key,
    path: paths.key(key),
    known: known?.[at] ?? null,
  }));
}

class StateReading {
  readonly #zk: ZooKeeper;
  readonly #keys: readonly KnownKey[];
  readonly #codec: ValueCodec;
  /**
   * The latest value and the latest version of each key. If all of them match, the values are from
   * one state.
   */
  readonly #values: (VersionedValue | undefined)[];
  readonly #versions: (Version | null)[];
  /** The server had applied all transactions up to this one when it answered for the values. */
  #zxid: bigint;

  constructor(zk: ZooKeeper, keys: readonly KnownKey[], codec: ValueCodec) {
    this.#zk = zk;
    this.#keys = keys;
    this.#codec = codec;
    this.#values = keys.map(() => undefined);
    // Begin with the known versions: a version that the caller has is probably the present one.
    this.#versions = keys.map(({ known }) => known);
    this.#zxid = zk.lastZxid;
  }

  async read(): Promise<ZooKeeperReadResult> {
    for (let trip = 1; this.#findStale() !== undefined; trip += 1) {
      if (trip > MAX_TRIPS) throw createUnstableError(this.#keys[this.#findStale()!]!.key);
      await this.#makeTrip();
    }
    return { value: this.#values, zxid: this.#zxid };
  }

  /** Sends all requests of a round at once. The server executes them in order. */
  async #makeTrip(): Promise<void> {
    const stale = this.#keys.map((_, at) => at).filter((at) => this.#isStale(at));
    const reading = Promise.all(stale.map((at) => this.#readNode(at)));
    // The value of a single key is always from one state.
    const again = this.#keys.length === 1 ? [] : this.#keys;
    const checking = Promise.all(again.map(({ path }) => this.#zk.exists(path)));

    const [, stats] = await Promise.all([reading, checking]);
    stats.forEach((stat, at) => (this.#versions[at] = formatVersion(stat)));
  }

  /** Reads only the version if it seems to be the one that the caller has. */
  async #readNode(at: number): Promise<void> {
    const item = this.#keys[at]!;
    const { known } = item;
    const isExpected = known !== null && this.#versions[at] === known;
    const result = await (isExpected ? this.#readVersion(item) : this.#readValue(item));
    this.#versions[at] = result.version;
    this.#values[at] = isExpected && result.version !== known ? undefined : result;
  }

  async #readVersion({ path }: KnownKey): Promise<VersionedValue> {
    const stat = await this.#zk.exists(path, { onZxid: this.#recordZxid });
    return { version: formatVersion(stat) };
  }

  async #readValue({ key, path }: KnownKey): Promise<VersionedValue> {
    try {
      const { data, stat } = await this.#zk.get(path, {
        onZxid: this.#recordZxid,
      });
      const version = formatVersion(stat);
      return data === null
        ? { version }
        : {
            version,
            value: decodeValue(this.#codec, data, {
              operation: 'readVersions',
              key,
            }),
          };
    } catch (error) {
      if (isZooKeeperError(error, 'NO_NODE')) return { version: formatVersion(null) };
      throw error;
    }
  }

  readonly #recordZxid = (zxid: bigint): void => void (this.#zxid = zxid);

  #findStale(): number | undefined {
    const found = this.#keys.findIndex((_, at) => this.#isStale(at));
    return found < 0 ? undefined : found;
  }

  #isStale(at: number): boolean {
    const value = this.#values[at];
    return value === undefined || value.version !== this.#versions[at];
  }
}

function createUnstableError(key: string): CorrectableError {
  const message = `readVersions: a key changed during each of ${MAX_TRIPS} reads, the last time "${key}", so no state has all values. Nothing was written. Try again later, or read fewer keys.`;
  return new CorrectableError('CONFLICT', message, { key });
}
