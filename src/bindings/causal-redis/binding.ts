/** The binding of one site of a causal store whose sites are on Redis. */
import { randomBytes } from 'node:crypto';
import { DEFAULT_LIMITS } from '../../causal/limits.ts';
import { MICROSECONDS_PER_MS } from '../../causal/stamps.ts';
import type { Binding } from '../../correctable/binding.ts';
import { systemClock, type Clock } from '../../correctable/clock.ts';
import { CausalBinding } from '../causal/causal-binding.ts';
import type { ParsedWrite } from '../causal/parse-operation.ts';
import type {
  CausalLevels,
  SiteHost,
  SiteOperations,
  SiteProblem,
  VectorTokens,
} from '../causal/site-host.ts';
import { createSessionTokens } from '../shared/session-tokens.ts';
import { Alarms } from './alarms.ts';
import { Gateway } from './gateway.ts';
import { resolveOptions, type CausalRedisOptions, type ResolvedOptions } from './options.ts';
import { openRedisStores } from './redis-stores.ts';
import type { SiteStores } from './site-stores.ts';
import { checkKeySizes, decodeValue, encodeValue } from './values.ts';

/**
 * Opens a causally consistent store with a Redis or a Valkey at each site, from this process at
 * `site`. Experimental: names and the format of the data may change in a minor version.
 *
 * Operations wait until the deployment record was read. If it is missing or does not fit the
 * options, they fail with `INVALID_ARGUMENT` that names the field.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` naming the option that does not
 *   fit
 * @example
 * const sites = { dublin: { nodes: ['10.0.0.1:6379'] }, oregon: { nodes: ['10.1.0.1:6379'] } };
 * await createCausalDeployment({ name: 'shop', site: 'dublin', sites });
 * const store = createClient(causalRedis({ name: 'shop', site: 'dublin', sites }));
 */
export function causalRedis<const N extends string>(
  options: CausalRedisOptions<N>,
): Binding<CausalLevels> {
  const resolved = resolveOptions(options);
  const openStores = (): Promise<SiteStores> => openRedisStores(resolved);
  return openCausalBinding(resolved, { clock: systemClock, openStores });
}

export interface CausalEnvironment {
  readonly clock: Clock;
  readonly openStores: () => Promise<SiteStores>;
}

export function openCausalBinding(
  options: ResolvedOptions,
  { clock, openStores }: CausalEnvironment,
): CausalBinding {
  const alarms = new Alarms(options.site, clock, options.onAlarm);
  const gateway = new Gateway({ options, clock, alarms, openStores });
  return new CausalBinding(new RedisHost(options, clock, gateway));
}

const STARTING = { refused: 'STARTING' } as const;

/**
 * How long a write is repeated. A repetition must arrive while the partition still remembers the id
 * of the write, so this is shorter by the time of a request.
 */
const RETRY_WRITES_FOR_MS =
  (DEFAULT_LIMITS.keepIdsFor - 2 * DEFAULT_LIMITS.requestTimeout) / MICROSECONDS_PER_MS;

class RedisHost implements SiteHost {
  readonly name = 'causal-redis';
  readonly siteCount: number;
  readonly clock: Clock;
  readonly siteTimeoutMs: number;
  readonly retryWritesForMs = RETRY_WRITES_FOR_MS;
  readonly tokens: VectorTokens;
  readonly isShared = false;
  readonly operations: SiteOperations;
  readonly #options: ResolvedOptions;
  readonly #gateway: Gateway;
  /** Unique among processes. A short id spares memory of Redis. */
  readonly #idPrefix = randomBytes(9).toString('base64url');
  #writeCount = 0;

  constructor(options: ResolvedOptions, clock: Clock, gateway: Gateway) {
    this.#options = options;
    this.#gateway = gateway;
    this.clock = clock;
    this.siteTimeoutMs = options.siteTimeoutMs;
    this.siteCount = options.sources.size;
    this.tokens = createTokens(options);
    this.operations = createOperations(gateway);
  }

  get site(): number {
    return this.#gateway.siteIndex;
  }

  get failure(): SiteHost['failure'] {
    return this.#gateway.failure;
  }

  get problem(): SiteProblem {
    return this.#gateway.problem;
  }

  checkKeys(keys: readonly string[]): void {
    checkKeySizes(keys);
  }

  encode(write: ParsedWrite): ParsedWrite {
    const { kind, value } = write;
    const { maxValueBytes } = this.#options;
    const bytes = kind === 'value' ? encodeValue(value, maxValueBytes) : Buffer.alloc(0);
    return { ...write, value: bytes };
  }

  decode(stored: unknown): unknown {
    return decodeValue(stored);
  }

  createWriteId(): string {
    this.#writeCount += 1;
    return `${this.#idPrefix}${this.#writeCount.toString(36)}`;
  }

  onWritten(): void {
    this.#gateway.noteWrite();
  }

  waitForNews(run: () => void): () => void {
    return this.#gateway.waitForNews(run);
  }

  close(): Promise<void> {
    return this.#gateway.close();
  }
}

/**
 * Returns the operations of the site. They refuse to run until the gateway has read the deployment
 * record.
 */
function createOperations(gateway: Gateway): SiteOperations {
  return {
    put: (session, write, onEnd) => {
      if (gateway.site === undefined) onEnd(STARTING);
      else gateway.site.put(session, write, onEnd);
    },
    read: (session, request, onEnd) => {
      if (gateway.site === undefined) onEnd(STARTING);
      else gateway.site.read(session, request, onEnd);
    },
    readLatest: (session, keys, onEnd) => {
      if (gateway.site === undefined) onEnd(STARTING);
      else gateway.site.readLatest(session, keys, onEnd);
    },
    canContinue: (session) => gateway.site?.canContinue(session) ?? false,
    getHealedAt: (key) => gateway.site?.getHealedAt(key) ?? 0,
  };
}

function createTokens({ name, site, sources, tokenKey }: ResolvedOptions): VectorTokens {
  const names = [...sources.keys()].toSorted();
  return createSessionTokens({
    caller: 'causalRedis',
    tokenKey,
    scope: ['causal-redis', name, ...names],
    site: names.indexOf(site),
  });
}
