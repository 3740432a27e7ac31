/** Bounds of the gateways, by a flag of the command line. */
import { isCorrectableError } from '../correctable/errors.ts';
import { limitsFrom, type GatewayLimits } from '../server/gateway/limits/limits.ts';
import { text, usageError, type Raw } from './options.ts';

const UNITS: Readonly<Record<string, number>> = { '': 1, KiB: 1 << 10, MiB: 1 << 20, GiB: 1 << 30 };
const PAIR = /^([A-Za-z]+)=(?:(none)|(\d+(?:\.\d+)?)(KiB|MiB|GiB|))$/;

/**
 * What `--limits` says, pairs as `repliesBytesMax=64MiB,connectionsMax=1000,clientIdleMs=none`, over what was `given`
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
      throw usageError('limits', `takes pairs as repliesBytesMax=64MiB,connectionsMax=1000, or =none, not "${pair}"`);
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
