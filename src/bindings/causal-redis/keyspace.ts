/**
 * Stores the shared data of a site in its Redis: the deployment record, the lease, and the
 * published view. Partitions are stored by `redis-partition-port.ts`.
 */
import { createHash } from 'node:crypto';
import { formatRecord, parseRecord, type DeploymentRecord } from './deployment-record.ts';
import { inspectServers, type ServerReport } from './inspect-servers.ts';
import type { RedisArgument, ScriptConnection } from './driver.ts';
import { NUMBERS_OF_PARTITION } from './view-codec.ts';

/** A view, as it was published, and how old it is. */
export interface PublishedView {
  readonly bytes: Buffer;
  /** In microseconds, by the clock of the server that has it. */
  readonly age: number;
}

export interface LeaseRequest {
  /** Identifies the gateway. */
  readonly gateway: string;
  readonly leaseMs: number;
  /**
   * The view to publish. Without the lease, only the highest stamps of own writes are taken from it
   * (CAUSAL-13).
   */
  readonly view: Buffer | undefined;
  readonly partitionCount: number;
}

export interface LeaseReply {
  /** Whether the gateway has the lease: it polls and replicates for its site. */
  readonly isLeader: boolean;
  /** Whether the deployment record is there. It is lost with all data of its server. */
  readonly hasRecord: boolean;
  readonly published: PublishedView | undefined;
  /**
   * Whether no view was ever published: there is none, and the server has not started again since
   * it was prepared. A server that started again may have lost a view.
   */
  readonly isFirstStart: boolean;
}

type ExchangeReply = readonly [number, number, number, number?, Buffer?];

export interface Keyspace {
  readRecord(): Promise<DeploymentRecord | undefined>;
  /**
   * Writes a record, unless there is one. Returns the one that is there. The record notes which run
   * of the server it was written in (CAUSAL-13).
   */
  createRecord(record: DeploymentRecord): Promise<DeploymentRecord>;
  /** Writes a record again that was lost, and notes no run of the server. */
  restoreRecord(record: DeploymentRecord): Promise<void>;
  /** Asks for the lease, and exchanges what gateways of the site know. */
  exchangeView(request: LeaseRequest): Promise<LeaseReply>;
  /** Releases the lease, so that another gateway can take it at once. */
  releaseLease(gateway: string): Promise<void>;
  readView(): Promise<PublishedView | undefined>;
  inspect(): Promise<readonly ServerReport[]>;
  /** Runs each command that the store uses. Rejects with the first refusal. */
  checkRights(): Promise<void>;
}

/**
 * Each start of a server is a run with another number. It stays unknown if the server refuses
 * `INFO`.
 */
const GET_RUN = `
local function getRun()
  local info = redis.pcall('INFO', 'server')
  return type(info) == 'string' and string.match(info, 'run_id:(%w+)')
end
`;

/**
 * The lease only saves work: two gateways that both hold it do no harm. The age of a view is
 * measured by one clock, so that clocks of gateways do not matter.
 *
 * A view ends with the last own stamp of each partition, with the time of its last heal, and with
 * the last own stamp right after that. A gateway without the lease may have seen a write that the
 * other has not. So of two views, the later heal counts, and the higher stamp since that heal.
 */
const EXCHANGE = `#!lua flags=allow-oom
${GET_RUN}
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local holder = redis.call('GET', KEYS[1])
local isLeader = holder == false or holder == ARGV[1]
local given, partitions = ARGV[3], tonumber(ARGV[4])
local stored = redis.call('GET', KEYS[2])

local function merge(first, second)
  local seen, healed, healedTo = {}, {}, {}
  local function read(view, index, partition)
    local place = 8 * (index * partitions + partition) - 7
    return string.sub(view, place, place + 7)
  end
  local function compare(index, partition)
    local own, other = read(first, index, partition), read(second, index, partition)
    return struct.unpack('>d', other) - struct.unpack('>d', own)
  end
  for partition = 1, partitions do
    local later, higher = compare(1, partition), compare(0, partition)
    local isOther = later > 0 or (later == 0 and higher >= 0)
    local source = isOther and second or first
    seen[partition] = read(source, 0, partition)
    healed[partition] = read(source, 1, partition)
    healedTo[partition] = read(source, 2, partition)
  end
  return table.concat(seen) .. table.concat(healed) .. table.concat(healedTo)
end

local function getView()
  local known = stored and string.sub(stored, 9)
  if not known or #known ~= #given then return isLeader and struct.pack('>d', now) .. given end
  local last = #given - ${8 * NUMBERS_OF_PARTITION} * partitions
  local first, second = string.sub(given, last + 1), string.sub(known, last + 1)
  local shared = first == second and first or merge(first, second)
  if isLeader then return struct.pack('>d', now) .. string.sub(given, 1, last) .. shared end
  return string.sub(stored, 1, last + 8) .. shared
end

if isLeader then redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) end
if #given > 0 then
  local view = getView()
  if view and view ~= stored then
    redis.call('SET', KEYS[2], view)
    stored = view
  end
end
local hasRecord = redis.call('EXISTS', KEYS[3])
if not stored then
  local run = redis.call('HGET', KEYS[3], 'run')
  return { isLeader and 1 or 0, hasRecord, run and run == getRun() and 1 or 0 }
end
local age = now - struct.unpack('>d', stored)
return { isLeader and 1 or 0, hasRecord, 0, age, string.sub(stored, 9) }
`;

