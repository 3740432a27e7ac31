/** Reads the flags `--memory` and `--cache`. */
import {
  chooseMemoryBytes,
  MIN_MEMORY_BYTES,
  parseMemorySize,
} from '../../server/node/memory/memory-size.ts';
import { createUsageError, readText, type RawOptions } from '../options.ts';

/** Returns the bytes that the process may take: by the flag, or a share of what is there. */
export function parseMemory(options: RawOptions): number {
  if (options['memory'] === undefined) return chooseMemoryBytes();
  const text = readText(options, 'memory');
  const bytes = parseMemorySize(text);
  if (bytes === undefined || bytes < MIN_MEMORY_BYTES)
    throw createUsageError('memory', `takes a size from 256m on, as 512m or 4g, not "${text}"`);
  return bytes;
}

/** Returns the bytes for rows that are on the disk too; `undefined` without the flag. */
export function parseCache(options: RawOptions): number | undefined {
  if (options['cache'] === undefined) return undefined;
  const text = readText(options, 'cache');
  const bytes = parseMemorySize(text);
  if (bytes === undefined)
    throw createUsageError('cache', `takes a size, as 64m or 1g, not "${text}"`);
  return bytes;
}
