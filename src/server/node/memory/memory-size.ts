/**
 * How large the heap of a process may be, and how much of it its sites may use. V8 ends a thread
 * whose heap is full, so the sites have to stop before: what they count themselves is bounded by a
 * share of the heap, and the rest is for garbage, for a checkpoint, and for the entries that a
 * start reads.
 */
import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { resourceLimits, type ResourceLimits } from 'node:worker_threads';

const MIB = 2 ** 20;
/**
 * The size of a semi-space, as of `--max-semi-space-size`. The default of Node 20 and 22 is 16 MiB.
 */
const SEMI_SPACE_BYTES = 64 * MIB;
/** The young generation has two semi-spaces, and room for large objects as large as one. */
const SEMI_SPACES = 3;
const DEFAULT_YOUNG_BYTES = SEMI_SPACES * 16 * MIB;
/** The memory from which the young generation is larger than the default of V8. */
const MIN_BYTES_FOR_YOUNG = 1024 * MIB;

/** The share of a container, or of a machine where other programs run, that a process takes. */
const CONTAINER_SHARE = 0.8;
const MACHINE_SHARE = 0.5;

/** The share of the memory without the young generation that is for objects. Buffers need some. */
const HEAP_SHARE = 0.92;
/** What the process needs beside its heap. */
const PROCESS_BYTES = 64 * MIB;

/** What the program itself takes of the heap. */
const PROGRAM_BYTES = 32 * MIB;
/** The share of the remaining heap that sites may use. */
const SITE_SHARE = 0.75;

/** The least memory with which a server starts. */
export const MIN_MEMORY_BYTES = 256 * MIB;

/** Returns the memory that a process takes by default: a share of the container or machine. */
export function chooseMemoryBytes(
  constrainedBytes: number = process.constrainedMemory(),
  machineBytes: number = totalmem(),
): number {
  // Without a limit this is 0, or a number that is larger than any machine.
  const isConstrained = constrainedBytes > 0 && constrainedBytes < machineBytes;
  const bytes = isConstrained ? CONTAINER_SHARE * constrainedBytes : MACHINE_SHARE * machineBytes;
  return Math.max(MIN_MEMORY_BYTES, Math.floor(bytes));
}

/** Returns the limits of the thread of a server that may take this much memory. */
export function computeResourceLimits(memoryBytes: number): ResourceLimits {
  const isLarge = memoryBytes >= MIN_BYTES_FOR_YOUNG;
  const youngBytes = isLarge ? SEMI_SPACES * SEMI_SPACE_BYTES : DEFAULT_YOUNG_BYTES;
  const oldBytes = HEAP_SHARE * (memoryBytes - youngBytes) - PROCESS_BYTES;
  return {
    maxOldGenerationSizeMb: Math.floor(oldBytes / MIB),
    ...(isLarge && { maxYoungGenerationSizeMb: youngBytes / MIB }),
  };
}

/**
 * Returns how many bytes the sites of this thread may use together: a share of its heap, however
 * that was set.
 */
export function getSiteMemoryBytes(oldBytes: number = getOldGenerationBytes()): number {
  return Math.floor(SITE_SHARE * Math.max(0, oldBytes - PROGRAM_BYTES));
}

/** The share of the heap that is for clients, and its bounds for one site. */
const CLIENT_SHARE = 1 / 8;
const MIN_CLIENT_BYTES = 16 * MIB;
const MAX_CLIENT_BYTES = 512 * MIB;

/** Returns how many bytes a site's gateway may keep for clients by default. */
export function getClientMemoryBytes(
  siteCount: number,
  oldBytes: number = getOldGenerationBytes(),
): number {
  const share = Math.floor((CLIENT_SHARE * oldBytes) / siteCount);
  return Math.min(MAX_CLIENT_BYTES, Math.max(MIN_CLIENT_BYTES, share));
}

function getOldGenerationBytes(): number {
  const { maxYoungGenerationSizeMb: youngMb } = resourceLimits;
  const youngBytes = youngMb === undefined ? DEFAULT_YOUNG_BYTES : youngMb * MIB;
  return getHeapStatistics().heap_size_limit - youngBytes;
}

/** The share of the memory that sites use after a start as suggested. */
const SUGGESTED_SHARE = 0.7;

/**
 * Returns what to start a server with whose sites need this much together: the value of `--memory`,
 * and the megabytes of `--max-old-space-size` for a program.
 */
export function suggestMemory(siteBytes: number): {
  readonly option: string;
  readonly heap: number;
} {
  const oldBytes = siteBytes / SUGGESTED_SHARE / SITE_SHARE + PROGRAM_BYTES;
  const bytes = (oldBytes + PROCESS_BYTES) / HEAP_SHARE + SEMI_SPACES * SEMI_SPACE_BYTES;
  const megabytes = Math.ceil(bytes / MIB / 256) * 256;
  const option = megabytes % 1024 === 0 ? `${megabytes / 1024}g` : `${megabytes}m`;
  return { option, heap: Math.ceil(oldBytes / MIB) };
}

export function formatMegabytes(bytes: number): string {
  return `${Math.ceil(bytes / MIB)} MiB`;
}

const SIZE = /^(\d+(?:\.\d+)?)(m|g)$/i;

/** Returns the bytes of a size such as `512m` or `4g`. It is `undefined` if it is none. */
export function parseMemorySize(text: string): number | undefined {
  const [, number, unit] = SIZE.exec(text.trim()) ?? [];
  if (number === undefined) return undefined;
  return Math.floor(Number(number) * (unit?.toLowerCase() === 'g' ? 1024 * MIB : MIB));
}
