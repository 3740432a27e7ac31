/** `correctables serve`: loads a service and serves it until interrupted. */
import fs from 'node:fs';
import { resolve } from 'node:path';
import { isCorrectableError, type CorrectableError } from '../correctable/errors.ts';
import { IDLE_POLL_US_MAX } from '../server/gateway/connection/idle-poll.ts';
import type { RunningServer, ServeOptions } from '../server/serve.ts';
import type { Wan } from '../server/site/wan.ts';
import type { Arbitraries } from '../server/label/values/arguments.ts';
import { isInDevelopment } from '../server/site/development.ts';
import type { Command, Flag } from './command.ts';
import { loadModule, serviceIn, isService } from './load-module.ts';
import { names, origins as originsOf, text, usageError, wholeNumber, type Raw } from './options.ts';
import { divertModules, print } from './print.ts';
import { endModules, listenForModules, untilAskedToEnd } from './own-thread.ts';
import { limitsFrom, type GatewayLimits } from '../server/gateway/limits/limits.ts';
import type { Authenticate, Authorise } from '../server/gateway/host/host.ts';

/** Where data is kept unless it is said. */
const DATA_DIR = 'correctables-data';

const SERVE_FLAGS: readonly Flag[] = [
  ['--service <module>', 'The service: a module that exports `service` (or a default) made by defineService'],
  ['--sites <names>', 'The sites, separated by commas', 'irl,frk,vrg'],
  ['--red-leader <site>', 'The site that orders red operations (default: the first)'],
  ['--attempts-max <count>', 'Executions of a red update that others keep overtaking, before CONFLICT', 10],
  ['--wan <preset>', 'Delays between the sites: none, paper (for irl, frk, vrg), or pairs as irl-frk=20,…', 'none'],
  ['--data <dir>', `Folder for what must not be lost, made if there is none (default: ${DATA_DIR})`],
  ['--ephemeral', 'Keep everything in memory: it is gone with the process'],
  ['--host <address>', 'Address to listen on', '127.0.0.1'],
  ['--port <n>', 'Port to listen on; 0 for any free one', 7420],
  ['--origins <list>', 'Origins of web pages that may connect, separated by commas'],
  ['--auth <module>', 'Who may connect and do what: exports `authenticate`, and `authorise` and `limits` if you like'],
  ['--auth-keys <keys>', 'Let in who has a signed token (JWT): a file with a JWK set, or its https address'],
  ['--auth-issuer <name>', 'Who must have made the token (`iss`)'],
  ['--auth-audience <name>', 'For whom it must be (`aud`)'],
  ['--limits <pairs>', 'Bounds of each site, as memoryBytesMax=1GiB,connectionsMax=1000; none for none'],
  ['--allow-unauthenticated', 'Listen also where others can reach it, although everybody is let in'],
  ['--idle-poll-us <us>', 'Stay awake so long after an answer: shorter round trips for processor time', 0],
  [
    '--check-invariants <when>',
    'Alarms where rows break what the service says of them: on or off (default: on unless NODE_ENV is production)',
  ],
  ['--force', 'Serve a service though a shadow operation of it is declared blue and must not be'],
  ['--log-level <level>', 'debug, info, warn, error or silent', 'info'],
  ['--json', 'Print what is laid open as one JSON line: addresses, who may connect, data, HTTP'],
];

const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
const STDERR = 2;
/** More than anybody would wait for. */
const ATTEMPTS_MAX = 1_000_000;

/** Why nothing can listen there, by what the system says. */
const CANNOT_LISTEN: Readonly<Record<string, { readonly flag: 'host' | 'port'; readonly problem: string }>> = {
  EADDRINUSE: { flag: 'port', problem: 'where another program listens: give another, or 0 for any free one' },
  EACCES: { flag: 'port', problem: 'where this user may not listen: give one from 1024 on, or 0 for any free one' },
  EADDRNOTAVAIL: { flag: 'host', problem: 'which is no address of this machine: give one that it has' },
  EINVAL: {
    flag: 'host',
    problem: 'where nothing can listen: give an address of this machine, a link-local one as fe80::1%eth0',
  },
  ENOTFOUND: { flag: 'host', problem: 'which is no address, and no name of one' },
  EAI_AGAIN: { flag: 'host', problem: 'which is no address, and no name server says of which one it is the name' },
};

