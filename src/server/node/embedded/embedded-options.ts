/** The options of a deployment in one process. */
import {
  anyValue,
  distinctNames,
  matches,
  optional,
  readOptions,
  required,
  text,
  type OptionsOf,
  type ResolvedOptions,
} from '../../../correctable/options.ts';
import { check } from '../../../correctable/errors.ts';
import { isRecord } from '../../../correctable/validate.ts';
import { isBytes } from '../../../values/value-kinds.ts';
import type { SiteAlarm } from '../alarms/site-alarm.ts';
import type { GeneratorLimits } from '../../service/generator/generator-budget.ts';
import { partitionsByName, type PartitionsOption } from '../../service/partition-options.ts';
import { requireService } from '../../service/service.ts';
import type { SiteLatency } from '../site-latency.ts';
import { MIN_KEY_BYTES } from '../storage/directory/data-directory.ts';
import { SITE_OPTIONS } from '../site-options.ts';
import { checkLatencyPairs } from './latency-pairs.ts';

/** Options of `createEmbedded`. */
export interface EmbeddedOptions<N extends string = string> {
  /**
   * Names of the sites, as an array in the call or a constant with `as const`: the compiler checks
   * other options against them.
   */
  readonly sites: readonly [N, ...N[]];
  /**
   * The site that orders the red operations. A red write takes a round trip to it. Default: the
   * first site.
   */
  readonly redLeader?: NoInfer<N> | undefined;
  /**
   * Parts of the rows, by name, that have a red log of their own with a leader near their users.
   * All other rows are in the partition `main`, which `redLeader` leads. At most 15. They can never
   * change once there is data, nor can their leaders and voters. Default: none
   */
  readonly partitions?: PartitionsOption<NoInfer<N>> | undefined;
  /** Delays between the sites. Default: `none` */
  readonly latency?: SiteLatency | undefined;
  /**
   * How often a red write runs if others keep changing what it reads, before
   * `CONFLICT`. Default: 10. If it conflicts on a `bounded` field that it takes
   * from, it runs again for `siteTimeoutMs` after its first rejection, however
   * often.
   */
  readonly maxAttempts?: number | undefined;
  /**
   * Maximum number of operations in flight at one site. More fail with `OVERLOADED`. Default: 100
   * 000
   */
  readonly maxInFlight?: number | undefined;
  /**
   * Maximum number of red writes and strong reads in flight at one site. They count for
   * `maxInFlight` too. The limit leaves room for other operations while the red leader is away.
   * More fail with `OVERLOADED`. Default: half of `maxInFlight`
   */
  readonly maxRedInFlight?: number | undefined;
  /**
   * How long an operation waits for another site, in milliseconds. It fails with `REPLICA_BEHIND`
   * if the site lacks data that its session has seen. It fails with `UNKNOWN` if another site
   * received it first and does not report its outcome. It fails with `UNAVAILABLE` if it waits for
   * rights that other sites hold. Default: 5000
   */
  readonly siteTimeoutMs?: number | undefined;
  /**
   * How far the clock of a site may be ahead of the others, in milliseconds. If it is further
   * ahead, the site refuses writes until the clock is right, and notifies `onAlarm`. Sites of one
   * process share its clock. If it is set by more than this, they notify `onAlarm` and continue.
   * Default: 10 000
   */
  readonly maxClockSkewMs?: number | undefined;
  /**
   * Maximum number of log entries that a site keeps for a site that lacks them. If a site is away
   * for longer, the others refuse writes with `OVERLOADED` until it is back. Default: 1 000 000
   */
  readonly maxBacklogEntries?: number | undefined;
  /**
   * Maximum number of bytes that the sites of the process have in memory together, as they count
   * them. From 80 % on they raise the alarm `memory-low`. From 90 % on they refuse writes with
   * `OVERLOADED`, except removals. Default: 75 % of the heap
   */
  readonly memoryBytes?: number | undefined;
  /**
   * How many bytes of it the sites may use for rows that are on the disk too, so that they need not
   * be read again. Without a directory, all rows are in memory and it has no effect. Default: a
   * quarter of the memory, and at most 256 MiB for each site
   */
  readonly cacheBytes?: number | undefined;
  /**
   * Authenticates session tokens. Use the same key at all sites and after a restart. Default: the
   * key in the data directory, or a random one
   */
  readonly clusterKey?: string | Uint8Array | undefined;
  /**
   * Receives what an operator must know while a site runs. If it throws or rejects, the alarm and
   * that error become a process warning, and the site continues. Default: a process warning
   */
  readonly onAlarm?: ((alarm: SiteAlarm) => void) | undefined;
  /**
   * Checks the service's `invariants` of each changed row at every site, and raises the alarm
   * `invariant-broken`. The cost is one read of the row for each effect and invariant, and at most
   * a twentieth of the time for all `snapshotInvariants`. The check does not repair anything. To
   * find faults earlier, use `simulateService` of `correctables/testing`. Default: `true`, unless
   * `NODE_ENV` is `production`
   */
  readonly checkInvariants?: boolean | undefined;
  /**
   * Checks the colors of the service for half a second before the start. If a shadow operation has
   * a wrong color, the start fails with a counterexample. Other findings go to `onAlarm` as
   * `color-check-failed`. Default: `true` with a directory (`openEmbedded`, `serve` with a
   * `dataDir`, `serveCluster`), unless `NODE_ENV` is `production`
   */
  readonly checkColors?: boolean | undefined;
  /** Limits of a generator run, and how runs are checked. */
  readonly generators?: Partial<GeneratorLimits> | undefined;
}

