/**
 * Checks the options of a deployment. Each error names its field and what to
 * write.
 */
import { CorrectableError } from '../../../correctable/errors.ts';
import {
  checkOptionNames,
  isNonEmptyString,
  isRecord,
} from '../../../correctable/validate.ts';
import { isBytes } from '../../../values/value-kinds.ts';
import {
  EMBEDDED_OPTIONS,
  GENERATOR_OPTIONS,
  type EmbeddedOptions,
} from './embedded-options.ts';
import { requireService } from '../../service/service.ts';
import { MIN_KEY_BYTES } from '../../storage/directory/data-directory.ts';

const COUNT_OPTIONS = [
  'maxAttempts',
  'maxInFlight',
  'maxRedInFlight',
  'siteTimeoutMs',
  'maxClockSkewMs',
  'maxBacklogEntries',
] as const;
const BOOLEAN_OPTIONS = ['checkInvariants', 'checkColors'] as const;
const GENERATOR_COUNTS = ['maxSteps', 'maxEffects', 'timeoutMs'] as const;

const CALL = "createEmbedded(service, { sites: ['ireland', 'frankfurt'] })";

/** @throws CorrectableError `INVALID_ARGUMENT` naming the invalid option */
export function checkEmbeddedOptions(
  service: unknown,
  value: Partial<Record<keyof EmbeddedOptions, unknown>>,
): void {
  requireService(service, CALL);
  checkOptionNames(value, { call: CALL }, EMBEDDED_OPTIONS);
  const { sites, dataDir, onAlarm } = value;
  checkSites(sites);
  checkLatency(value.latency, sites);
  for (const field of COUNT_OPTIONS) checkCount(field, value[field]);
  checkClusterKey(value.clusterKey);
  for (const field of BOOLEAN_OPTIONS) {
    const isBoolean =
      value[field] === undefined || typeof value[field] === 'boolean';
    checkOption(isBoolean, field, 'must be true or false, or left out');
  }
  const isPath = dataDir === undefined || isNonEmptyString(dataDir);
  checkOption(
    isPath,
    'dataDir',
    'must be the path of a directory, or left out',
  );
  checkOption(
    onAlarm === undefined || typeof onAlarm === 'function',
    'onAlarm',
    'must be a function, or none',
  );
  checkGenerators(value.generators);
}

function checkSites(sites: unknown): asserts sites is readonly string[] {
  const areNames = Array.isArray(sites) && sites.every(isNonEmptyString);
  checkOption(
    areNames,
    'sites',
    "must be a list of names, as ['ireland', 'frankfurt']",
  );
  checkOption(sites.length > 0, 'sites', 'must name at least one site');
  const areDistinct = new Set(sites).size === sites.length;
  checkOption(
    areDistinct,
    'sites',
    `must not name a site twice: ${sites.join(', ')}`,
  );
}

function checkLatency(latency: unknown, sites: readonly string[]): void {
  if (latency === undefined || latency === 'none' || latency === 'eu-us')
    return;
  const example =
    "'none', 'eu-us' or round trips in milliseconds, as { 'ireland-frankfurt': 20 }";
  checkOption(isRecord(latency), 'latency', `must be ${example}`);
  const pairs = sites.flatMap((item, at) =>
    sites.slice(at + 1).map((other) => [item, other] as const),
  );
  for (const text of Object.keys(latency))
    if (latency[text] !== undefined) checkPair(text, latency, pairs);
}

/**
 * Names of sites may contain dashes, so a key of `latency` may name two pairs.
 * A key that names no known pair names unknown sites, and is ignored.
 */
function checkPair(
  text: string,
  latency: Readonly<Record<string, unknown>>,
  pairs: readonly (readonly [string, string])[],
): void {
  const [pair, another] = pairs.filter((item) =>
    getPairNames(item).includes(text),
  );
  if (pair === undefined) return;
  const both = `${pair.join(' and ')} as well as ${another?.join(' and ')}`;
  const advice = 'give each from its other end, or name the sites otherwise';
  checkOption(
    another === undefined,
    `latency.${text}`,
    `names ${both}: ${advice}`,
  );
  const reverse = getPairNames(pair).find((item) => item !== text);
  const isOnce = reverse === undefined || latency[reverse] === undefined;
  checkOption(
    isOnce,
    `latency.${text}`,
    `is set as ${reverse} too: set it once`,
  );
}

/** Returns both names of a pair, from either end. */
function getPairNames([item, other]: readonly [string, string]): readonly [
  string,
  string,
] {
  return [`${item}-${other}`, `${other}-${item}`];
}

function checkGenerators(value: unknown): void {
  if (value === undefined) return;
  checkOption(
    isRecord(value),
    'generators',
    'must be an object of bounds, or none',
  );
  checkOptionNames(
    value,
    { call: '{ generators: { maxSteps: 100_000 } }', field: 'generators' },
    GENERATOR_OPTIONS,
  );
  for (const field of GENERATOR_COUNTS)
    checkCount(`generators.${field}`, value[field]);
  const { determinismCheckRate: rate = 0 } = value;
  const isShare = typeof rate === 'number' && rate >= 0 && rate <= 1;
  checkOption(
    isShare,
    'generators.determinismCheckRate',
    `must be from 0 to 1, not ${String(rate)}`,
  );
}

function checkCount(field: string, value: unknown): void {
  const isCount =
    value === undefined ||
    (typeof value === 'number' && Number.isInteger(value) && value >= 1);
  const input =
    typeof value === 'string' ? `the text '${value}'` : String(value);
  checkOption(isCount, field, `must be an integer from 1 on, not ${input}`);
}

function checkClusterKey(key: unknown): void {
  const isKey =
    key === undefined ||
    ((typeof key === 'string' || isBytes(key)) &&
      Buffer.byteLength(key) >= MIN_KEY_BYTES);
  checkOption(
    isKey,
    'clusterKey',
    `must have at least ${MIN_KEY_BYTES} bytes, as a text or a Uint8Array`,
  );
}

/** Creates the error for an invalid option `field`. */
export function invalidOptionError(
  field: string,
  problem: string,
): CorrectableError {
  return new CorrectableError('INVALID_ARGUMENT', `${field} ${problem}.`, {
    field,
  });
}

function checkOption(
  isRight: unknown,
  field: string,
  problem: string,
): asserts isRight {
  if (!isRight) throw invalidOptionError(field, problem);
}
