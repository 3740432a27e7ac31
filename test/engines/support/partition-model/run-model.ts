/**
 * Runs lists of calls on a real server, whose scripts get their clock from the test, and compares.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Redis } from 'ioredis';
import { expect } from 'vitest';
import { decodeReply, encodeRequest } from '../../../../src/bindings/causal-redis/script-codec.ts';
import {
  buildPartitionScripts,
  type PartitionScripts,
} from '../../../../src/bindings/causal-redis/scripts/partition-scripts.ts';
import { READ_CLOCK } from '../../../../src/bindings/causal-redis/scripts/shared-parts.ts';
import { encodeNumbers } from '../../../../src/bindings/causal-redis/version-codec.ts';
import type { CallName } from '../../../../src/causal/partition-calls.ts';
import { Random } from '../../../../src/server/service/collections/random.ts';
import { drawSettings, drawSteps, type ModelSettings, type ModelStep } from './draw-steps.ts';
import { describeHash, toComparable } from './plain-state.ts';

const KEY = '{model:0}';
const COPY = '{model:0}:copy';
/** The last argument is the clock. */
const TAKE_CLOCK = "local now = struct.unpack('>d', table.remove(ARGV))";

type ChangeScript = (text: string) => string;

type Hashes = Readonly<Record<CallName, string>>;

export class ModelRun {
  readonly #redis: Redis;
  readonly #change: ChangeScript;
  readonly #hashes = new Map<string, Hashes>();

  /** @param change plants a fault in a script */
  constructor(redis: Redis, change: ChangeScript = (text) => text) {
    this.#redis = redis;
    this.#change = change;
  }

  /** Fails if the server answers otherwise than the pure form, or stores something else. */
  async check(seed: number): Promise<void> {
    const random = new Random(seed);
    const settings = drawSettings(random);
    const steps = drawSteps(random, settings);
    const hashes = await this.#load(settings);
    const pipeline = this.#redis.pipeline().del(KEY, COPY);
    for (const step of steps) addStep(pipeline, step, hashes);
    const results = (await pipeline.exec()) ?? [];
    for (const [at, step] of steps.entries()) {
      const [error, reply] = results[at + 1] as [Error | null, unknown];
      const place = `seed ${seed}, step ${at}: ${step.kind === 'call' ? step.name : step.kind}`;
      if (error !== null) throw new Error(`${place}: ${error.message}`, { cause: error });
      compare(place, { step, reply, settings });
    }
  }

  async #load(settings: ModelSettings): Promise<Hashes> {
    const name = JSON.stringify(settings);
    const known = this.#hashes.get(name);
    if (known !== undefined) return known;
    const scripts = Object.entries(buildPartitionScripts(settings)) as [CallName, string][];
    const loaded = scripts.map(async ([call, text]) => {
      const changed = this.#change(text.replace(READ_CLOCK, () => TAKE_CLOCK));
      return [call, String(await this.#redis.script('LOAD', changed))] as const;
    });
    const hashes = Object.fromEntries(await Promise.all(loaded)) as Record<
      keyof PartitionScripts,
      string
    >;
    this.#hashes.set(name, hashes);
    return hashes;
  }
}

function addStep(pipeline: ReturnType<Redis['pipeline']>, step: ModelStep, hashes: Hashes): void {
  if (step.kind === 'call') {
    const args = [...encodeRequest(step.name, step.request as never), encodeNumbers([step.now])];
    pipeline.callBuffer('evalsha', hashes[step.name], 1, KEY, ...args);
  } else if (step.kind === 'compare') pipeline.callBuffer('eval', READ_ALL, 1, KEY);
  else if (step.kind === 'lose') pipeline.del(KEY);
  else if (step.kind === 'backup') pipeline.eval(MOVE, 2, KEY, COPY);
  else pipeline.eval(MOVE, 2, COPY, KEY);
}

/** As a script, since `ioredis` makes texts of the reply of the command. */
const READ_ALL = "return redis.call('HGETALL', KEYS[1])";
/** COPY does nothing if there is no source. */
const MOVE = "redis.call('DEL', KEYS[2]) return redis.call('COPY', KEYS[1], KEYS[2])";

interface Comparison {
  readonly step: ModelStep;
  readonly reply: unknown;
  readonly settings: ModelSettings;
}

function compare(place: string, { step, reply, settings: { siteCount } }: Comparison): void {
  if (step.kind === 'call') {
    expectEqual(place, decodeReply(step.name, reply, siteCount), step.reply);
  } else if (step.kind === 'compare') {
    expectEqual(place, describeHash(toFields(reply), siteCount), step.state);
  }
}

/** The first comparison is ten times as fast as that of vitest. */
function expectEqual(place: string, received: unknown, expected: unknown): void {
  const [left, right] = [toComparable(received), toComparable(expected)];
  if (!isDeepStrictEqual(left, right)) expect(left, place).toStrictEqual(right);
}

function toFields(reply: unknown): ReadonlyMap<string, Buffer> {
  const list = reply as readonly Buffer[];
  const pairs = Array.from(
    { length: list.length / 2 },
    (_, at) => [String(list[2 * at]), list[2 * at + 1] as Buffer] as const,
  );
  return new Map(pairs);
}
