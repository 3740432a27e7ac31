/** Reads the flag `--limits`. */
import { isCorrectableError } from '../../correctable/errors.ts';
import { fillLimits, type GatewayLimits } from '../../server/gateway/limits/limits.ts';
import { createUsageError, readText, type RawOptions } from '../options.ts';

const UNITS: Readonly<Record<string, number>> = { '': 1, KiB: 1 << 10, MiB: 1 << 20, GiB: 1 << 30 };
const PAIR = /^([A-Za-z]+)=(?:(none)|(\d+(?:\.\d+)?)(KiB|MiB|GiB|))$/;

/**
 * Reads `--limits`, which has pairs such as `maxMemoryBytes=1GiB,heartbeatIntervalMs=none`. They
 * replace those in the limits `value` of a module.
 */
export function parseLimits(
  options: RawOptions,
  value?: Partial<GatewayLimits>,
): Partial<GatewayLimits> | undefined {
  if (options['limits'] === undefined) return value;
  const limits: Record<string, number> = {};
  for (const pair of readText(options, 'limits').split(',')) {
    const [, name, none, number, unit = ''] = PAIR.exec(pair.trim()) ?? [];
    if (name === undefined) {
      throw createUsageError(
        'limits',
        `takes pairs as maxMemoryBytes=1GiB,maxConnections=1000, or =none, not "${pair}"`,
      );
    }
    if (Object.hasOwn(limits, name)) throw createUsageError('limits', `names ${name} twice`);
    if (unit !== '' && !name.includes('Bytes')) {
      throw createUsageError('limits', `gives ${name} in ${unit}, and that is no number of bytes`);
    }
    limits[name] = none === undefined ? Number(number) * (UNITS[unit] as number) : Infinity;
  }
  try {
    fillLimits(limits);
  } catch (error) {
    if (!isCorrectableError(error, 'INVALID_ARGUMENT')) throw error;
    throw createUsageError('limits', `does not fit: ${error.message}`);
  }
  return { ...value, ...limits };
}