export const SERVE: Command = {
  name: 'serve',
  what: 'Serve a service from several sites in this process, over websockets',
  flags: SERVE_FLAGS,
  example: 'correctables serve --service shop.js --sites irl,frk,vrg --red-leader irl --wan paper',
  isInOwnThread: true,
  run: serveUntilAskedToEnd,
};

/** Serves until SIGINT or SIGTERM, then lets what is under way end. */
async function serveUntilAskedToEnd(options: Raw): Promise<void> {
  const sites = names(options, 'sites');
  const redLeader = options['redLeader'] === undefined ? sites[0] : text(options, 'redLeader');
  if (!sites.includes(redLeader))
    throw usageError('red-leader', `takes one of ${sites.join(', ')}, not "${redLeader}"`);
  const level = LOG_LEVELS.find((name) => name === options['logLevel']);
  if (level === undefined) throw usageError('log-level', `takes one of ${LOG_LEVELS.join(', ')}`);
  const dataDir = dataDirOf(options);
  const host = text(options, 'host');
  const origins = originsOf(options, 'origins');
  const path = text(options, 'service');
  const flags = {
    dataDir,
    sites,
    redLeader,
    ...checkInvariantsOf(options),
    attemptsMax: wholeNumber(options, 'attemptsMax', { min: 1, max: ATTEMPTS_MAX }),
    wan: wanOf(text(options, 'wan'), sites),
    host,
    port: wholeNumber(options, 'port', { min: 0, max: 65_535 }),
    origins,
    idlePollUs: wholeNumber(options, 'idlePollUs', { min: 0, max: IDLE_POLL_US_MAX }),
    allowUnauthenticated: options['allowUnauthenticated'] === true,
  };
  const asJson = options['json'] === true;
  const giveBack = asJson ? divertModules() : () => {};
  listenForModules();
  const auth = await authOf(options);
  const module = await loadModule('service', path);
  const service = serviceIn(module, 'service', path);
  const limits = limitsOf(options, auth.limits);
  const { exposureOf, labelFirst, linesOf, pino, serve } = await loadServing();
  const logger = pino({ level, base: null }, linesTo(STDERR));
  const warn = (message: string): void => logger.warn(message);
  const starting = {
    service,
    arbitraries: module['arbitraries'] as Arbitraries | undefined,
    words: { given: '--service', force: '--force serves it all the same' },
  };
  const looks = options['force'] !== true && isInDevelopment();
  if (looks) labelFirst(starting, warn);
  const server = await servedBy(serve, {
    ...flags,
    ...auth,
    limits,
    onAlarm: ({ kind, message }) => logger.warn({ alarm: kind }, message),
    service,
    // Looked at above, as its module says more than the service.
    checkLabels: false,
    logger,
  });
  // Whoever has read the lines may end it.
  const interrupted = untilAskedToEnd();
  const exposure = exposureOf(server, { host, redLeader, origins, dataDir, asks: auth.authenticate !== undefined });
  const printed = print(asJson ? [JSON.stringify(exposure)] : linesOf(exposure));
  giveBack();
  // It serves all the same: whoever asks it to end must find it listening.
  await printed.catch((error: Error) => console.error(`correctables: ${error.message}`));
  const signal = await interrupted;
  await server.close();
  endModules(signal);
}

/** What serving takes: loaded once flags and modules are right, and not at all in the thread that starts this one. */
async function loadServing() {
  const [{ pino }, { serve }, { labelFirst }, { exposureOf, linesOf }] = await Promise.all([
    import('pino'),
    import('../server/serve.ts'),
    import('../server/label-first.ts'),
    import('./exposure.ts'),
  ]);
  return { pino, serve, labelFirst, exposureOf, linesOf };
}

/** Serves; a port, sites and an address that it refuses are told in terms of the flags. */
async function servedBy(
  serve: (options: ServeOptions) => Promise<RunningServer>,
  options: ServeOptions & { readonly host: string },
): Promise<RunningServer> {
  try {
    return await serve(options);
  } catch (error) {
    const cannot = error instanceof Error && 'code' in error && CANNOT_LISTEN[String(error.code)];
    if (cannot) throw usageError(cannot.flag, `is ${options[cannot.flag]}, ${cannot.problem}`);
    if (!isCorrectableError(error, 'INVALID_ARGUMENT')) throw error;
    if (error.field?.startsWith('wan.') === true) throw usageError('wan', wanProblem(options, error));
    if (error.field !== 'host') throw error;
    const problem = `is ${options.host}, which is reachable by others, and everybody would be let in`;
    throw usageError(
      'host',
      `${problem}: name an address of this machine alone, say who may connect (--auth, --auth-keys), or add --allow-unauthenticated`,
    );
  }
}

