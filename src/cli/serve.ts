/** `correctables serve`: loads a service and serves it until interrupted. */
import { resolve } from 'node:path';
import { pino, destination } from 'pino';
import { IDLE_POLL_US_MAX } from '../server/gateway/idle-poll.ts';
import { serve } from '../server/main.ts';
import type { Wan } from '../server/wan.ts';
import { exposureOf, linesOf } from './exposure.ts';
import { loadService } from './load-service.ts';
import { names, text, usageError, wholeNumber, type Raw } from './options.ts';

const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
const STDERR = 2;

/**
 * Serves until SIGINT or SIGTERM, then lets what is under way end.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` naming the flag at fault
 */
export async function serveCommand(options: Raw): Promise<void> {
  const sites = names(options, 'sites');
  const redLeader = options['redLeader'] === undefined ? sites[0] : text(options, 'redLeader');
  if (!sites.includes(redLeader))
    throw usageError('red-leader', `takes one of ${sites.join(', ')}, not "${redLeader}"`);
  const level = LOG_LEVELS.find((name) => name === options['logLevel']);
  if (level === undefined) throw usageError('log-level', `takes one of ${LOG_LEVELS.join(', ')}`);
  const dataDir = dataDirOf(options);
  const host = text(options, 'host');
  const origins = options['origins'] === undefined ? [] : text(options, 'origins').split(',');
  const logger = pino({ level, base: null }, destination(STDERR));
  const server = await serve({
    dataDir,
    onAlarm: ({ kind, message }) => logger.warn({ alarm: kind }, message),
    service: await loadService(text(options, 'service')),
    sites,
    redLeader,
    wan: wanOf(text(options, 'wan')),
    host,
    port: wholeNumber(options, 'port', { min: 0, max: 65_535 }),
    origins,
    idlePollUs: wholeNumber(options, 'idlePollUs', { min: 0, max: IDLE_POLL_US_MAX }),
    allowUnauthenticated: options['allowUnauthenticated'] === true,
    logger,
  });
  const exposure = exposureOf(server, { host, redLeader, origins, dataDir });
  for (const line of options['json'] === true ? [JSON.stringify(exposure)] : linesOf(exposure)) console.log(line);
  await untilInterrupted();
  await server.close();
}

/** The absolute path of the data folder; `undefined` for none. */
function dataDirOf(options: Raw): string | undefined {
  return options['ephemeral'] === true ? undefined : resolve(text(options, 'data'));
}

function wanOf(given: string): Wan {
  if (given === 'none' || given === 'paper') return given;
  const roundTripsMs: Record<string, number> = {};
  for (const pair of given.split(',')) {
    const match = /^([a-z][a-z0-9-]*-[a-z][a-z0-9-]*)=(\d+(?:\.\d+)?)$/.exec(pair.trim());
    if (match === null) throw usageError('wan', `takes none, paper, or round trips in ms as irl-frk=20, not "${pair}"`);
    roundTripsMs[match[1] as string] = Number(match[2]);
  }
  return roundTripsMs;
}

function untilInterrupted(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
}
