/** Reads the flag `--memory`. */
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