/** What is wrong with the round trip of a pair, which the error names. */
function wanProblem({ wan }: ServeOptions, { field = '', message }: CorrectableError): string {
  const pair = field.slice('wan.'.length);
  const isGiven = typeof wan === 'object' && Object.hasOwn(wan, pair);
  if (isGiven) return `gives ${pair}, which ${message.slice(`${field} `.length, -'.'.length)}`;
  return `${wan === 'paper' ? 'paper is for the sites irl, frk, vrg, and ' : ''}has no round trip for ${pair}`;
}

/** The absolute path of the data folder; `undefined` for none. */
function dataDirOf(options: Raw): string | undefined {
  if (options['ephemeral'] !== true) return resolve(options['data'] === undefined ? DATA_DIR : text(options, 'data'));
  if (options['data'] === undefined) return undefined;
  throw usageError('ephemeral', 'keeps nothing, and --data names a folder to keep it in: give one of them');
}

/** Whether invariants are checked, where it is said. */
function checkInvariantsOf({ checkInvariants: given }: Raw): { readonly checkInvariants?: boolean } {
  if (given === undefined) return {};
  if (given === 'on' || given === 'off') return { checkInvariants: given === 'on' };
  throw usageError('check-invariants', `takes on or off, not "${String(given)}"`);
}

function wanOf(given: string, sites: readonly string[]): Wan {
  if (given === 'none' || given === 'paper') return given;
  const roundTripsMs: Record<string, number> = {};
  for (const pair of given.split(',')) {
    const match = /^([a-z][a-z0-9-]*-[a-z][a-z0-9-]*)=(\d+(?:\.\d+)?)$/.exec(pair.trim());
    if (match === null) throw usageError('wan', `takes none, paper, or round trips in ms as irl-frk=20, not "${pair}"`);
    const name = match[1] as string;
    if (Object.hasOwn(roundTripsMs, name)) throw usageError('wan', `names ${name} twice`);
    // Typed by hand, it is a mistake; a table in a program may well have more.
    const isPair = sites.some((one) => sites.some((other) => one !== other && name === `${one}-${other}`));
    if (!isPair) throw usageError('wan', `gives ${name}, which is no pair of the sites ${sites.join(', ')}`);
    roundTripsMs[name] = Number(match[2]);
  }
  return roundTripsMs;
}

const UNITS: Readonly<Record<string, number>> = { '': 1, KiB: 1 << 10, MiB: 1 << 20, GiB: 1 << 30 };
const PAIR = /^([A-Za-z]+)=(?:(none)|(\d+(?:\.\d+)?)(KiB|MiB|GiB|))$/;

/**
 * What `--limits` says, pairs as `memoryBytesMax=1GiB,connectionsMax=1000,heartbeatMs=none`, over what was `given`
 * otherwise.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` naming the flag, and the limit at fault
 */
export function limitsOf(options: Raw, given?: Partial<GatewayLimits>): Partial<GatewayLimits> | undefined {
  if (options['limits'] === undefined) return given;
  const limits: Record<string, number> = {};
  for (const pair of text(options, 'limits').split(',')) {
    const [, name, none, number, unit = ''] = PAIR.exec(pair.trim()) ?? [];
    if (name === undefined) {
      throw usageError('limits', `takes pairs as memoryBytesMax=1GiB,connectionsMax=1000, or =none, not "${pair}"`);
    }
    if (Object.hasOwn(limits, name)) throw usageError('limits', `names ${name} twice`);
    if (unit !== '' && !name.includes('Bytes')) {
      throw usageError('limits', `gives ${name} in ${unit}, and that is no number of bytes`);
    }
    limits[name] = none === undefined ? Number(number) * (UNITS[unit] as number) : Infinity;
  }
  try {
    limitsFrom(limits);
  } catch (error) {
    if (!isCorrectableError(error, 'INVALID_ARGUMENT')) throw error;
    throw usageError('limits', `does not fit: ${error.message}`);
  }
  return { ...given, ...limits };
}

/**
 * Takes lines for a file that is open. A line that cannot be written, as on a full disk, is dropped: nobody waits for it,
 * and nothing ends by it. The log may well lie on the disk whose lack of room it tells of.
 */
