/** A replicated store in this process: for demos, tests and learning. Browser-safe. */
export { memory } from './memory.ts';
export type { MemoryBinding, MemoryLevels, MemoryOptions } from './memory.ts';
export { memoryStore } from './memory-store.ts';
export type { MemoryStore } from './memory-store.ts';
