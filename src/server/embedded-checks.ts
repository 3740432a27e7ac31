/** Checks of the options of a deployment: each names its field and says what to give. */
import { CorrectableError } from '../correctable/errors.ts';
import { checkNamed, isName, isRecord } from '../correctable/given.ts';
import { isBytes } from '../values/kinds.ts';
import { requireService } from './service/service.ts';
import { KEY_BYTES_MIN } from './storage/folder/data-folder.ts';

const COUNTS = ['attemptsMax', 'inFlightMax', 'redInFlightMax', 'siteWaitMs', 'maxClockSkewMs', 'backlogMax'] as const;
const SWITCHES = ['checkInvariants', 'checkLabels'] as const;
const GENERATOR_COUNTS = ['stepsMax', 'effectsMax', 'timeMaxMs'] as const;

const CALL = "createEmbedded(service, { sites: ['irl', 'frk'] })";

/** What may have been given. */
interface Given extends Readonly<Partial<Record<(typeof COUNTS)[number], unknown>>> {
  readonly sites?: unknown;
  readonly wan?: unknown;
  readonly dataDir?: unknown;
  readonly clusterKey?: unknown;
  readonly onAlarm?: unknown;
  readonly checkInvariants?: unknown;
  readonly checkLabels?: unknown;
  readonly generators?: unknown;
}

/** What can be given. */
interface Names {
  readonly options: Readonly<Record<string, true>>;
  readonly generators: Readonly<Record<string, true>>;
}

/** @throws CorrectableError `INVALID_ARGUMENT` naming what does not fit */
export function checkEmbedded(service: unknown, given: Given, names: Names): void {
  requireService(service, CALL);
  checkNamed(given, { call: CALL }, names.options);
  checkSites(given.sites);
  checkWan(given.wan, given.sites as readonly string[]);
  for (const field of COUNTS) checkCount(field, given[field]);
  checkKey(given.clusterKey);
  const { dataDir, onAlarm } = given;
  for (const field of SWITCHES) checkSwitch(field, given[field]);
  if (dataDir !== undefined && !isName(dataDir)) throw invalid('dataDir', 'must be the path of a folder, or left out');
  if (onAlarm !== undefined && typeof onAlarm !== 'function') throw invalid('onAlarm', 'must be a function, or none');
  checkGenerators(given.generators, names.generators);
}

function checkSites(sites: unknown): void {
  if (!Array.isArray(sites) || !sites.every(isName))
    throw invalid('sites', "must be a list of names, as ['irl', 'frk']");
  if (sites.length === 0) throw invalid('sites', 'must name at least one site');
  if (new Set(sites).size < sites.length) throw invalid('sites', `must not name a site twice: ${sites.join(', ')}`);
}

function checkWan(wan: unknown, sites: readonly string[]): void {
  if (wan === undefined || wan === 'none' || wan === 'paper') return;
  if (!isRecord(wan))
    throw invalid('wan', "must be 'none', 'paper' or round trips in milliseconds, as { 'irl-frk': 20 }");
  const pairs = sites.flatMap((one, at) => sites.slice(at + 1).map((other) => [one, other] as const));
  for (const text of Object.keys(wan)) if (wan[text] !== undefined) checkPair(text, wan, pairs);
}

/**
 * Names have dashes too: a text may name a pair from both its ends, and two pairs. One that names none is of sites that are
 * not there: whoever has a table of many sites gives all of it.
 */
function checkPair(
  text: string,
  wan: Readonly<Record<string, unknown>>,
  pairs: readonly (readonly [string, string])[],
): void {
  const [pair, another] = pairs.filter((each) => textsOf(each).includes(text));
  if (pair === undefined) return;
  if (another !== undefined) {
    const both = `${pair.join(' and ')} as well as ${another.join(' and ')}`;
    throw invalid(`wan.${text}`, `names ${both}: give each from its other end, or name the sites otherwise`);
  }
  const reverse = textsOf(pair).find((each) => each !== text);
  if (reverse !== undefined && wan[reverse] !== undefined)
    throw invalid(`wan.${text}`, `is given as ${reverse} too: give it once`);
}

/** The names of a pair, from either end. */
function textsOf([one, other]: readonly [string, string]): readonly [string, string] {
  return [`${one}-${other}`, `${other}-${one}`];
}

function checkSwitch(field: string, given: unknown): void {
  if (given !== undefined && typeof given !== 'boolean') throw invalid(field, 'must be true or false, or left out');
}

function checkGenerators(given: unknown, names: Names['generators']): void {
  if (given === undefined) return;
  if (!isRecord(given)) throw invalid('generators', 'must be an object of bounds, or none');
  checkNamed(given, { call: '{ generators: { stepsMax: 100_000 } }', field: 'generators' }, names);
  for (const field of GENERATOR_COUNTS) checkCount(`generators.${field}`, given[field]);
  const { repeatedShare = 0 } = given;
  if (typeof repeatedShare === 'number' && repeatedShare >= 0 && repeatedShare <= 1) return;
  throw invalid('generators.repeatedShare', `must be from 0 to 1, not ${String(repeatedShare)}`);
}

function checkCount(field: string, value: unknown): void {
  if (value === undefined || (typeof value === 'number' && Number.isInteger(value) && value >= 1)) return;
  const given = typeof value === 'string' ? `the text '${value}'` : String(value);
  throw invalid(field, `must be a whole number from 1 on, not ${given}`);
}

function checkKey(key: unknown): void {
  if (key === undefined) return;
  const isKey = typeof key === 'string' || isBytes(key);
  if (isKey && Buffer.byteLength(key) >= KEY_BYTES_MIN) return;
  throw invalid('clusterKey', `must have at least ${KEY_BYTES_MIN} bytes, as a text or a Uint8Array`);
}

/** The error for an option `field` that is not as it should be. */
export function invalid(field: string, problem: string): CorrectableError {
  return new CorrectableError('INVALID_ARGUMENT', `${field} ${problem}.`, { field });
}
