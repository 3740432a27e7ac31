'use client';

/**
 * The components and hooks. The directive lets server components render them: their bundler then
 * loads this file for the page alone. Nothing here calls React when it loads, because without a
 * bundler it is loaded for server components too.
 */
export { CorrectablesProvider } from './client-context.ts';
export { Hydrate } from './hydrate.ts';
export { useCorrectable } from './use-correctable.ts';
export { useOperation } from './use-operation.ts';
export { usePrefetch } from './use-prefetch.ts';
