/** Checks of the options of a deployment: each names its field and says what to give. */
import { CorrectableError } from '../correctable/errors.ts';
import { checkOptionNames, isNonEmptyString, isRecord } from '../correctable/validate.ts';
import { isBytes } from '../values/value-kinds.ts';
import { requireService } from './service/service.ts';
import { MIN_KEY_BYTES } from './storage/directory/data-directory.ts';

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

/** What may have been given. */
interface EmbeddedInput extends Readonly<Partial<Record<(typeof COUNT_OPTIONS)[number], unknown>>> {
  readonly sites?: unknown;
  readonly latency?: unknown;
  readonly dataDir?: unknown;
  readonly clusterKey?: unknown;
  readonly onAlarm?: unknown;
  readonly checkInvariants?: unknown;
  readonly checkColors?: unknown;
  readonly generators?: unknown;
}

/** What can be given. */
interface OptionNames {
  readonly options: Readonly<Record<string, true>>;
  readonly generators: Readonly<Record<string, true>>;
}

/** @throws CorrectableError `INVALID_ARGUMENT` naming what does not fit */
export function checkEmbeddedOptions(service: unknown, value: EmbeddedInput, names: OptionNames): void {
  requireService(service, CALL);
  checkOptionNames(value, { call: CALL }, names.options);
  checkSites(value.sites);
  checkLatency(value.latency, value.sites as readonly string[]);
  for (const field of COUNT_OPTIONS) checkCount(field, value[field]);
  checkClusterKey(value.clusterKey);
  const { dataDir, onAlarm } = value;
  for (const field of BOOLEAN_OPTIONS) checkBoolean(field, value[field]);
  if (dataDir !== undefined && !isNonEmptyString(dataDir))
    throw invalidOptionError('dataDir', 'must be the path of a directory, or left out');
  if (onAlarm !== undefined && typeof onAlarm !== 'function')
    throw invalidOptionError('onAlarm', 'must be a function, or none');
  checkGenerators(value.generators, names.generators);
}

function checkSites(sites: unknown): void {
  if (!Array.isArray(sites) || !sites.every(isNonEmptyString))
    throw invalidOptionError('sites', "must be a list of names, as ['ireland', 'frankfurt']");
  if (sites.length === 0) throw invalidOptionError('sites', 'must name at least one site');
  if (new Set(sites).size < sites.length)
    throw invalidOptionError('sites', `must not name a site twice: ${sites.join(', ')}`);
}

function checkLatency(latency: unknown, sites: readonly string[]): void {
  if (latency === undefined || latency === 'none' || latency === 'eu-us') return;
  if (!isRecord(latency))
    throw invalidOptionError(
      'latency',
      "must be 'none', 'eu-us' or round trips in milliseconds, as { 'ireland-frankfurt': 20 }",
    );
  const pairs = sites.flatMap((item, at) => sites.slice(at + 1).map((other) => [item, other] as const));
  for (const text of Object.keys(latency)) if (latency[text] !== undefined) checkPair(text, latency, pairs);
}

/**
 * Site names contain dashes too, so a text may name one pair from both ends, or two pairs. A text without a known pair
 * names unknown sites: a caller with a table of many sites passes all of it.
 */
function checkPair(
  text: string,
  latency: Readonly<Record<string, unknown>>,
  pairs: readonly (readonly [string, string])[],
): void {
  const [pair, another] = pairs.filter((item) => getPairNames(item).includes(text));
  if (pair === undefined) return;
  if (another !== undefined) {
    const both = `${pair.join(' and ')} as well as ${another.join(' and ')}`;
    throw invalidOptionError(
      `latency.${text}`,
      `names ${both}: give each from its other end, or name the sites otherwise`,
    );
  }
  const reverse = getPairNames(pair).find((item) => item !== text);
  if (reverse !== undefined && latency[reverse] !== undefined)
    throw invalidOptionError(`latency.${text}`, `is set as ${reverse} too: set it once`);
}

/** The names of a pair, from either end. */
function getPairNames([item, other]: readonly [string, string]): readonly [string, string] {
  return [`${item}-${other}`, `${other}-${item}`];
}

function checkBoolean(field: string, value: unknown): void {
  if (value !== undefined && typeof value !== 'boolean')
    throw invalidOptionError(field, 'must be true or false, or left out');
}

function checkGenerators(value: unknown, names: OptionNames['generators']): void {
  if (value === undefined) return;
  if (!isRecord(value)) throw invalidOptionError('generators', 'must be an object of bounds, or none');
  checkOptionNames(value, { call: '{ generators: { maxSteps: 100_000 } }', field: 'generators' }, names);
  for (const field of GENERATOR_COUNTS) checkCount(`generators.${field}`, value[field]);
  const { determinismCheckRate = 0 } = value;
  if (typeof determinismCheckRate === 'number' && determinismCheckRate >= 0 && determinismCheckRate <= 1) return;
  throw invalidOptionError(
    'generators.determinismCheckRate',
    `must be from 0 to 1, not ${String(determinismCheckRate)}`,
  );
}

function checkCount(field: string, value: unknown): void {
  if (value === undefined || (typeof value === 'number' && Number.isInteger(value) && value >= 1)) return;
  const input = typeof value === 'string' ? `the text '${value}'` : String(value);
  throw invalidOptionError(field, `must be an integer from 1 on, not ${input}`);
}

function checkClusterKey(key: unknown): void {
  if (key === undefined) return;
  const isKey = typeof key === 'string' || isBytes(key);
  if (isKey && Buffer.byteLength(key) >= MIN_KEY_BYTES) return;
  throw invalidOptionError('clusterKey', `must have at least ${MIN_KEY_BYTES} bytes, as a text or a Uint8Array`);
}

/** The error for an option `field` that is not as it should be. */
export function invalidOptionError(field: string, problem: string): CorrectableError {
  return new CorrectableError('INVALID_ARGUMENT', `${field} ${problem}.`, { field });
}