const READ_VIEW = `
local time = redis.call('TIME')
local stored = redis.call('GET', KEYS[1])
if stored == false then return false end
local age = time[1] * 1000000 + time[2] - struct.unpack('>d', stored)
return { age, string.sub(stored, 9) }
`;

/** Runs each command that the scripts use. */
const CHECK_RIGHTS = `
redis.call('TIME')
redis.call('HSET', KEYS[1], 'a', '1')
redis.call('HGET', KEYS[1], 'a')
redis.call('HMGET', KEYS[1], 'a')
redis.call('HGETALL', KEYS[1])
redis.call('HKEYS', KEYS[1])
redis.call('HSCAN', KEYS[1], '0')
redis.call('EXISTS', KEYS[1])
redis.call('HDEL', KEYS[1], 'a')
redis.call('SET', KEYS[1], '1', 'PX', 1)
redis.call('GET', KEYS[1])
redis.call('DEL', KEYS[1])
return 1
`;

const RELEASE_LEASE = `
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1
`;

const CREATE_RECORD = `
${GET_RUN}
if redis.call('EXISTS', KEYS[1]) == 0 then
  local run = getRun()
  redis.call('HSET', KEYS[1], unpack(ARGV))
  if run then redis.call('HSET', KEYS[1], 'run', run) end
end
return redis.call('HGETALL', KEYS[1])
`;

const RESTORE_RECORD = `
if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('HSET', KEYS[1], unpack(ARGV))
end
return 1
`;

export class RedisKeyspace implements Keyspace {
  readonly #connection: ScriptConnection;
  readonly #keys: Readonly<Record<'deployment' | 'lease' | 'stable' | 'check', string>>;

  constructor(connection: ScriptConnection, name: string) {
    this.#connection = connection;
    this.#keys = {
      deployment: `{${name}}:deployment`,
      lease: `{${name}}:lease`,
      stable: `{${name}}:stable`,
      check: `{${name}}:check`,
    };
  }

  async readRecord(): Promise<DeploymentRecord | undefined> {
    const { deployment } = this.#keys;
    const reply = await this.#connection.call('HGETALL', deployment);
    return parseRecord(toFields(reply));
  }

  async createRecord(record: DeploymentRecord): Promise<DeploymentRecord> {
    const fields = Object.entries(formatRecord(record)).flat();
    const reply = await this.#run(CREATE_RECORD, [this.#keys.deployment], fields);
    const list = (reply as Buffer[]).map(String);
    return parseRecord(toFields(list)) as DeploymentRecord;
  }

  async restoreRecord(record: DeploymentRecord): Promise<void> {
    const fields = Object.entries(formatRecord(record)).flat();
    await this.#run(RESTORE_RECORD, [this.#keys.deployment], fields);
  }

  async exchangeView(request: LeaseRequest): Promise<LeaseReply> {
    const { gateway, leaseMs, view = Buffer.alloc(0), partitionCount } = request;
    const keys = [this.#keys.lease, this.#keys.stable, this.#keys.deployment];
    const reply = await this.#run(EXCHANGE, keys, [gateway, leaseMs, view, partitionCount]);
    const [isLeader, hasRecord, isFirstStart, age, bytes] = reply as ExchangeReply;
    return {
      isLeader: isLeader === 1,
      hasRecord: hasRecord === 1,
      isFirstStart: isFirstStart === 1,
      published: bytes && { bytes, age: age ?? 0 },
    };
  }

  async releaseLease(gateway: string): Promise<void> {
    await this.#run(RELEASE_LEASE, [this.#keys.lease], [gateway]);
  }

  async readView(): Promise<PublishedView | undefined> {
    const reply = await this.#run(READ_VIEW, [this.#keys.stable], []);
    if (reply === null) return undefined;
    const [age, bytes] = reply as [number, Buffer];
    return { age, bytes };
  }

  inspect(): Promise<readonly ServerReport[]> {
    return inspectServers(this.#connection);
  }

  async checkRights(): Promise<void> {
    await this.#run(CHECK_RIGHTS, [this.#keys.check], []);
  }

  async #run(
    script: string,
    keys: readonly string[],
    args: readonly RedisArgument[],
  ): Promise<unknown> {
    const sha = createHash('sha1').update(script).digest('hex');
    const rest = [...keys, ...args];
    try {
      return await this.#connection.evalshaBuffer(sha, keys.length, ...rest);
    } catch (error) {
      if (!(error as Error).message.startsWith('NOSCRIPT')) throw error;
      return this.#connection.evalBuffer(script, keys.length, ...rest);
    }
  }
}

/** With RESP3, the reply is an object. With RESP2, it is an array of names and values. */
function toFields(reply: unknown): Readonly<Record<string, string>> {
  if (!Array.isArray(reply)) return reply as Readonly<Record<string, string>>;
  const pairs: [string, string][] = [];
  for (let at = 0; at < reply.length; at += 2)
    pairs.push([String(reply[at]), String(reply[at + 1])]);
  return Object.fromEntries(pairs);
}