export function linesTo(descriptor: number): { write(line: string): void } {
  let isTorn = false;
  return {
    write(line) {
      const bytes = Buffer.from(isTorn ? `\n${line}` : line);
      let written = 0;
      try {
        while (written < bytes.length) written += fs.writeSync(descriptor, bytes, written);
        isTorn = false;
      } catch {
        // Whoever reads the log finds the next one on a line of its own.
        isTorn ||= written > 0;
      }
    },
  };
}

/** What `serve` is given of it. */
interface Auth {
  readonly authenticate?: Authenticate | undefined;
  readonly authorise?: Authorise | undefined;
  readonly limits?: Partial<GatewayLimits> | undefined;
}

const FUNCTIONS = ['authenticate', 'authorise'] as const;
const EXPORTS: readonly string[] = [...FUNCTIONS, 'limits'];

/**
 * What `--auth` and `--auth-keys` say. A module may leave `authenticate` to the keys, and say who may do what.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` naming the flag at fault
 */
export async function authOf(options: Raw): Promise<Auth> {
  const given = options['auth'] === undefined ? {} : await moduleAuth(text(options, 'auth'));
  if (options['authKeys'] === undefined) {
    for (const flag of ['authIssuer', 'authAudience']) {
      if (options[flag] !== undefined) throw usageError(flag, 'is about signed tokens: give --auth-keys as well');
    }
    if (options['auth'] === undefined || given.authenticate !== undefined) return given;
    throw usageError('auth', 'names a module that exports no `authenticate`: export one, or give --auth-keys');
  }
  if (given.authenticate !== undefined) {
    throw usageError(
      'auth-keys',
      'checks tokens, and so does `authenticate` of the module of --auth: give one of them',
    );
  }
  const [issuer, audience] = ['authIssuer', 'authAudience'].map((flag) =>
    options[flag] === undefined ? undefined : text(options, flag),
  );
  const { signedTokens } = await import('./signed-tokens.ts');
  return { ...given, authenticate: await signedTokens(text(options, 'authKeys'), { issuer, audience }) };
}

async function moduleAuth(path: string): Promise<Auth> {
  const module = await loadModule('auth', path);
  refuseMisspelled(module, path);
  for (const name of FUNCTIONS) {
    if (module[name] === undefined || typeof module[name] === 'function') continue;
    throw usageError('auth', `names ${path}, whose \`${name}\` is no function`);
  }
  const { authenticate, authorise, limits } = module as Auth;
  return { authenticate, authorise, limits };
}

/** An `authorize` that is ignored would let in clients that its author wants to refuse. Other exports are helpers. */
function refuseMisspelled(module: Readonly<Record<string, unknown>>, path: string): void {
  const whole = isService(module['default']) ? undefined : module['default'];
  const isRepeated =
    whole === undefined ||
    (typeof whole === 'object' && Object.entries(whole ?? {}).every(([name, value]) => module[name] === value));
  if (!isRepeated) {
    const problem = `whose default export is not used: export ${EXPORTS.join(', ')} by these names`;
    throw usageError('auth', `names ${path}, ${problem}`);
  }
  for (const name of Object.keys(module).filter((each) => !EXPORTS.includes(each))) {
    const meant = closestName(name, EXPORTS);
    if (meant === undefined) continue;
    throw usageError('auth', `names ${path}, which exports \`${name}\`. Did you mean \`${meant}\`? Rename it`);
  }
}

/** More edits than this are another word. */
const MAX_EDITS = 3;

/** Returns the name of `names` that `typed` most resembles; `undefined` if none is within three edits. */
export function closestName(typed: string, names: readonly string[]): string | undefined {
  const distances = names.map((name) => ({ name, edits: editDistance(typed.toLowerCase(), name.toLowerCase()) }));
  const [closest] = distances.sort((one, other) => one.edits - other.edits);
  // Short names resemble everything.
  const max = Math.min(MAX_EDITS, Math.floor(typed.length / 2));
  return closest !== undefined && closest.edits <= max ? closest.name : undefined;
}

/** The Levenshtein distance. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...from].entries()) {
    const next = [i + 1];
    for (let j = 0; j < to.length; j++) {
      const replaced = (row[j] as number) + (letter === to[j] ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] as number) + 1, (next[j] as number) + 1));
    }
    row = next;
  }
  return row[to.length] as number;
}