/** Options of `openEmbedded`. */
export interface DurableEmbeddedOptions<N extends string = string> extends EmbeddedOptions<N> {
  /**
   * The directory for logs and rows, created if it is missing. Each confirmed write is on the disk.
   */
  readonly dataDir: string;
}

export const EMBEDDED_OPTIONS = {
  sites: required(distinctNames("['ireland', 'frankfurt']")),
  redLeader: optional(anyValue),
  partitions: optional(partitionsByName),
  latency: optional(
    matches(
      (value) => value === 'none' || value === 'eu-us' || isRecord(value),
      "must be 'none', 'eu-us' or round trips in milliseconds, as { 'ireland-frankfurt': 20 }",
    ),
    'none',
  ),
  clusterKey: optional(
    matches(isKey, `must have at least ${MIN_KEY_BYTES} bytes, as a text or a Uint8Array`),
  ),
  ...SITE_OPTIONS,
} satisfies OptionsOf<EmbeddedOptions>;

export const DURABLE_OPTIONS = {
  ...EMBEDDED_OPTIONS,
  dataDir: required(text),
} satisfies OptionsOf<DurableEmbeddedOptions>;

type SiteOptionName = keyof typeof SITE_OPTIONS;

/** The options of a site, after the defaults were filled in. */
export type ResolvedSiteOptions = ResolvedOptions<
  Pick<EmbeddedOptions, SiteOptionName>,
  typeof SITE_OPTIONS
>;

const CALL = "createEmbedded(service, { sites: ['ireland', 'frankfurt'] })";
const DURABLE_CALL = "openEmbedded(service, { sites: ['ireland', 'frankfurt'], dataDir: 'data' })";

/** The options of a deployment, after the defaults were filled in. */
export type ResolvedEmbeddedOptions<N extends string> = ResolvedOptions<
  EmbeddedOptions<N>,
  typeof EMBEDDED_OPTIONS
>;

/** @throws CorrectableError `INVALID_ARGUMENT` naming the invalid option */
export function readEmbeddedOptions<N extends string>(
  service: unknown,
  options: EmbeddedOptions<N>,
): ResolvedEmbeddedOptions<N> {
  requireService(service, CALL);
  const hasDirectory = isRecord(options) && options['dataDir'] !== undefined;
  check(!hasDirectory, 'dataDir', `opens asynchronously: use await ${DURABLE_CALL}`);
  const resolved = readOptions(options, { call: CALL }, EMBEDDED_OPTIONS);
  checkLatencyPairs(resolved.latency, resolved.sites);
  return resolved;
}

/** @throws CorrectableError `INVALID_ARGUMENT` naming the invalid option */
export function readDurableOptions<N extends string>(
  service: unknown,
  options: DurableEmbeddedOptions<N>,
): ResolvedEmbeddedOptions<N> & Pick<DurableEmbeddedOptions, 'dataDir'> {
  requireService(service, DURABLE_CALL);
  const resolved = readOptions(options, { call: DURABLE_CALL }, DURABLE_OPTIONS);
  checkLatencyPairs(resolved.latency, resolved.sites);
  return resolved;
}

function isKey(value: unknown): boolean {
  return (typeof value === 'string' || isBytes(value)) && Buffer.byteLength(value) >= MIN_KEY_BYTES;
}
